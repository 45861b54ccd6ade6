/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool: pools whose workers are processes: their files, and processes that use and abuse them.
 */
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attached.h"
#include "dispatcher.h"
#include "pool.h"

#define N_WORKERS 3
#define PACKET_BYTES 64
#define N_PACKETS 1024
#define DATA_BYTES ((size_t)N_PACKETS * PACKET_BYTES)

/* A shared pool with one dispatcher, and packets in memory that processes map as well. */
struct world {
	struct weir_pool *pool;
	struct weir_dispatcher *dispatcher;
	int data_fd;
	uint8_t *data;
	uint32_t n_sent;
	uint32_t n_ended;	       /* all packets that came back */
	uint32_t n_tx[N_WORKERS];      /* by worker: that were to be transmitted */
	uint32_t n_dropped[N_WORKERS]; /* likewise, dropped */
	uint64_t answers;	       /* sum of what workers have written into packets */
};

static void
world_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct world *world = context;

	world->n_ended += n;
	/* Dropped at a full lane. */
	if (worker == WEIR_WORKER_NONE)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *packet = packets[i];

		world->n_tx[worker] += verdicts[i].kind == WEIR_VERDICT_TX;
		world->n_dropped[worker] += verdicts[i].kind == WEIR_VERDICT_DROP;
		world->answers += packet[1];
	}
}

static struct weir_config
world_config(void *data)
{
	struct weir_config config = weir_config_default();

	config.n_workers = N_WORKERS;
	config.strategy = "round-robin";
	config.lane_size = 64;
	config.is_shared = true;
	config.data_base = data;
	config.data_bytes = DATA_BYTES;
	return config;
}

static struct world *
world_create(void)
{
	struct world *world = calloc(1, sizeof(*world));
	struct weir_config config;

	assert_non_null(world);
	world->data_fd = memfd_create("packets", MFD_CLOEXEC);
	assert_true(world->data_fd >= 0);
	assert_int_equal(ftruncate(world->data_fd, DATA_BYTES), 0);
	world->data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, world->data_fd, 0);
	assert_ptr_not_equal(world->data, MAP_FAILED);
	config = world_config(world->data);
	world->pool = weir_pool_create(&config, NULL);
	assert_non_null(world->pool);
	world->dispatcher = weir_dispatcher_create(world->pool, 0, world_finish, world);
	assert_non_null(world->dispatcher);
	return world;
}

static void
world_destroy(struct world *world)
{
	weir_dispatcher_destroy(world->dispatcher);
	weir_pool_destroy(world->pool);
	munmap(world->data, DATA_BYTES);
	close(world->data_fd);
	free(world);
}

/* Sends `n` packets (at most a burst). Each has its number in its first byte. */
static void
world_send(struct world *world, uint32_t n)
{
	void *packets[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX] = { 0 };
	weir_worker_id workers[WEIR_BURST_MAX];
	const struct weir_burst burst = {
		.packets = packets, .meta = meta, .n = n, .workers = workers
	};

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *packet = world->data + world->n_sent++ % N_PACKETS * PACKET_BYTES;

		packet[0] = (uint8_t)world->n_sent;
		packet[1] = 0;
		packets[i] = packet;
		meta[i].length = PACKET_BYTES;
		meta[i].segment_length = PACKET_BYTES;
	}
	assert_int_equal(weir_dispatch(world->dispatcher, &burst), n);
}

static void
world_check_ledger(const struct world *world)
{
	struct weir_ledger ledger = { 0 };

	weir_ledger_add(&ledger, world->dispatcher);
	assert_int_equal(weir_ledger_gap(&ledger), 0);
	assert_int_equal(ledger.received, world->n_sent);
}

/* What a child is to be: `worker` is attached where nothing of the parent's pool is mapped. */
typedef void (*child_fn)(struct attached *attached);

static pid_t
child_start(struct world *world, weir_worker_id id, child_fn run)
{
	const pid_t pid = fork();
	struct attached attached;
	void *data;

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Mapped before the old ones are unmapped: so it lies elsewhere. */
	data = mmap(NULL, DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, world->data_fd, 0);
	if (data == MAP_FAILED || !attached_open(&attached, world->pool, id, data, DATA_BYTES))
		_exit(1);
	munmap(world->data, DATA_BYTES);
	attached_pool_forget(world->pool);
	run(&attached);
	_exit(0);
}

static void
child_join(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
child_kill(pid_t pid)
{
	int status = 0;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

/* Works on all that is in the lanes: answers with the number in the packet. */
static void
work_all(struct attached *attached)
{
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX];
	uint32_t n;

	while ((n = weir_take(attached->worker, packets, 7)) > 0) {
		for (uint32_t i = 0; i < n; i++) {
			packets[i].data[1] = packets[i].data[0];
			verdicts[i] = weir_verdict_tx(&packets[i], 0);
		}
		weir_complete(attached->worker, verdicts, n);
	}
}

static void
processes_take_work_and_give_back_where_they_have_mapped(void **state)
{
	struct world *world = world_create();
	uint64_t expected = 0;

	(void)state;
	for (uint32_t round = 0; round < 2; round++) {
		world_send(world, 30);
		for (uint32_t i = 0; i < 30; i++)
			expected += round * 30 + i + 1;
		for (weir_worker_id id = 0; round == 0 && id < N_WORKERS; id++)
			child_join(child_start(world, id, work_all));
		assert_int_equal(weir_harvest(world->dispatcher), round == 0 ? 30 : 0);
		world_check_ledger(world);
		if (round == 0)
			assert_int_equal(world->answers, expected);
	}
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		assert_int_equal(world->n_tx[id], 10);
		assert_int_equal(weir_reclaim(world->dispatcher, id, WEIR_REASON_CRASH_INFLIGHT,
					 WEIR_RECLAIM_GONE),
			10);
	}
	world_destroy(world);
}

static void
assert_no_way_to_write(int fd, size_t bytes)
{
	char path[64];
	char byte = 1;
	void *view;

	assert_int_equal(pwrite(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_ptr_equal(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	assert_int_equal(errno, EPERM);
	view = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(view, MAP_FAILED);
	assert_int_equal(mprotect(view, bytes, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(errno, EACCES);
	munmap(view, bytes);
	assert_int_equal(
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes), -1);
	assert_int_equal(errno, EPERM);
	/* Opened anew it is the same file with the same seals. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_ptr_equal(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	close(fd);
}

static void
kernel_refuses_whoever_would_write_lanes(void **state)
{
	struct world *world = world_create();
	struct weir_worker_memory memory;

	(void)state;
	assert_int_equal(weir_pool_worker_memory(world->pool, 1, &memory), 0);
	assert_no_way_to_write(memory.lanes_fd, memory.lanes_bytes);
	/* The pool itself still can. */
	weir_pool_command(world->pool, 1, WEIR_COMMAND_PAUSE);
	world_destroy(world);
}

static void
kernel_refuses_whoever_would_change_sizes_or_seals(void **state)
{
	struct world *world = world_create();
	struct weir_worker_memory memory;

	(void)state;
	for (weir_worker_id id = 0; id < N_WORKERS; id++) {
		assert_int_equal(weir_pool_worker_memory(world->pool, id, &memory), 0);
		const int fds[] = { memory.lanes_fd, memory.own_fd };
		const size_t bytes[] = { memory.lanes_bytes, memory.own_bytes };

		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(ftruncate(fds[i], (off_t)bytes[i] - 1), -1);
			assert_int_equal(errno, EPERM);
			assert_int_equal(ftruncate(fds[i], (off_t)bytes[i] + 1), -1);
			assert_int_equal(errno, EPERM);
			/* Own memory could else be sealed against its own worker. */
			assert_int_equal(fcntl(fds[i], F_ADD_SEALS, F_SEAL_WRITE), -1);
			assert_int_equal(errno, EPERM);
			assert_int_equal(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
			assert_int_equal(lseek(fds[i], 0, SEEK_END), (off_t)bytes[i]);
		}
	}
	world_destroy(world);
}

static void
files_are_told_of_workers_of_shared_pools_only(void **state)
{
	struct weir_config config = weir_config_default();
	struct weir_pool *pool = weir_pool_create(&config, NULL);
	struct weir_worker_memory memory;
	struct world *world = world_create();
	int fd;

	(void)state;
	assert_non_null(pool);
	assert_int_equal(weir_pool_worker_memory(pool, 0, &memory), -EINVAL);
	assert_int_equal(weir_pool_worker_memory(world->pool, N_WORKERS, &memory), -ENOENT);
	assert_int_equal(weir_pool_worker_memory(world->pool, N_WORKERS - 1, &memory), 0);
	fd = memory.own_fd;
	weir_pool_destroy(pool);
	world_destroy(world);
	/* They were the pool's. */
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

/* Writes random words all over its own memory until it is killed. */
static void
scribble(struct attached *attached)
{
	uint64_t *words = attached->mapping.own;
	const uint32_t n = (uint32_t)(attached->mapping.own_bytes / sizeof(*words));

	for (uint64_t i = 0;; i++) {
		const uint64_t random = rng_at(1, i);
		_Atomic uint64_t *word = (_Atomic uint64_t *)(void *)&words[rng_below(random, n)];

		/* Often in the first lines: there it hurts. */
		if (i % 2 == 0)
			word = (_Atomic uint64_t *)(void *)&words[i / 2 % 64];
		atomic_store_explicit(word, random >> (i % 64), memory_order_relaxed);
	}
}

/* Nobody but its own packets has to suffer. */
static void
scribbling_worker_spoils_nobodys_books_but_its_own(void **state)
{
	struct world *world = world_create();
	const pid_t pid = child_start(world, 0, scribble);
	uint32_t n_harmed;

	(void)state;
	/* Until it is at it. */
	while (weir_pool_worker_pulse(world->pool, 0).beats == 0)
		sched_yield();
	for (uint32_t round = 0; round < 2000; round++) {
		struct weir_packet packets[32];
		struct weir_verdict verdicts[32];

		/* The scribbler's lane may be full: what is for it then is dropped. */
		world_send(world, 6);
		for (weir_worker_id id = 1; id < N_WORKERS; id++) {
			struct weir_worker *worker = weir_pool_worker(world->pool, id);
			const uint32_t n = weir_take(worker, packets, 32);

			assert_int_equal(n, 2);
			for (uint32_t i = 0; i < n; i++)
				verdicts[i] = weir_verdict_tx(&packets[i], 0);
			weir_complete(worker, verdicts, n);
		}
		weir_harvest(world->dispatcher);
		(void)weir_pool_worker_pulse(world->pool, 0);
		world_check_ledger(world);
	}
	child_kill(pid);
	n_harmed =
		weir_reclaim(world->dispatcher, 0, WEIR_REASON_CRASH_INFLIGHT, WEIR_RECLAIM_GONE);
	assert_true(n_harmed <= 64);
	world_check_ledger(world);
	assert_int_equal(world->n_ended, world->n_sent);
	for (weir_worker_id id = 1; id < N_WORKERS; id++) {
		assert_int_equal(world->n_tx[id], 4000);
		assert_int_equal(world->n_dropped[id], 0);
	}
	world_destroy(world);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_take_work_and_give_back_where_they_have_mapped),
		cmocka_unit_test(kernel_refuses_whoever_would_write_lanes),
		cmocka_unit_test(kernel_refuses_whoever_would_change_sizes_or_seals),
		cmocka_unit_test(files_are_told_of_workers_of_shared_pools_only),
		cmocka_unit_test(scribbling_worker_spoils_nobodys_books_but_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
