/* SPDX-License-Identifier: BSD-3-Clause */
#include "supervised.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "pool_options.h"
#include "test.h"

static void
packets_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct supervised *s = context;

	(void)packets;
	(void)worker;
	for (uint32_t i = 0; i < n; i++) {
		const bool dropped = verdicts[i].kind == WEIR_VERDICT_DROP;

		s->ended[dropped ? verdicts[i].target : WEIR_REASON_COUNT]++;
	}
}

/* A process that waits for its end. */
static int
process_fork(struct app *app, weir_worker_id id, struct worker_process *process)
{
	const pid_t pid = fork();

	(void)app;
	(void)id;
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		/* Of a test that failed nothing is left. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	*process = (struct worker_process) {
		.pid = pid,
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
		.socket = -1,
	};
	return 0;
}

struct supervised *
supervised_open(const char *options, bool processes)
{
	struct supervised *s = calloc(1, sizeof(*s));
	const struct pool_surroundings surroundings = { 0 };
	cpu_set_t allowed;

	assert_non_null(s);
	assert_accepted(&s->parsed, options);
	s->app.options = s->parsed.options;
	assert_int_equal(topology_read_cpus(&allowed), 0);
	topology_choose_lcores(&s->app.topology, &s->app.options, &allowed);
	topology_place_workers(&s->app.topology, &s->app.options, &allowed);
	assert_int_equal(pool_create_by_options(&s->app.pool, &s->app.options, &surroundings), 0);
	s->rx_core = aligned_alloc(CACHE_LINE_BYTES, sizeof(*s->rx_core));
	assert_non_null(s->rx_core);
	*s->rx_core = (struct rx_core) { 0 };
	s->rx_core->dispatcher = weir_dispatcher_create(s->app.pool, 0, packets_finish, s);
	assert_non_null(s->rx_core->dispatcher);
	s->app.rx_cores[0] = s->rx_core;
	s->app.n_rx_cores = 1;
	s->app.supervisor.process_start = processes ? process_fork : NULL;
	assert_int_equal(supervisor_open(&s->app), 0);
	assert_int_equal(supervisor_begin(&s->app), 0);
	return s;
}

void
supervised_say_ready(struct supervised *s, weir_worker_id id)
{
	weir_worker_report_state(weir_pool_worker(s->app.pool, id), WEIR_WORKER_READY);
}

void
supervised_start(struct supervised *s)
{
	for (uint32_t i = 0; s->app.supervisor.process_start && i < s->app.options.workers; i++)
		supervised_say_ready(s, (weir_worker_id)i);
	assert_int_equal(supervisor_start(&s->app), 0);
}

void
supervised_pass(struct supervised *s)
{
	weir_time_set(s->rx_core->dispatcher, clock_read_ns(CLOCK_REALTIME));
	weir_harvest(s->rx_core->dispatcher);
	supervisor_tick(&s->app);
	usleep(1000);
}

void
supervised_lend(struct supervised *s, uint32_t n)
{
	static int packet;
	void *handle = &packet;
	struct weir_meta meta = { .length = 60 };
	const struct weir_burst burst = { .packets = &handle, .meta = &meta, .n = 1 };

	for (uint32_t i = 0; i < n; i++) {
		meta.bucket = (uint16_t)s->n_lent++;
		assert_int_equal(weir_dispatch(s->rx_core->dispatcher, &burst), 1);
	}
}

enum weir_slot_phase
supervised_phase(const struct supervised *s, weir_worker_id id)
{
	return s->app.supervisor.slot[id].life.phase;
}

uint64_t
supervised_completed(const struct supervised *s)
{
	return s->ended[WEIR_REASON_COUNT];
}

void
supervised_close(struct supervised *s)
{
	uint64_t ended = 0;

	supervisor_stop(&s->app);
	assert_int_equal(s->app.n_stuck, 0);
	for (uint32_t i = 0; i < s->app.n_workers; i++)
		weir_reclaim(s->rx_core->dispatcher, (weir_worker_id)i, WEIR_REASON_DRAIN_TIMEOUT,
			WEIR_RECLAIM_GONE);
	weir_hold_drop(s->rx_core->dispatcher, WEIR_REASON_DRAIN_TIMEOUT);
	for (size_t i = 0; i < ARRAY_LENGTH(s->ended); i++)
		ended += s->ended[i];
	assert_int_equal(ended, s->n_lent);
	supervisor_close(&s->app);
	weir_dispatcher_destroy(s->rx_core->dispatcher);
	weir_pool_destroy(s->app.pool);
	options_free(&s->parsed.options);
	free(s->rx_core);
	free(s);
}
