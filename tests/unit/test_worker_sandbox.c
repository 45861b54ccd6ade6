/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker process has given up, each seen from where it counts: by what the kernel says of
 * the process, and by what the process cannot do any more.
 */
#include "test.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox.h"

#define OTHER_ID 65534 /* nobody, nogroup */
#define PAGE_BYTES ((size_t)4096)

/* A child in the sandbox. */
struct inmate {
	pid_t pid;
	int told;  /* what it says */
	int leave; /* closed: it ends */
};

static struct sandbox
sandbox_whole(void)
{
	return (struct sandbox) {
		.changes_user = geteuid() == 0,
		.uid = OTHER_ID,
		.gid = OTHER_ID,
		.filters_calls = true,
	};
}

/*
 * Starts a child that enters the sandbox, does `function`, tells its result, and stays until it may
 * leave.
 */
static struct inmate
inmate_start(const struct sandbox *sandbox, int (*function)(void))
{
	struct inmate inmate;
	int tell[2];
	int leave[2];

	assert_int_equal(pipe(tell), 0);
	assert_int_equal(pipe(leave), 0);
	inmate.pid = fork();
	assert_true(inmate.pid >= 0);
	if (inmate.pid == 0) {
		char reason[128] = "";
		int result = sandbox_enter(sandbox, reason, sizeof(reason));
		char byte;

		if (result == 0 && function)
			result = function();
		close(leave[1]);
		if (write(tell[1], &result, sizeof(result)) != sizeof(result) ||
			read(leave[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(tell[1]);
	close(leave[0]);
	inmate.told = tell[0];
	inmate.leave = leave[1];
	return inmate;
}

/* What it tells; once. */
static int
inmate_result(const struct inmate *inmate)
{
	int result = -1;

	assert_int_equal(read(inmate->told, &result, sizeof(result)), sizeof(result));
	return result;
}

static void
inmate_end(const struct inmate *inmate)
{
	int status;

	close(inmate->told);
	close(inmate->leave);
	assert_int_equal(waitpid(inmate->pid, &status, 0), inmate->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A line of what the kernel says of a process, behind its name and without the blanks around it. */
static void
proc_read(pid_t pid, const char *file_name, const char *field, char value[128])
{
	const size_t length = strlen(field);
	char path[64];
	char line[256];
	FILE *file;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file_name);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, field, length) != 0 || !strchr(": ", line[length]))
			continue;
		snprintf(value, 128, "%.127s", line + length + strspn(line + length, ":\t "));
		value[strcspn(value, "\n")] = '\0';
		while (value[0] && value[strlen(value) - 1] == ' ')
			value[strlen(value) - 1] = '\0';
	}
	fclose(file);
}

static void
assert_status(const struct inmate *inmate, const char *field, const char *expected)
{
	char value[128];

	proc_read(inmate->pid, "status", field, value);
	assert_string_equal(value, expected);
}

static void
it_is_nobody_without_groups_or_capabilities(void **state)
{
	const struct sandbox sandbox = sandbox_whole();
	const gid_t groups[] = { 0, 4, 20 };
	struct inmate inmate;

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root to become another user: not seen here\n");
		skip();
	}
	assert_int_equal(setgroups(3, groups), 0);
	inmate = inmate_start(&sandbox, NULL);
	assert_int_equal(inmate_result(&inmate), 0);
	assert_status(&inmate, "Uid", "65534\t65534\t65534\t65534");
	assert_status(&inmate, "Gid", "65534\t65534\t65534\t65534");
	assert_status(&inmate, "Groups", "");
	assert_status(&inmate, "CapBnd", "0000000000000000");
	inmate_end(&inmate);
}

/* Whoever starts it. */
static void
it_has_no_capability_and_never_gets_any(void **state)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapAmb" };
	const struct sandbox sandbox = sandbox_whole();
	const struct inmate inmate = inmate_start(&sandbox, NULL);

	(void)state;
	assert_int_equal(inmate_result(&inmate), 0);
	for (size_t i = 0; i < ARRAY_LENGTH(sets); i++)
		assert_status(&inmate, sets[i], "0000000000000000");
	assert_status(&inmate, "NoNewPrivs", "1");
	assert_status(&inmate, "Seccomp", "2");
	inmate_end(&inmate);
}

static void
without_the_filter_the_rest_is_given_up_all_the_same(void **state)
{
	struct sandbox sandbox = sandbox_whole();
	struct inmate inmate;

	(void)state;
	sandbox.filters_calls = false;
	inmate = inmate_start(&sandbox, NULL);
	assert_int_equal(inmate_result(&inmate), 0);
	assert_status(&inmate, "CapEff", "0000000000000000");
	assert_status(&inmate, "NoNewPrivs", "1");
	assert_status(&inmate, "Seccomp", "0");
	inmate_end(&inmate);
}

static void
it_may_have_no_core_no_child_and_few_files(void **state)
{
	const struct sandbox sandbox = sandbox_whole();
	const struct inmate inmate = inmate_start(&sandbox, NULL);
	char value[128];

	(void)state;
	assert_int_equal(inmate_result(&inmate), 0);
	proc_read(inmate.pid, "limits", "Max core file size", value);
	assert_int_equal(strncmp(value, "0 ", 2), 0);
	proc_read(inmate.pid, "limits", "Max processes", value);
	assert_int_equal(strncmp(value, "0 ", 2), 0);
	proc_read(inmate.pid, "limits", "Max open files", value);
	assert_int_equal(strncmp(value, "16 ", 3), 0);
	inmate_end(&inmate);
}

static int
dumpable_read(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}

/* One that changes its user would not be anyhow. */
static void
one_that_keeps_its_user_is_not_to_be_dumped_either(void **state)
{
	const struct sandbox sandbox = { 0 };
	const struct inmate inmate = inmate_start(&sandbox, dumpable_read);

	(void)state;
	assert_int_equal(dumpable_read(), 1);
	assert_int_equal(inmate_result(&inmate), 0);
	inmate_end(&inmate);
}

/* ---- what it cannot do ---- */

/* Each returns what the call returned; by syscall(2), lest the library do something else first. */
static long
clone_try(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static long
clone3_try(void)
{
	const uint64_t arguments[8] = { [4] = SIGCHLD };

	return syscall(SYS_clone3, arguments, sizeof(arguments));
}

static long
execve_try(void)
{
	char *words[] = { (char *)(uintptr_t) "true", NULL };

	return syscall(SYS_execve, "/bin/true", words, words);
}

static long
openat_try(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
}

static long
socket_try(void)
{
	return syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
}

static long
memfd_try(void)
{
	return syscall(SYS_memfd_create, "x", 0);
}

static long
ptrace_try(void)
{
	return syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

static long
read_of_another_try(void)
{
	return syscall(SYS_process_vm_readv, getpid(), NULL, 0L, NULL, 0L, 0L);
}

static long
kill_try(void)
{
	return syscall(SYS_kill, 0, 0);
}

static long
tgkill_of_another_try(void)
{
	return syscall(SYS_tgkill, 1, 1, 0);
}

static long
setuid_try(void)
{
	return syscall(SYS_setresuid, -1, -1, -1);
}

static long
prctl_try(void)
{
	return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long
io_uring_try(void)
{
	return syscall(425 /* io_uring_setup */, 0, NULL);
}

static long
code_map_try(void)
{
	return syscall(SYS_mmap, NULL, PAGE_BYTES, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
}

static long
file_map_try(void)
{
	return syscall(SYS_mmap, NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, 0L, 0L);
}

static long
code_make_try(void)
{
	const long page = syscall(SYS_mmap, NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);

	return syscall(SYS_mprotect, page, PAGE_BYTES, PROT_READ | PROT_EXEC);
}

static long
pages_remove_try(void)
{
	const long page = syscall(SYS_mmap, NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1L, 0L);

	return syscall(SYS_madvise, page, PAGE_BYTES, MADV_REMOVE);
}

static long
fcntl_try(void)
{
	return syscall(SYS_fcntl, 1, F_DUPFD, 0);
}

static const struct {
	const char *name;
	long (*try_it)(void);
} forbidden[] = {
	{ "clone", clone_try },
	{ "clone3", clone3_try },
	{ "execve", execve_try },
	{ "openat", openat_try },
	{ "socket", socket_try },
	{ "memfd_create", memfd_try },
	{ "ptrace", ptrace_try },
	{ "process_vm_readv", read_of_another_try },
	{ "kill", kill_try },
	{ "tgkill of another", tgkill_of_another_try },
	{ "setresuid", setuid_try },
	{ "prctl", prctl_try },
	{ "io_uring_setup", io_uring_try },
	{ "mmap of code", code_map_try },
	{ "mmap of a file", file_map_try },
	{ "mprotect to code", code_make_try },
	{ "madvise that punches holes", pages_remove_try },
	{ "fcntl", fcntl_try },
};

/* Returns 0, or the number of the first that did not fail with EPERM, from 1 on. */
static int
forbidden_try_all(void)
{
	for (size_t i = 0; i < ARRAY_LENGTH(forbidden); i++) {
		errno = 0;
		if (forbidden[i].try_it() != -1 || errno != EPERM)
			return (int)i + 1;
	}
	return 0;
}

static void
it_cannot_fork_open_connect_trace_signal_or_make_code(void **state)
{
	const struct sandbox sandbox = sandbox_whole();
	const struct inmate inmate = inmate_start(&sandbox, forbidden_try_all);
	const int result = inmate_result(&inmate);

	(void)state;
	if (result != 0)
		fail_msg("%s is allowed", result > 0 ? forbidden[result - 1].name : "nothing; it");
	inmate_end(&inmate);
}

/* The calls that are tried do work where nothing forbids them: else nothing would be proven. */
static void
most_of_that_works_outside(void **state)
{
	const struct {
		long (*try_it)(void);
	} harmless[] = { { openat_try }, { socket_try }, { memfd_try }, { read_of_another_try },
		{ setuid_try }, { code_map_try }, { code_make_try }, { pages_remove_try },
		{ fcntl_try } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(harmless); i++)
		assert_true(harmless[i].try_it() >= 0);
}

static void
nobody_of_its_user_can_trace_it_or_read_its_memory(void **state)
{
	struct sandbox sandbox = sandbox_whole();
	char path[64];
	pid_t tracer;
	struct inmate inmate;
	int status;

	(void)state;
	inmate = inmate_start(&sandbox, NULL);
	assert_int_equal(inmate_result(&inmate), 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)inmate.pid);
	tracer = fork();
	assert_true(tracer >= 0);
	if (tracer == 0) {
		if (geteuid() == 0 &&
			(setgroups(0, NULL) < 0 || setresgid(OTHER_ID, OTHER_ID, OTHER_ID) < 0 ||
				setresuid(OTHER_ID, OTHER_ID, OTHER_ID) < 0))
			_exit(3);
		if (ptrace(PTRACE_ATTACH, inmate.pid, 0, 0) == 0 || errno != EPERM)
			_exit(1);
		_exit(open(path, O_RDONLY) < 0 ? 0 : 2);
	}
	assert_int_equal(waitpid(tracer, &status, 0), tracer);
	assert_int_equal(status, 0);
	inmate_end(&inmate);
}

/* ---- what it still can ---- */

/* Returns 0, or a number that tells what failed. */
static int
work_as_handlers_do(void)
{
	const struct timespec moment = { .tv_nsec = 1000 };
	struct pollfd none = { .fd = STDIN_FILENO, .events = 0 };
	struct timespec now;
	char *memory = malloc(1 << 20);
	char byte;

	if (!memory)
		return 1;
	memset(memory, 1, 1 << 20);
	memory = realloc(memory, 16 << 20);
	if (!memory)
		return 2;
	free(memory);
	if (clock_gettime(CLOCK_MONOTONIC, &now) < 0 ||
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL) != 0)
		return 3;
	if (sched_yield() < 0 || poll(&none, 1, 0) < 0)
		return 4;
	return syscall(SYS_getrandom, &byte, 1, 0) == 1 ? 0 : 5;
}

static void
it_can_still_wait_and_use_memory(void **state)
{
	const struct sandbox sandbox = sandbox_whole();
	const struct inmate inmate = inmate_start(&sandbox, work_as_handlers_do);

	(void)state;
	assert_int_equal(inmate_result(&inmate), 0);
	inmate_end(&inmate);
}

static int abort_in_it(void) __attribute__((noreturn));

static int
abort_in_it(void)
{
	abort();
}

static void
handler_that_aborts_ends_by_that_signal_without_a_core(void **state)
{
	const struct sandbox sandbox = sandbox_whole();
	const struct inmate inmate = inmate_start(&sandbox, abort_in_it);
	int status;

	(void)state;
	assert_int_equal(waitpid(inmate.pid, &status, 0), inmate.pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_false(WCOREDUMP(status));
	close(inmate.told);
	close(inmate.leave);
}

static void
every_file_but_the_standard_ones_and_the_socket_is_closed(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const int kept = fcntl(STDIN_FILENO, F_DUPFD, 20);

		for (int fd = 3; fd < 60; fd++)
			if (fd != kept && dup2(STDIN_FILENO, fd) < 0)
				_exit(1);
		sandbox_close_files(kept);
		for (int fd = 0; fd < 100; fd++)
			if ((fcntl(fd, F_GETFD) >= 0) != (fd < 3 || fd == kept))
				_exit(2);
		sandbox_close_files(STDERR_FILENO);
		for (int fd = 0; fd < 100; fd++)
			if ((fcntl(fd, F_GETFD) >= 0) != (fd < 3))
				_exit(3);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A supervised one, which tells that it is in and then stays longer than anybody waits. */
static _Noreturn void
supervised_run(int tell)
{
	struct sandbox sandbox = sandbox_whole();
	char reason[128];
	int result;

	sandbox.dies_with_parent = true;
	result = sandbox_enter(&sandbox, reason, sizeof(reason));
	if (write(tell, &result, sizeof(result)) != sizeof(result))
		_exit(1);
	poll(NULL, 0, 60000);
	_exit(1);
}

/* Whatever it does at that moment. */
static void
supervised_one_ends_with_its_parent(void **state)
{
	int result = -1;
	int tell[2];
	pid_t parent;
	char byte;

	(void)state;
	assert_int_equal(pipe(tell), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		const pid_t worker = fork();

		if (worker == 0)
			supervised_run(tell[1]);
		pause();
	}
	close(tell[1]);
	assert_int_equal(read(tell[0], &result, sizeof(result)), sizeof(result));
	assert_int_equal(result, 0);
	/* Both have the pipe open: it ends when both have. */
	assert_int_equal(kill(parent, SIGKILL), 0);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(poll(&(struct pollfd) { .fd = tell[0], .events = POLLIN }, 1, 30000), 1);
	assert_int_equal(read(tell[0], &byte, 1), 0);
	close(tell[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_nobody_without_groups_or_capabilities),
		cmocka_unit_test(it_has_no_capability_and_never_gets_any),
		cmocka_unit_test(without_the_filter_the_rest_is_given_up_all_the_same),
		cmocka_unit_test(it_may_have_no_core_no_child_and_few_files),
		cmocka_unit_test(one_that_keeps_its_user_is_not_to_be_dumped_either),
		cmocka_unit_test(most_of_that_works_outside),
		cmocka_unit_test(it_cannot_fork_open_connect_trace_signal_or_make_code),
		cmocka_unit_test(nobody_of_its_user_can_trace_it_or_read_its_memory),
		cmocka_unit_test(it_can_still_wait_and_use_memory),
		cmocka_unit_test(handler_that_aborts_ends_by_that_signal_without_a_core),
		cmocka_unit_test(every_file_but_the_standard_ones_and_the_socket_is_closed),
		cmocka_unit_test(supervised_one_ends_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
