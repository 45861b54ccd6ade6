/* SPDX-License-Identifier: BSD-3-Clause */
/* The judge of a worker's health. It reads no clock, and believes nothing but its readings. */
#include <weir/health.h>

#include <assert.h>
#include <stdlib.h>

#include <weir/pool.h>

static void
beat_note(struct weir_health *health, const struct weir_health_reading *reading)
{
	health->beats = reading->beats;
	health->beat_ns = reading->now_ns;
	health->beat_cpu_ns = reading->cpu_ns;
}

static void
finish_note(struct weir_health *health, const struct weir_health_reading *reading)
{
	health->finished = reading->finished;
	health->finished_ns = reading->now_ns;
}

struct weir_health
weir_health_make(const struct weir_health_reading *reading)
{
	struct weir_health health = { 0 };

	beat_note(&health, reading);
	finish_note(&health, reading);
	return health;
}

/*
 * Late alone is no proof: it may have had no CPU. That its CPU clock moved at all is none either:
 * it runs on for a moment after each beat, and a look comes at any moment.
 */
static bool
judge_lost(const struct weir_health *health, const struct weir_health_limits *limits,
	const struct weir_health_reading *reading)
{
	const uint64_t n_sharers = limits->n_sharers > 0 ? limits->n_sharers : 1;
	const uint64_t late_ns = WEIR_HEALTH_PERIODS * limits->period_ns * n_sharers;

	if (limits->period_ns == 0 || reading->now_ns - health->beat_ns < late_ns)
		return false;
	/* Found by a beat only: what is lost and gets no CPU has not come back. */
	return (health->flags & WEIR_WORKER_LOST) || reading->is_halted ||
	       reading->cpu_ns - health->beat_cpu_ns >= limits->period_ns;
}

static bool
judge_stuck(const struct weir_health *health, const struct weir_health_limits *limits,
	const struct weir_health_reading *reading)
{
	return limits->stuck_ns > 0 && reading->now_ns - health->finished_ns >= limits->stuck_ns;
}

uint32_t
weir_health_judge(struct weir_health *health, const struct weir_health_limits *limits,
	const struct weir_health_reading *reading)
{
	uint32_t flags = 0;

	if (reading->beats != health->beats)
		beat_note(health, reading);
	if (reading->finished != health->finished || reading->depth == 0 || reading->is_halted ||
		reading->is_excused)
		finish_note(health, reading);
	if (judge_lost(health, limits, reading))
		flags |= WEIR_WORKER_LOST;
	if (judge_stuck(health, limits, reading))
		flags |= WEIR_WORKER_STUCK;
	health->flags = flags;
	return flags;
}

static int
service_compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left;
	const uint64_t b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

bool
weir_health_is_slow(const uint64_t *service, uint32_t n, uint32_t worker)
{
	uint64_t others[WEIR_WORKERS_MAX];
	uint32_t n_others = 0;

	assert(n <= WEIR_WORKERS_MAX);
	for (uint32_t i = 0; i < n; i++)
		if (i != worker && service[i] > 0)
			others[n_others++] = service[i];
	if (n_others < 2)
		return false;
	qsort(others, n_others, sizeof(others[0]), service_compare);
	/* Of an even number the upper one: in doubt nobody is slow. */
	return service[worker] > WEIR_HEALTH_SLOW_FACTOR * others[n_others / 2];
}
