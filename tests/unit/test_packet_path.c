/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet path allocates nothing, locks nothing, asks no clock and calls the kernel for nothing.
 * Allocators, locks and clocks are wrapped by the linker (--wrap, see meson.build) and counted; the
 * kernel is kept out by a seccomp filter that kills the process at any system call.
 */
#include "test.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rig.h"

#define N_STEPS 400
#define PACKETS_MAX (N_STEPS * 32)

/* Calls of anything that is wrapped, since it was last set to 0. */
static uint64_t n_calls;

#define WRAP(result, name, parameters, arguments) \
	result __real_##name parameters;          \
	result __wrap_##name parameters;          \
	result __wrap_##name parameters           \
	{                                         \
		n_calls++;                        \
		return __real_##name arguments;   \
	}

WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t n, size_t bytes), (n, bytes))
WRAP(void *, realloc, (void *memory, size_t bytes), (memory, bytes))
WRAP(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
WRAP(int, posix_memalign, (void **memory, size_t alignment, size_t bytes),
	(memory, alignment, bytes))
WRAP(void, free, (void *memory), (memory))
WRAP(void *, mmap, (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
	(at, bytes, protection, flags, fd, offset))
/* What mmap is called where files may be large. */
WRAP(void *, mmap64, (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
	(at, bytes, protection, flags, fd, offset))
WRAP(int, munmap, (void *memory, size_t bytes), (memory, bytes))
WRAP(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
WRAP(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
WRAP(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
WRAP(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WRAP(int, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
WRAP(int, clock_gettime, (clockid_t clock, struct timespec *now), (clock, now))

/* One configuration of each kind of pool, with a pending change of membership. */
static struct rig *
rig_make(const struct weir_strategy *strategy, const struct weir_overflow_policy *policy,
	enum weir_depth_mode depth_mode, uint32_t n_dispatchers, enum weir_order order)
{
	struct weir_config config = rig_config(strategy->name, 5);
	struct rig *rig;

	config.fallback = rig_fallback(strategy);
	config.overflow = policy->name;
	config.depth_mode = depth_mode;
	config.n_dispatchers = n_dispatchers;
	config.order = order;
	config.sticky_ns = order == WEIR_ORDER_FLOW ? 200 : 0;
	config.lane_size = 20;
	config.hold_size = 30;
	config.chunk = strategy->flags & WEIR_STRATEGY_OWNS_FLOWS ? 1 : 1 + depth_mode * 3;
	rig_settle_policies(&config, NULL);
	rig = rig_create(&config, PACKETS_MAX);
	rig->n_buckets = 50;
	/* Adopting a snapshot is part of the packet path, making one is not. */
	assert_int_equal(weir_pool_set_state(rig->pool, 1, WEIR_WORKER_DRAINING), 0);
	return rig;
}

static void
classify_some(void)
{
	const struct weir_flow_config config = weir_flow_config_default();
	/* Ethernet, IPv4, UDP; the rest is zero. */
	uint8_t frame[64] = { [12] = 0x08, [14] = 0x45, [23] = 17, [26] = 10, [30] = 11 };
	struct weir_meta meta;

	for (uint32_t length = 0; length <= sizeof(frame); length++)
		weir_flow_classify(&config, frame, length, &meta);
}

static void
traffic_step(struct rig *rig, struct test_random *random)
{
	const uint32_t d = test_random_below(random, rig->config.n_dispatchers);
	const weir_worker_id id = (weir_worker_id)test_random_below(random, rig->config.n_workers);

	if (rig->dispatcher[d].n_refused == 0)
		rig_dispatch_from(rig, d, test_random_below(random, rig->config.burst + 1));
	else if (test_random_below(random, 2))
		rig_hold(rig, d);
	else
		rig_retry(rig, d);
	rig_work(rig, id, test_random_below(random, 40));
	rig_harvest(rig);
}

/* Everything that dispatchers and workers call. */
static void
traffic_run(struct rig *rig)
{
	struct test_random random = { .seed = 42 };
	struct weir_dispatcher *dispatcher = rig->dispatcher[0].dispatcher;

	classify_some();
	for (uint32_t i = 0; i < N_STEPS; i++)
		traffic_step(rig, &random);
	rig->dispatcher[0].n_hold_dropped += weir_hold_drop(dispatcher, WEIR_REASON_DRAIN_TIMEOUT);
	rig_work(rig, 0, UINT32_MAX);
	weir_reclaim(dispatcher, 0, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_GONE);
	rig_check(rig);
}

/* Calls `check` with a fresh rig for every combination. */
static void
for_all_pools(void (*check)(struct rig *rig))
{
	for (unsigned int s = 0; weir_strategy_at(s); s++) {
		for (unsigned int p = 0; weir_overflow_at(p); p++) {
			for (uint32_t variant = 0; variant < 8; variant++) {
				struct rig *rig = rig_make(weir_strategy_at(s), weir_overflow_at(p),
					(enum weir_depth_mode)(variant & 1), 1 + (variant >> 1 & 1),
					(enum weir_order)(variant >> 2));

				check(rig);
				/* Worker 0's lane of dispatcher 0 is closed: nobody is left
				 * who could be refused for ever. */
				assert_int_equal(weir_pool_remove(rig->pool, 0), 0);
				rig_destroy(rig);
			}
		}
	}
}

static void
count_is_zero(struct rig *rig)
{
	n_calls = 0;
	traffic_run(rig);
	assert_int_equal(n_calls, 0);
	/* The traffic was worth the look: packets were lent, and met full lanes. */
	assert_true(rig_ledger(rig).completed > 100);
	assert_true(rig_counters(rig, 0).rejected +
			    rig_counters(rig, 0).dropped[WEIR_REASON_OVERFLOW_DROP_NEW] +
			    rig_counters(rig, 0).dropped[WEIR_REASON_OVERFLOW_DROP_HEAD] >
		    0);
}

static void
packet_path_calls_no_allocator_lock_or_clock(void **state)
{
	(void)state;
	for_all_pools(count_is_zero);
}

static void
the_count_would_see_an_allocation(void **state)
{
	const struct weir_config config = rig_config("first", 1);
	struct weir_pool *pool;
	uint64_t after_create;

	(void)state;
	n_calls = 0;
	pool = weir_pool_create(&config, NULL);
	assert_non_null(pool);
	after_create = n_calls;
	/* The pool itself, a snapshot, and four areas. */
	assert_true(after_create >= 6);
	weir_pool_destroy(pool);
	assert_true(n_calls >= 2 * after_create);
}

/* Lets exit_group pass and kills at everything else. Returns whether the kernel knows how. */
static bool
kernel_keep_out(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = { .len = ARRAY_LENGTH(filter), .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

#define EXIT_NO_SECCOMP 77

/* The wait status of a child that runs `function` with the kernel kept out. */
static int
status_without_kernel(void (*function)(struct rig *rig), struct rig *rig)
{
	const pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (child == 0) {
		if (!kernel_keep_out())
			_exit(EXIT_NO_SECCOMP);
		function(rig);
		/* Not _exit: the sanitizers put their own before it, which does more. */
		syscall(SYS_exit_group, 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
call_the_kernel(struct rig *rig)
{
	(void)rig;
	getppid();
}

static void
do_nothing(struct rig *rig)
{
	(void)rig;
}

static void
kernel_is_not_called(struct rig *rig)
{
	const int status = status_without_kernel(traffic_run, rig);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
packet_path_makes_no_system_call(void **state)
{
	int status;

	(void)state;
	status = status_without_kernel(do_nothing, NULL);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_SECCOMP) {
		print_message("SKIPPED: the kernel lacks seccomp filters\n");
		skip();
	}
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	/* The filter would see one. */
	status = status_without_kernel(call_the_kernel, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	for_all_pools(kernel_is_not_called);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_count_would_see_an_allocation),
		cmocka_unit_test(packet_path_calls_no_allocator_lock_or_clock),
		cmocka_unit_test(packet_path_makes_no_system_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
