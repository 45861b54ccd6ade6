/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings of workers for the judge of their health, and what its verdicts bring about. */
#include "supervisor_slot.h"

/* Time between two looks at who is slow: long enough for many packets. */
#define SERVICE_PERIOD_NS UINT64_C(1000000000)

/* What the rx cores know of a worker: nothing that it could have made up. */
struct lent_sums {
	uint64_t depth;
	uint64_t harvested;
	uint64_t crash_inflight;
};

static void
dispatcher_add(const struct weir_dispatcher *dispatcher, weir_worker_id id, struct lent_sums *sums)
{
	struct weir_worker_counters counters;

	weir_dispatcher_worker_counters(dispatcher, id, &counters);
	sums->depth += counters.depth;
	sums->harvested += counters.harvested;
	sums->crash_inflight += counters.dropped[WEIR_REASON_CRASH_INFLIGHT];
}

static struct lent_sums
lent_sums_of(const struct app *app, weir_worker_id id)
{
	struct lent_sums sums = { 0 };

	for (uint32_t r = 0; r < app->n_rx_cores; r++) {
		dispatcher_add(app->rx_cores[r]->dispatcher, id, &sums);
		if (app->rx_cores[r]->urgent)
			dispatcher_add(app->rx_cores[r]->urgent, id, &sums);
	}
	return sums;
}

void
slot_count_departed(struct app *app, weir_worker_id id)
{
	const struct lent_sums sums = lent_sums_of(app, id);
	struct worker_slot *slot = slot_of(app, id);

	slot->queued = sums.depth;
	slot->crash_inflight = sums.crash_inflight;
}

uint64_t
slot_crash_inflight(const struct app *app, weir_worker_id id)
{
	return lent_sums_of(app, id).crash_inflight - app->supervisor.slot[id].crash_inflight;
}

void
slot_flag(struct app *app, weir_worker_id id, uint32_t flags)
{
	struct worker_slot *slot = slot_of(app, id);

	/* Without memory for a snapshot the old ones stay: the next tick finds them different. */
	if (flags != slot->flags && weir_pool_set_flags(app->pool, id, flags) == 0)
		slot->flags = flags;
}

static void
verdict_say(struct app *app, weir_worker_id id, uint32_t before, uint32_t now)
{
	const struct worker_slot *slot = slot_of(app, id);
	const uint32_t begun = now & ~before;
	const uint32_t over = before & ~now;

	if (begun & WEIR_WORKER_LOST)
		slot_note(app, id, "is lost: its heart does not beat, %s",
			body_is_halted(slot) ? "it was stopped by a signal"
					     : "though it has the CPU");
	if (over & WEIR_WORKER_LOST)
		slot_note(app, id, "is back: its heart beats again");
	if ((begun & WEIR_WORKER_STUCK) && slot->kind == WORKER_THREAD)
		slot_warn(app, id,
			"is stuck: it has packets and finishes none; what a thread has cannot be "
			"reclaimed");
	if (over & WEIR_WORKER_STUCK)
		slot_note(app, id, "is no longer stuck");
}

static struct weir_health_reading
reading_take(struct app *app, weir_worker_id id, uint64_t now_ns)
{
	const struct worker_slot *slot = slot_of(app, id);
	const struct lent_sums sums = lent_sums_of(app, id);
	struct weir_health_reading reading = {
		.now_ns = now_ns,
		.beats = weir_pool_worker_pulse(app->pool, id).beats,
		.cpu_ns = body_cpu_ns(slot),
		.is_excused = slot->is_paused,
		.depth = sums.depth,
		.finished = sums.harvested,
	};

	/* A system call, so only of one that has not beaten since the last look. */
	if (slot->is_judged && reading.beats == slot->health.beats)
		reading.is_halted = body_is_halted(slot);
	return reading;
}

void
slot_judge(struct app *app, weir_worker_id id, uint64_t now_ns)
{
	struct worker_slot *slot = slot_of(app, id);
	const struct weir_health_limits limits = {
		.period_ns = (uint64_t)app->options.heartbeat_msec * 1000000,
		.n_sharers = app->topology.worker[id].n_sharers,
		.stuck_ns = app->options.stuck_after_ns,
	};
	struct weir_health_reading reading;
	uint32_t before;
	uint32_t now;

	if (slot->life.phase != WEIR_SLOT_READY)
		return;
	reading = reading_take(app, id, now_ns);
	if (!slot->is_judged) {
		slot->health = weir_health_make(&reading);
		slot->is_judged = true;
	}
	before = slot->health.flags;
	now = weir_health_judge(&slot->health, &limits, &reading);
	verdict_say(app, id, before, now);
	slot_flag(app, id, (slot->is_paused ? WEIR_WORKER_PAUSED : 0) | now);
	/* A process can be ended whatever it does, a thread cannot. */
	if ((now & WEIR_WORKER_STUCK) && slot->kind == WORKER_PROCESS)
		slot_tell(app, id, WEIR_SLOT_EVENT_HUNG);
}

/* Cycles per packet since the last look; 0 if there was none. */
static uint64_t
service_take(struct app *app, weir_worker_id id)
{
	struct worker_slot *slot = slot_of(app, id);
	const struct service_mark before = slot->mark;
	struct weir_worker_activity activity;
	uint64_t packets;

	weir_pool_worker_activity(app->pool, id, &activity);
	slot->mark = (struct service_mark) {
		.completed = activity.completed,
		.busy_cycles = activity.busy_cycles,
	};
	packets = activity.completed - before.completed;
	if (slot->life.phase != WEIR_SLOT_READY || packets == 0)
		return 0;
	return (activity.busy_cycles - before.busy_cycles) / packets;
}

void
service_judge(struct app *app, uint64_t now_ns)
{
	uint64_t service[WEIR_WORKERS_MAX];
	struct supervisor *supervisor = &app->supervisor;

	if (now_ns < supervisor->next_service_ns)
		return;
	supervisor->next_service_ns = now_ns + SERVICE_PERIOD_NS;
	for (uint32_t i = 0; i < supervisor->n; i++)
		service[i] = service_take(app, (weir_worker_id)i);
	for (uint32_t i = 0; i < supervisor->n; i++)
		supervisor->slot[i].is_slow = weir_health_is_slow(service, supervisor->n, i);
}
