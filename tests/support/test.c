/* SPDX-License-Identifier: BSD-3-Clause */
#include "test.h"

#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NDEBUG
#define ASSERTIONS_ARE_ON false
#else
#define ASSERTIONS_ARE_ON true
#endif

struct test_random
test_random_start(const char *name)
{
	const char *wanted = getenv("WEIR_TEST_SEED");
	struct test_random random = { 0 };

	if (wanted)
		random.seed = strtoull(wanted, NULL, 0);
	else
		assert_int_equal(
			getrandom(&random.seed, sizeof(random.seed), 0), sizeof(random.seed));
	print_message("%s: WEIR_TEST_SEED=0x%016llx\n", name, (unsigned long long)random.seed);
	return random;
}

/* The child: leaves by _exit, so that it flushes nothing of the parent's and reports no leaks. */
static void
child_run(void (*function)(void *context), void *context)
{
	const struct rlimit no_core = { 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	close(STDERR_FILENO);
	/* cmocka and the sanitizers catch SIGABRT; here it must end the process. */
	signal(SIGABRT, SIG_DFL);
	function(context);
	_exit(0);
}

void
test_random_words(struct test_random *random, void *memory, size_t n_bytes)
{
	for (size_t at = 0; at < n_bytes; at += sizeof(uint64_t)) {
		const uint64_t word = test_random_next(random) >> test_random_below(random, 64);
		const size_t left = n_bytes - at;

		memcpy((char *)memory + at, &word, left < sizeof(word) ? left : sizeof(word));
	}
}

bool
test_aborts(void (*function)(void *context), void *context)
{
	const pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (child == 0)
		child_run(function, context);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

void
test_needs_assertions(void)
{
	if (!ASSERTIONS_ARE_ON) {
		print_message("SKIPPED: the library is built without assertions\n");
		skip();
	}
}
