/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig's books against the library's: ledger, counters, lane bounds and the mirror. */
#include "rig.h"

#include "dispatcher.h"
#include "test.h"

struct weir_dispatcher_counters
rig_counters(const struct rig *rig, uint32_t dispatcher)
{
	struct weir_dispatcher_counters counters;

	weir_dispatcher_counters(rig->dispatcher[dispatcher].dispatcher, &counters);
	return counters;
}

struct weir_worker_counters
rig_worker_counters(const struct rig *rig, uint32_t dispatcher, weir_worker_id id)
{
	struct weir_worker_counters counters;

	assert_int_equal(weir_dispatcher_worker_counters(
				 rig->dispatcher[dispatcher].dispatcher, id, &counters),
		0);
	return counters;
}

struct weir_ledger
rig_ledger(const struct rig *rig)
{
	struct weir_ledger ledger = { 0 };

	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		weir_ledger_add(&ledger, rig->dispatcher[i].dispatcher);
	return ledger;
}

uint64_t
rig_dropped(const struct rig *rig, enum weir_reason reason)
{
	return rig_ledger(rig).dropped[reason];
}

/* A look at every bucket in use costs more than the calls that it checks. */
#define PIN_CHECKS_PER_FULL 16

/* M7: the bound is on what is queued. The dispatcher's view of the lane follows from its state. */
static void
claim_check(const struct weir_dispatcher *d, weir_worker_id id)
{
	const struct lane_producer *lane = &d->lane[id];
	const struct claim_lane *claim = &d->claim[id];
	const uint32_t queued = claim_queued(claim, lane);
	const uint32_t room = claim->capacity > queued ? claim->capacity - queued : 0;
	struct lane_producer view = *lane;

	assert_true(queued <= d->pool->config.lane_size);
	assert_true(queued + claim_in_process(claim) <= claim->n_taken_slots);
	assert_int_equal(lane->in_process, claim_in_process(claim));
	assert_int_equal(lane_outstanding(lane), queued + claim_in_process(claim));
	if (claim_in_process(claim) <= WEIR_BURST_MAX)
		assert_int_equal(lane_room(lane), room);
	claim_view(claim, &view);
	assert_memory_equal(&view, lane, sizeof(view));
}

static void
lane_check(const struct weir_dispatcher *d, weir_worker_id id)
{
	const struct lane_producer *lane = &d->lane[id];
	const uint16_t position = d->snapshot->position[id];

	if (d->reclaim.worker == id) {
		assert_int_equal(lane_outstanding(lane), d->reclaim.end - d->reclaim.first);
	} else if (d->claim) {
		claim_check(d, id);
	} else {
		assert_true(lane_occupied(lane) <= d->pool->config.lane_size);
		/* What a worker gives back is brought home in the same call: pins rest on it. */
		assert_int_equal(lane->completed, lane->harvested);
	}
	if (lane_outstanding(lane) > 0)
		assert_true(bitset_has(&d->outstanding, id));
	/* Picks are counted in the mirror only where some strategy reads it. */
	if (position == WEIR_WORKER_NONE || !d->counts_picks)
		return;
	assert_int_equal(d->depth[position], lane_depth(d, lane));
	assert_int_equal(d->room[position], lane_allowance(d, lane));
}

/* Packets that were given to strategies, or lost by rotation: each routed once. */
static void
routed_check(const struct rig_dispatcher *d, const struct weir_dispatcher_counters *counters)
{
	const uint64_t routed = counters->received - counters->held - d->n_hold_dropped -
				d->n_held_overflow - d->n_hold_timeout;

	if (d->rig->has_gone)
		return;
	/* What is dropped, diverted or for all by its own word asks nobody. */
	if (d->dispatcher->may_differ)
		assert_true(counters->routed <= counters->received);
	/* With order flow, those that follow a pin ask nobody. */
	else if (d->rig->config.order == WEIR_ORDER_FLOW || d->rig->asks_not_all)
		assert_true(counters->routed <= routed);
	else
		assert_int_equal(counters->routed, routed);
}

/* Between two calls a pin has no marks, and counts what the hold has of its bucket. */
static void
pin_check(const struct rig_dispatcher *d, uint16_t bucket)
{
	const struct pin *pin = &d->dispatcher->pins[bucket];

	/* Of millions of checks few fail: the calls are kept for those. */
	if (pin->held == d->held[bucket] && (pin->flags & ~PIN_KNOWN) == 0)
		return;
	assert_int_equal(pin->held, d->held[bucket]);
	assert_int_equal(pin->flags & ~PIN_KNOWN, 0);
}

/* Adds `n` for each packet in a part of the hold to the count of its bucket. */
static void
part_count(const struct rig_dispatcher *d, const struct hold *hold, int n)
{
	for (uint32_t seq = hold->head; seq != hold->tail; seq++) {
		const uint32_t index = seq & (hold->n_slots - 1);
		uint16_t *held = &d->held[hold->metadata[index].bucket];

		if (hold->target[index] == WEIR_WORKER_NONE)
			*held = (uint16_t)(*held + n);
	}
}

static void
held_count(const struct rig_dispatcher *d, int n)
{
	part_count(d, &d->dispatcher->front, n);
	part_count(d, &d->dispatcher->hold, n);
}

static void
part_pins_check(const struct rig_dispatcher *d, const struct hold *hold)
{
	for (uint32_t seq = hold->head; seq != hold->tail; seq++)
		pin_check(d, hold->metadata[seq & (hold->n_slots - 1)].bucket);
}

/* The pins of what is held and of the last burst; now and then those of all buckets in use. */
static void
pins_check(const struct rig *rig, struct rig_dispatcher *d)
{
	const uint32_t n_last = d->n_packets < rig->config.burst ? d->n_packets : rig->config.burst;
	const bool is_full = d->n_pin_checks++ % PIN_CHECKS_PER_FULL == 0;

	if (!d->dispatcher->pins)
		return;
	held_count(d, 1);
	part_pins_check(d, &d->dispatcher->front);
	part_pins_check(d, &d->dispatcher->hold);
	for (uint32_t i = d->n_packets - n_last; i < d->n_packets; i++)
		pin_check(d, d->packets[i].meta.bucket);
	for (uint32_t i = 0; is_full && i < rig->n_buckets; i++)
		pin_check(d, rig_bucket(i));
	held_count(d, -1);
}

void
rig_check_pins(const struct rig *rig)
{
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		const struct rig_dispatcher *d = &rig->dispatcher[i];

		held_count(d, 1);
		for (uint32_t bucket = 0; d->dispatcher->pins && bucket < WEIR_BUCKETS; bucket++)
			pin_check(d, (uint16_t)bucket);
		held_count(d, -1);
	}
}

static void
dispatcher_check(struct rig *rig, uint32_t id)
{
	struct rig_dispatcher *d = &rig->dispatcher[id];
	const struct weir_dispatcher_counters counters = rig_counters(rig, id);
	uint32_t in_lanes = 0;

	assert_int_equal(counters.received, d->n_packets - d->n_refused - d->n_abandoned);
	assert_int_equal(counters.held, weir_held(d->dispatcher));
	routed_check(d, &counters);
	for (uint32_t i = 0; i < rig->config.n_workers; i++) {
		lane_check(d->dispatcher, (weir_worker_id)i);
		in_lanes += lane_outstanding(&d->dispatcher->lane[i]);
	}
	assert_int_equal(weir_in_lanes(d->dispatcher), in_lanes);
	assert_int_equal(d->n_ended + d->n_written_off + in_lanes + counters.held,
		counters.received + d->n_copies);
	assert_true(counters.copies >= d->n_copies);
	pins_check(rig, d);
}

/* M9: every packet in one term of the ledger, after each step of each test, not at rest alone. */
void
rig_check(struct rig *rig)
{
	const struct weir_ledger ledger = rig_ledger(rig);

	assert_int_equal(weir_ledger_gap(&ledger), 0);
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		dispatcher_check(rig, i);
}
