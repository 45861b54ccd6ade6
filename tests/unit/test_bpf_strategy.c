/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies that are eBPF programs: the examples (A12), what programs are told and can ask, which
 * are refused and in which words, which are compiled. No EAL.
 */
#include "test.h"

#include <elf.h>
#include <unistd.h>

#include <weir/bpf_strategy.h>
#include <weir/weir.h>

#include "bpf_elf.h"
#include "bpf_load.h"
#include "bpf_program.h"
#include "code_file.h"
#include "pick.h"

/* Where DPDK has a compiler. */
#if defined(__x86_64__) || defined(__aarch64__)
#define COMPILED "compiled"
#else
#define COMPILED "interpreted"
#endif

static const weir_worker_id ids[] = { 0, 1, 2, 3, 4 };

static void
program_path(const char *name, char *path, size_t n_bytes)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.bpf.o", name);
	code_file_path(file, path, n_bytes);
}

static struct weir_strategy *
strategy_load(const char *file)
{
	char reason[WEIR_STRATEGY_REASON_BYTES] = "";

	assert_non_null(file);
	return code_file_loaded(
		bpf_strategy_load(file, "bpf:tested", reason, sizeof(reason)), file, reason);
}

static struct weir_strategy *
program_load(const char *name)
{
	char path[512];

	program_path(name, path, sizeof(path));
	return strategy_load(path);
}

static void
assert_refused_file(const char *path, const char *expected)
{
	char reason[WEIR_STRATEGY_REASON_BYTES] = "";
	const struct weir_strategy *strategy =
		bpf_strategy_load(path, "bpf:tested", reason, sizeof(reason));

	assert_true(errno == EINVAL || errno == ENOEXEC || errno == EACCES);
	code_file_refused(strategy, path, reason, expected);
}

static void
assert_refused(const char *name, const char *expected)
{
	char path[512];

	program_path(name, path, sizeof(path));
	assert_refused_file(path, expected);
}

static void
weights_set(struct pick *pick, const uint16_t *weights)
{
	struct weir_strategy_route *route = &pick->snapshot.route[0];

	pick->strategy->release((void *)(uintptr_t)route->table);
	memcpy(pick->snapshot.weight, weights, pick->snapshot.n_routable * sizeof(weights[0]));
	route->table = pick->strategy->prepare(pick->strategy, &pick->snapshot);
	assert_non_null(route->table);
	pick->context.table = route->table;
}

/* ---- the examples ---- */

/* A12: the sources' own strategy. */
static void
warm_up_sends_100_packets_to_the_first_worker_and_then_goes_round(void **state)
{
	struct weir_strategy *strategy = strategy_load(getenv("WARM_UP_BPF"));
	struct pick *pick = pick_create_of(strategy, ids, 3);

	(void)state;
	assert_string_equal(strategy->name, "bpf:tested");
	for (uint64_t index = 0; index < 100; index++)
		assert_int_equal(pick_at(pick, index), 0);
	assert_picks(pick, 100, 1, 2, 0, 1, 2, 0);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

/* A12: weights [2,1,1], 8 packets. */
static void
weighted_gives_each_worker_as_many_in_a_row_as_its_weight(void **state)
{
	static const uint16_t expected[] = { 0, 0, 1, 2, 0, 0, 1, 2 };
	struct weir_strategy *strategy = strategy_load(getenv("WEIGHTED_BPF"));
	struct pick *pick = pick_create_of(strategy, ids, 3);

	(void)state;
	weights_set(pick, (const uint16_t[]) { 2, 1, 1 });
	pick_burst(pick, 8);
	assert_memory_equal(pick->out, expected, sizeof(expected));
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

/* ---- helpers and context ---- */

static void
slots_are_those_of_any_64_bit_number(void **state)
{
	struct test_random random = test_random_start("slots");
	struct weir_strategy *strategy = program_load("helpers");
	struct pick *pick = pick_create_of(strategy, ids, 5);
	static const uint16_t weights[] = { 100, 7, 1, 33, 2 };

	(void)state;
	weights_set(pick, weights);
	for (uint32_t round = 0; round < 10000; round++) {
		const uint64_t number = test_random_next(&random) >> test_random_below(&random, 64);
		uint64_t left = number % 143;
		uint16_t position = 0;

		while (left >= weights[position])
			left -= weights[position++];
		pick->meta[0].hash = number;
		assert_int_equal(pick_at(pick, 5), position);
	}
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

static void
depths_can_be_asked_for_within_the_pool(void **state)
{
	struct weir_strategy *strategy = program_load("helpers");
	struct pick *pick = pick_create_of(strategy, ids, 5);

	(void)state;
	pick_freeze(pick, (const uint32_t[]) { 9, 3, 9, 9, 9 });
	pick->depth[5] = 2;
	assert_picks(pick, 1, 3, 1);
	/* The same draw for the same packet, and not always the same one. */
	assert_picks(pick, 4, 1);
	assert_int_equal(pick_at(pick, 3), pick_at(pick, 3));
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

/* A burst of programs that call weir_shallowest picks what the strategy itself picks. */
static void
weir_shallowest_picks_as_the_strategy_does(void **state)
{
	struct test_random random = test_random_start("weir_shallowest");
	struct weir_strategy *strategy = program_load("helpers");

	(void)state;
	for (uint32_t round = 0; round < 300; round++) {
		const uint32_t n = test_random_between(&random, 1, 5);
		struct pick *ours = pick_create_of(strategy, ids, n);
		struct pick *theirs = pick_create("shallowest", n);

		for (uint32_t i = 0; i < n; i++) {
			ours->depth[i] = theirs->depth[i] = test_random_below(&random, 4);
			ours->room[i] = theirs->room[i] = test_random_below(&random, 30);
		}
		/* Every index is one at which the program asks that helper. */
		pick_set_stride(ours, 8);
		pick_set_stride(theirs, 8);
		pick_burst(ours, 32);
		pick_burst(theirs, 32);
		assert_memory_equal(ours->out, theirs->out, 32 * sizeof(ours->out[0]));
		assert_memory_equal(ours->depth, theirs->depth, sizeof(ours->depth));
		assert_int_equal(ours->context.depth_visits, theirs->context.depth_visits);
		pick_destroy(ours);
		pick_destroy(theirs);
	}
	weir_strategy_unload(strategy);
}

static void
a_program_is_told_of_the_packet_and_the_pool(void **state)
{
	struct weir_strategy *strategy = program_load("tells");
	struct pick *pick = pick_create_of(strategy, ids, 5);

	(void)state;
	pick->meta[0] = (struct weir_meta) {
		.hash = 253, .length = 64, .bucket = 13, .port = 1, .class_id = 62
	};
	pick->context.now_ns = 1003;
	pick->context.seed = 104;
	assert_picks(pick, 8, 2, 4, 3, 1, 2, 1, 3, 4);
	pick_set_stride(pick, 3);
	assert_int_equal(pick_at(pick, 5), 3);
	/* Each pick by its own packet: stride packets further. */
	pick_set_stride(pick, 8);
	for (uint32_t i = 0; i < 4; i++)
		pick->meta[i * 8].hash = i;
	pick_set_index(pick, 0);
	pick_burst(pick, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pick->out[i], i);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

static void
what_a_program_writes_is_gone_with_the_packet(void **state)
{
	struct weir_strategy *strategy = program_load("writes_context");
	struct pick *pick = pick_create_of(strategy, ids, 5);

	(void)state;
	pick_burst(pick, 12);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(pick->out[i], i % 5);
	assert_int_equal(weir_strategy_strays(strategy), 0);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

static void
a_program_in_pick_or_none_may_find_none(void **state)
{
	struct weir_strategy *strategy = program_load("none");
	struct pick *pick = pick_create_of(strategy, ids, 5);

	(void)state;
	assert_true(strategy->flags & WEIR_STRATEGY_FINDS_NONE);
	assert_int_equal(strategy->none_reason, WEIR_REASON_NO_ROUTE);
	strategy->pick_burst(&pick->context, pick->meta, 4, pick->out);
	assert_int_equal(pick->out[0], 0);
	assert_int_equal(pick->out[1], WEIR_PICK_NONE);
	assert_int_equal(pick->out[2], 2);
	assert_int_equal(pick->out[3], WEIR_PICK_NONE);
	assert_int_equal(weir_strategy_strays(strategy), 0);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

/* ---- what is refused ---- */

static void
programs_that_rte_bpf_does_not_take_are_refused_in_its_words(void **state)
{
	(void)state;
	assert_refused("loop", "loops detected");
	assert_refused("unknown_helper", "weir_unknown");
	assert_refused("beside_context", "memory boundary violation");
	assert_refused("stack_for_context", "memory boundary violation");
}

static void
a_program_that_takes_too_long_to_verify_is_refused(void **state)
{
	(void)state;
	assert_refused("deep_branches", "took longer than 2 s in the trial");
}

static void
a_program_that_picks_out_of_range_is_refused(void **state)
{
	(void)state;
	assert_refused("seven", "picked position 7 of 3 workers");
}

static void
files_without_a_program_are_refused(void **state)
{
	(void)state;
	assert_refused("no_section", "has no section weir/pick or weir/pick_or_none");
	assert_refused("crowded", "has both sections");
	assert_refused_file("/nonexistent/x.o", "No such file");
	assert_refused_file("/dev/null", "no regular file");
	assert_refused_file(getenv("WARM_UP_SO"), "is no eBPF object file");
}

/* Reads a mutilated object, by a file. Returns what bpf_object_read does. */
static int
object_read_bytes(const uint8_t *bytes, size_t n, struct bpf_object *object)
{
	char reason[WEIR_STRATEGY_REASON_BYTES] = "";
	char path[] = "/tmp/weir-test-XXXXXX";
	const int fd = mkstemp(path);
	int rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
	rc = bpf_object_read(object, path, reason, sizeof(reason));
	unlink(path);
	assert_true(rc == 0 || reason[0]);
	return rc;
}

/* Under the address sanitizer, any read outside of the file is found. */
static void
cut_and_mutilated_objects_are_read_within_their_bounds(void **state)
{
	struct test_random random = test_random_start("mutilated objects");
	FILE *file = fopen(getenv("WEIGHTED_BPF"), "r");
	uint8_t bytes[8192], changed[8192];
	struct bpf_object object;
	size_t n;

	(void)state;
	assert_non_null(file);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_in_range(n, sizeof(Elf64_Ehdr), sizeof(bytes) - 1);
	assert_int_equal(object_read_bytes(bytes, n, &object), 0);
	assert_int_equal(object.n_instructions, 3);
	assert_false(object.tests_bits);
	for (size_t cut = 0; cut < sizeof(Elf64_Ehdr); cut++)
		assert_int_equal(object_read_bytes(bytes, cut, &object), -ENOEXEC);
	for (uint32_t round = 0; round < 3000; round++) {
		memcpy(changed, bytes, n);
		for (uint32_t i = test_random_between(&random, 1, 4); i > 0; i--)
			changed[test_random_below(&random, (uint32_t)n)] =
				(uint8_t)test_random_next(&random);
		object_read_bytes(changed, n - test_random_below(&random, 64), &object);
	}
}

/* ---- compiled and interpreted ---- */

static void
programs_are_compiled_where_that_is_safe(void **state)
{
	struct weir_strategy *strategy = program_load("helpers");

	(void)state;
	assert_non_null(strstr(strategy->help, COMPILED));
	weir_strategy_unload(strategy);
}

static void
a_program_that_tests_bits_is_interpreted(void **state)
{
	struct weir_strategy *strategy = program_load("jset");
	struct pick *pick = pick_create_of(strategy, ids, 5);

	(void)state;
	assert_non_null(strstr(strategy->help, "interpreted, for its bit tests"));
	for (uint32_t i = 0; i < 10; i++) {
		pick->meta[0].hash = i;
		assert_int_equal(pick_at(pick, 0), i & 1);
	}
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warm_up_sends_100_packets_to_the_first_worker_and_then_goes_round),
		cmocka_unit_test(weighted_gives_each_worker_as_many_in_a_row_as_its_weight),
		cmocka_unit_test(slots_are_those_of_any_64_bit_number),
		cmocka_unit_test(depths_can_be_asked_for_within_the_pool),
		cmocka_unit_test(weir_shallowest_picks_as_the_strategy_does),
		cmocka_unit_test(a_program_is_told_of_the_packet_and_the_pool),
		cmocka_unit_test(what_a_program_writes_is_gone_with_the_packet),
		cmocka_unit_test(a_program_in_pick_or_none_may_find_none),
		cmocka_unit_test(programs_that_rte_bpf_does_not_take_are_refused_in_its_words),
		cmocka_unit_test(a_program_that_takes_too_long_to_verify_is_refused),
		cmocka_unit_test(a_program_that_picks_out_of_range_is_refused),
		cmocka_unit_test(files_without_a_program_are_refused),
		cmocka_unit_test(cut_and_mutilated_objects_are_read_within_their_bounds),
		cmocka_unit_test(programs_are_compiled_where_that_is_safe),
		cmocka_unit_test(a_program_that_tests_bits_is_interpreted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
