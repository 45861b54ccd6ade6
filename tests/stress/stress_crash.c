/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker processes that are killed, thousands of times: at random instants and, where fault points
 * are built in, at each step of their own. After each death what they were lent is reclaimed and
 * their next incarnation begins. Every packet ends once; each bucket's packets come back in order;
 * without redelivery no packet is begun twice, with it none is lost; the ledger holds (X1).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attached.h"
#include "dispatcher.h"
#include "fault.h"
#include "pool.h"
#include "rng.h"
#include "stress.h"

#define N_WORKERS 3
#define N_DISPATCHERS 2
#define N_KILLS 130
#define N_PACKETS 4096 /* that exist at once */
#define N_BUCKETS 50
#define BURST 16
/* Rounds without a packet that ends: nothing moves any more. */
#define IDLE_ROUNDS_MAX 1000000

#ifdef WEIR_FAULT_POINTS
#define HAS_FAULT_POINTS true
#else
#define HAS_FAULT_POINTS false
#endif

/* What workers see and write. */
struct crash_data {
	uint32_t begun;
	uint32_t done;
};

struct crash_packet {
	struct crash_data *data;
	uint64_t number;       /* of its dispatcher's, from 1 on */
	uint32_t kills_before; /* it was sent */
	uint16_t bucket;
	bool is_out;
};

struct crash;

struct crash_dispatcher {
	struct crash *crash;
	struct weir_dispatcher *dispatcher;
	struct crash_packet *packets;
	uint32_t free[N_PACKETS]; /* a stack of indices */
	uint32_t n_free;
	uint64_t n_sent;
	uint64_t n_ended;
	uint64_t n_completed;
	uint64_t n_crashed; /* ended as crash_inflight */
	uint64_t n_evicted;
	uint64_t last[N_BUCKETS]; /* number that came back last, of each bucket */
};

struct crash_worker {
	pid_t pid; /* 0: none */
	bool is_starting;
};

struct crash {
	struct weir_config config;
	bool redelivers;
	struct weir_pool *pool;
	struct crash_dispatcher d[N_DISPATCHERS];
	struct crash_worker worker[N_WORKERS];
	int data_fd;
	struct crash_data *data;
	uint64_t seed;
	uint64_t n_random;
	uint32_t n_kills;
};

#define DATA_BYTES (sizeof(struct crash_data) * N_PACKETS * N_DISPATCHERS)

static void
expect(const struct crash *crash, bool holds, const char *what)
{
	if (holds)
		return;
	printf("FAILED after %u kills: %s\n", crash->n_kills, what);
	exit(EXIT_FAILURE);
}

#define EXPECT(crash, condition) expect(crash, condition, #condition)

/* Sleeps: who has nothing to do must not keep CPUs from those that have. */
static void
pause_briefly(void)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	nanosleep(&pause, NULL);
}

static uint32_t
random_below(struct crash *crash, uint32_t n)
{
	return rng_below(rng_at(crash->seed, crash->n_random++), n);
}

static void
packet_end(struct crash_dispatcher *d, struct crash_packet *packet, struct weir_verdict verdict)
{
	const struct crash_data data = *packet->data;
	struct crash *crash = d->crash;

	EXPECT(crash, packet->is_out);
	packet->is_out = false;
	d->free[d->n_free++] = (uint32_t)(packet - d->packets);
	d->n_ended++;
	EXPECT(crash, data.begun <= 1u + crash->redelivers && data.done <= data.begun);
	if (verdict.kind == WEIR_VERDICT_DROP) {
		d->n_crashed += verdict.target == WEIR_REASON_CRASH_INFLIGHT;
		/* With redelivery only what was in process at two deaths. */
		EXPECT(crash, verdict.target != WEIR_REASON_CRASH_INFLIGHT ||
				      crash->n_kills - packet->kills_before >
					      (uint32_t)crash->redelivers);
		d->n_evicted += verdict.target == WEIR_REASON_OVERFLOW_DROP_HEAD;
		return;
	}
	EXPECT(crash, verdict.kind == WEIR_VERDICT_TX && data.done > 0);
	d->n_completed++;
	EXPECT(crash, packet->number > d->last[packet->bucket]);
	d->last[packet->bucket] = packet->number;
}

static void
crash_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)worker;
	for (uint32_t i = 0; i < n; i++)
		packet_end(context, packets[i], verdicts[i]);
}

/* The worker's process: its handler counts in the packet. It gives back some at a time. */
static void
worker_work(struct weir_worker *worker, uint64_t seed)
{
	struct weir_packet packets[8];
	struct weir_verdict verdicts[8];

	for (uint64_t i = 0;; i++) {
		const enum weir_worker_command command = weir_worker_read_command(worker);
		const uint32_t n = weir_take(worker, packets, 1 + rng_below(rng_at(seed, i), 8));
		const uint32_t part = n > 0 ? rng_below(rng_at(~seed, i), n) : 0;

		weir_worker_beat(worker);
		for (uint32_t k = 0; k < n; k++) {
			struct crash_data *data = (void *)packets[k].data;

			data->begun++;
			/* Now and then somebody else runs: the killer, say. */
			if (rng_below(rng_at(seed ^ k, i), 8) == 0)
				pause_briefly();
			data->done++;
			verdicts[k] = weir_verdict_tx(&packets[k], 0);
		}
		if (part > 0)
			weir_complete(worker, verdicts, part);
		if (n > 0)
			weir_complete(worker, &verdicts[part], n - part);
		else if (command == WEIR_COMMAND_DRAIN && weir_worker_is_drained(worker))
			return;
		else
			pause_briefly();
	}
}

/* The process is forked and keeps nothing of the pool's view of its memory. */
static _Noreturn void
worker_main(struct crash *crash, weir_worker_id id, const char *fault)
{
	struct attached attached;
	void *data;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fault[0] != '\0')
		setenv("WEIR_FAULT", fault, 1);
	data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, crash->data_fd, 0);
	if (data == MAP_FAILED || !attached_open(&attached, crash->pool, id, data, DATA_BYTES))
		_exit(1);
	attached_pool_forget(crash->pool);
	munmap(crash->data, DATA_BYTES);
	weir_worker_report_state(attached.worker, WEIR_WORKER_READY);
	worker_work(attached.worker, rng_at(crash->seed, crash->n_random));
	_exit(0);
}

/* Every other incarnation is to die by itself, where it can. */
static void
fault_choose(struct crash *crash, char *fault, size_t n_bytes)
{
	static const char *const steps[] = { "attach", "take", "handler", "verdicts", "complete" };
	const uint32_t step = random_below(crash, 10);

	fault[0] = '\0';
	if (HAS_FAULT_POINTS && step < 5 && crash->n_kills < N_KILLS)
		snprintf(fault, n_bytes, "%s:%u", steps[step],
			step == 0 ? 0 : random_below(crash, 20));
}

static void
worker_start(struct crash *crash, weir_worker_id id)
{
	struct crash_worker *worker = &crash->worker[id];
	char fault[32];

	fault_choose(crash, fault, sizeof(fault));
	worker->is_starting = true;
	worker->pid = fork();
	if (worker->pid < 0)
		abort();
	if (worker->pid == 0)
		worker_main(crash, id, fault);
}

/* It is proven dead: its process was reaped. */
static void
worker_bury(struct crash *crash, weir_worker_id id)
{
	const struct weir_departure how = {
		.state = WEIR_WORKER_DEAD,
		.redispatch = true,
		.redeliver = crash->redelivers,
		.awaited = true,
		.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
	};

	crash->worker[id].pid = 0;
	crash->n_kills++;
	EXPECT(crash, weir_pool_worker_gone(crash->pool, id, &how) == 0);
}

static void
worker_kill(struct crash *crash, weir_worker_id id)
{
	int status;

	kill(crash->worker[id].pid, SIGKILL);
	if (waitpid(crash->worker[id].pid, &status, 0) != crash->worker[id].pid)
		abort();
	EXPECT(crash, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	worker_bury(crash, id);
}

/* What a supervisor does, in its simplest form. */
static void
worker_supervise(struct crash *crash, weir_worker_id id)
{
	struct crash_worker *worker = &crash->worker[id];
	int status;

	if (worker->pid > 0 && waitpid(worker->pid, &status, WNOHANG) == worker->pid) {
		EXPECT(crash, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		worker_bury(crash, id);
	} else if (worker->pid == 0 && weir_pool_worker_is_reclaimed(crash->pool, id)) {
		EXPECT(crash, weir_pool_worker_restart(crash->pool, id) == 0);
		worker_start(crash, id);
	} else if (worker->pid > 0 && worker->is_starting &&
		   weir_pool_worker_pulse(crash->pool, id).state == WEIR_WORKER_READY) {
		worker->is_starting = false;
		EXPECT(crash, weir_pool_set_state(crash->pool, id, WEIR_WORKER_READY) == 0);
	}
}

static bool
dispatcher_is_idle(const struct crash_dispatcher *d)
{
	return d->n_ended == d->n_sent;
}

static void
ledger_check(struct crash *crash)
{
	for (uint32_t i = 0; i < N_DISPATCHERS; i++) {
		struct weir_ledger ledger = { 0 };

		weir_ledger_add(&ledger, crash->d[i].dispatcher);
		EXPECT(crash, weir_ledger_gap(&ledger) == 0);
		EXPECT(crash, ledger.received == crash->d[i].n_sent);
	}
}

/* Up to `n` packets, as many as there are and the policy takes. */
static void
burst_send(struct crash_dispatcher *d, uint32_t n)
{
	struct weir_meta meta[BURST] = { 0 };
	weir_worker_id workers[BURST];
	void *packets[BURST];
	void *data[BURST];
	struct weir_burst burst = {
		.packets = packets, .data = data, .meta = meta, .workers = workers
	};

	for (; burst.n < n && burst.n < d->n_free; burst.n++) {
		const uint32_t number = random_below(d->crash, N_BUCKETS);
		struct crash_packet *packet = &d->packets[d->free[d->n_free - 1 - burst.n]];

		*packet->data = (struct crash_data) { 0 };
		packet->bucket = (uint16_t)number;
		packet->number = d->n_sent + burst.n + 1;
		packet->kills_before = d->crash->n_kills;
		packet->is_out = true;
		packets[burst.n] = packet;
		data[burst.n] = packet->data;
		meta[burst.n].bucket = (uint16_t)(number * 1301);
		meta[burst.n].length = sizeof(struct crash_data);
		meta[burst.n].segment_length = sizeof(struct crash_data);
	}
	/* Finish puts back indices: those of the burst are taken off before. */
	d->n_free -= burst.n;
	if (weir_accepts(d->dispatcher) && burst.n > 0)
		n = weir_dispatch(d->dispatcher, &burst);
	else
		n = 0;
	d->n_sent += n;
	for (uint32_t i = burst.n; i-- > n;) {
		((struct crash_packet *)packets[i])->is_out = false;
		d->free[d->n_free++] = (uint32_t)((struct crash_packet *)packets[i] - d->packets);
	}
}

/* One round of all that is not a worker. */
static void
round_run(struct crash *crash, bool sends)
{
	for (uint32_t i = 0; i < N_DISPATCHERS; i++) {
		if (sends)
			burst_send(&crash->d[i], random_below(crash, BURST + 1));
		weir_harvest(crash->d[i].dispatcher);
	}
	for (weir_worker_id id = 0; id < crash->config.n_workers; id++)
		worker_supervise(crash, id);
	ledger_check(crash);
}

/* Runs until all that was sent has ended. */
static void
rounds_settle(struct crash *crash)
{
	uint64_t ended = 0;
	uint32_t n_idle = 0;

	while (!dispatcher_is_idle(&crash->d[0]) || !dispatcher_is_idle(&crash->d[1])) {
		const uint64_t before = ended;

		round_run(crash, false);
		pause_briefly();
		ended = crash->d[0].n_ended + crash->d[1].n_ended;
		n_idle = ended == before ? n_idle + 1 : 0;
		if (n_idle == IDLE_ROUNDS_MAX) {
			printf("FAILED: packets are left that never end\n");
			exit(EXIT_FAILURE);
		}
	}
}

static void
area_keep(const struct area *area)
{
	if (area->memory)
		madvise(area->memory, area->bytes, MADV_DONTFORK);
}

/* What no worker needs is not given to its process: else each fork would copy the dispatchers'. */
static void
areas_keep(const struct crash *crash)
{
	for (uint32_t i = 0; i < N_DISPATCHERS; i++) {
		area_keep(&crash->d[i].dispatcher->lane_area);
		area_keep(&crash->d[i].dispatcher->claim_area);
		area_keep(&crash->d[i].dispatcher->pin_area);
	}
}

static void
crash_open(struct crash *crash)
{
	crash->data_fd = memfd_create("packets", MFD_CLOEXEC);
	if (crash->data_fd < 0 || ftruncate(crash->data_fd, DATA_BYTES) < 0)
		abort();
	crash->data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, crash->data_fd, 0);
	if (crash->data == MAP_FAILED)
		abort();
	crash->config.data_base = crash->data;
	crash->config.data_bytes = DATA_BYTES;
	crash->pool = weir_pool_create(&crash->config, NULL);
	if (!crash->pool)
		abort();
	for (uint32_t i = 0; i < N_DISPATCHERS; i++) {
		struct crash_dispatcher *d = &crash->d[i];

		d->crash = crash;
		d->dispatcher = weir_dispatcher_create(crash->pool, i, crash_finish, d);
		d->packets = calloc(N_PACKETS, sizeof(*d->packets));
		if (!d->dispatcher || !d->packets)
			abort();
		for (uint32_t k = 0; k < N_PACKETS; k++) {
			d->packets[k].data = &crash->data[i * N_PACKETS + k];
			d->free[d->n_free++] = k;
		}
	}
	areas_keep(crash);
	for (weir_worker_id id = 0; id < crash->config.n_workers; id++) {
		worker_start(crash, id);
		crash->worker[id].is_starting = false;
	}
}

static void
crash_close(struct crash *crash)
{
	for (uint32_t i = 0; i < N_DISPATCHERS; i++) {
		weir_dispatcher_destroy(crash->d[i].dispatcher);
		free(crash->d[i].packets);
	}
	weir_pool_destroy(crash->pool);
	munmap(crash->data, DATA_BYTES);
	close(crash->data_fd);
	free(crash);
}

/* All workers drain and leave by themselves (edge E14). */
static void
workers_drain(struct crash *crash)
{
	for (weir_worker_id id = 0; id < crash->config.n_workers; id++) {
		while (crash->worker[id].pid == 0 || crash->worker[id].is_starting) {
			round_run(crash, false);
			pause_briefly();
		}
	}
	for (weir_worker_id id = 0; id < crash->config.n_workers; id++) {
		int status;

		EXPECT(crash, weir_pool_set_state(crash->pool, id, WEIR_WORKER_DRAINING) == 0);
		weir_pool_command(crash->pool, id, WEIR_COMMAND_DRAIN);
		for (uint32_t i = 0; i < N_DISPATCHERS; i++)
			weir_harvest(crash->d[i].dispatcher);
		if (waitpid(crash->worker[id].pid, &status, 0) != crash->worker[id].pid)
			abort();
		EXPECT(crash, WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

static void
books_check(struct crash *crash)
{
	for (uint32_t i = 0; i < N_DISPATCHERS; i++) {
		const struct crash_dispatcher *d = &crash->d[i];

		EXPECT(crash, d->n_free == N_PACKETS);
		EXPECT(crash, d->n_completed + d->n_crashed + d->n_evicted == d->n_sent);
		EXPECT(crash, !crash->redelivers || HAS_FAULT_POINTS || d->n_crashed == 0);
		/* At most what is taken at once, at each death. */
		EXPECT(crash, d->n_crashed <= (uint64_t)crash->n_kills * 8);
	}
}

static void
crash_run(const struct weir_config *config, bool redelivers, uint64_t seed)
{
	struct crash *crash = calloc(1, sizeof(*crash));
	if (!crash)
		abort();
	crash->config = *config;
	crash->redelivers = redelivers;
	crash->seed = seed;
	crash_open(crash);
	while (crash->n_kills < N_KILLS) {
		const weir_worker_id id =
			(weir_worker_id)random_below(crash, crash->config.n_workers);

		for (uint32_t rounds = random_below(crash, 30); rounds > 0; rounds--)
			round_run(crash, true);
		if (crash->worker[id].pid > 0)
			worker_kill(crash, id);
		/* So that, but for fault points, no packet is in process at two deaths. */
		if (redelivers)
			rounds_settle(crash);
	}
	rounds_settle(crash);
	workers_drain(crash);
	books_check(crash);
	printf("%s, %s: %u kills, %llu packets, %llu in process when their worker died\n",
		config->overflow, redelivers ? "redelivered" : "not redelivered", crash->n_kills,
		(unsigned long long)(crash->d[0].n_sent + crash->d[1].n_sent),
		(unsigned long long)(crash->d[0].n_crashed + crash->d[1].n_crashed));
	crash_close(crash);
}

int
main(void)
{
	const uint64_t seed = stress_seed("stress_crash");

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("fault points are %s\n", HAS_FAULT_POINTS ? "built in" : "not built in");
	for (uint32_t variant = 0; variant < 8; variant++) {
		struct weir_config config = weir_config_default();

		config.n_workers = variant & 4 ? 1 : N_WORKERS;
		config.n_dispatchers = N_DISPATCHERS;
		config.lane_size = 64;
		config.burst = BURST;
		config.order = WEIR_ORDER_FLOW;
		config.hold_size = N_PACKETS;
		config.overflow = variant & 1 ? "drop-head" : "reject";
		config.is_shared = true;
		crash_run(&config, variant & 2, rng_at(seed, variant));
	}
	return EXIT_SUCCESS;
}
