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

static void
lane_check(const struct weir_dispatcher *d, weir_worker_id id)
{
	const struct lane_producer *lane = &d->lane[id];
	const uint16_t position = d->snapshot->position[id];

	assert_true(lane_occupied(lane) <= d->pool->config.lane_size);
	assert_true(lane->tail - lane->completed <= lane_occupied(lane));
	if (lane_occupied(lane) > 0)
		assert_true(bitset_has(&d->outstanding, id));
	/* Only strategies that read the mirror count their picks in it. */
	if (position == WEIR_WORKER_NONE ||
		!(d->snapshot->strategy->flags & WEIR_STRATEGY_READS_DEPTH))
		return;
	assert_int_equal(d->depth[position], lane_depth(d, lane));
	assert_int_equal(d->room[position], lane_room(lane));
}

static void
dispatcher_check(const struct rig *rig, uint32_t id)
{
	const struct rig_dispatcher *d = &rig->dispatcher[id];
	const struct weir_dispatcher_counters counters = rig_counters(rig, id);
	uint32_t in_lanes = 0;

	assert_int_equal(counters.received, d->n_packets - d->n_refused - d->n_abandoned);
	assert_int_equal(counters.held, weir_held(d->dispatcher));
	assert_int_equal(counters.routed + counters.held + d->n_hold_dropped + d->n_held_overflow,
		counters.received);
	for (uint32_t i = 0; i < rig->config.n_workers; i++) {
		lane_check(d->dispatcher, (weir_worker_id)i);
		in_lanes += lane_occupied(&d->dispatcher->lane[i]);
	}
	assert_int_equal(weir_in_lanes(d->dispatcher), in_lanes);
	assert_int_equal(
		d->n_ended + d->n_written_off + in_lanes + counters.held, counters.received);
}

void
rig_check(const struct rig *rig)
{
	const struct weir_ledger ledger = rig_ledger(rig);

	assert_int_equal(weir_ledger_gap(&ledger), 0);
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		dispatcher_check(rig, i);
}
