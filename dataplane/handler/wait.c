/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait: lets so many nanoseconds pass per packet without holding the CPU, then forwards: many
 * workers can share few CPUs. The one handler besides sinks that enters the kernel, on purpose.
 */
#include <sched.h>
#include <time.h>

#include "work.h"

#define NS_PER_SECOND UINT64_C(1000000000)
/*
 * The kernel wakes a sleeper late: 50 us of timer slack and the switch. The last stretch of a wait
 * is spent yielding instead, so that a wait ends on time; waits below this never sleep.
 */
#define WAIT_YIELD_NS UINT64_C(150000)

static uint64_t
clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void
clock_sleep_until(uint64_t time_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(time_ns / NS_PER_SECOND),
		.tv_nsec = (long)(time_ns % NS_PER_SECOND),
	};

	/* An interrupted sleep comes back early: the caller yields until the deadline anyhow. */
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void
clock_wait(uint64_t wait_ns)
{
	const uint64_t deadline_ns = clock_now_ns() + wait_ns;

	if (wait_ns > WAIT_YIELD_NS)
		clock_sleep_until(deadline_ns - WAIT_YIELD_NS);
	while (clock_now_ns() < deadline_ns)
		sched_yield();
}

static void
wait_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct work *work = state;

	for (uint32_t i = 0; i < n; i++) {
		clock_wait(work_draw(work));
		verdicts[i] = pairing_verdict(&work->pairing, &packets[i]);
	}
}

const struct handler handler_wait = {
	.name = "wait",
	.usage = "wait:LAW",
	.help = "waits LAW ns per packet off the CPU, then forwards; LAW is " LAW_GRAMMAR,
	.restartable = true,
	.open = work_open,
	.process = wait_process,
	.close = work_close,
};
