/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies from shared objects: the examples (A12), what is refused and in which words, and
 * what becomes of answers that are none.
 */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/weir.h>

#include "code_file.h"
#include "pick.h"

#define NEVER UINT64_C(1234567891011) /* plugins' index for what they do after the trial */

static void
plugin_path(const char *name, char *path, size_t n_bytes)
{
	char file[64];

	snprintf(file, sizeof(file), "%s.so", name);
	code_file_path(file, path, n_bytes);
}

static struct weir_strategy *
strategy_load(const char *file)
{
	char reason[WEIR_STRATEGY_REASON_BYTES] = "";

	return code_file_loaded(
		weir_strategy_load(file, NULL, reason, sizeof(reason)), file, reason);
}

static struct weir_strategy *
plugin_load(const char *name)
{
	char path[512];

	plugin_path(name, path, sizeof(path));
	return strategy_load(path);
}

static struct weir_strategy *
example_load(const char *variable)
{
	assert_non_null(getenv(variable));
	return strategy_load(getenv(variable));
}

static void
assert_refused_file(const char *file, int expected_errno, const char *expected)
{
	char reason[WEIR_STRATEGY_REASON_BYTES] = "";
	const struct weir_strategy *strategy;

	errno = 0;
	strategy = weir_strategy_load(file, NULL, reason, sizeof(reason));
	assert_int_equal(errno, expected_errno);
	code_file_refused(strategy, file, reason, expected);
}

static void
assert_refused(const char *name, int expected_errno, const char *expected)
{
	char path[512];

	plugin_path(name, path, sizeof(path));
	assert_refused_file(path, expected_errno, expected);
}

/* ---- the examples ---- */

/* A12: the sources' own strategy. */
static void
warm_up_sends_100_packets_to_the_first_worker_and_then_goes_round(void **state)
{
	struct weir_strategy *strategy = example_load("WARM_UP_SO");
	struct pick *pick = pick_create_of(strategy, (const weir_worker_id[]) { 0, 1, 2 }, 3);

	(void)state;
	for (uint64_t index = 0; index < 100; index++)
		assert_int_equal(pick_at(pick, index), 0);
	/* Round-robin goes by the index, which counted all along: 100 mod 3 = 1. */
	assert_picks(pick, 100, 1, 2, 0, 1, 2, 0);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

/* Gives a worker another weight, and the strategy a table by it. */
static void
weight_set(struct pick *pick, uint32_t position, uint16_t weight)
{
	struct weir_strategy_route *route = &pick->snapshot.route[0];

	pick->strategy->release((void *)(uintptr_t)route->table);
	pick->snapshot.weight[position] = weight;
	route->table = pick->strategy->prepare(pick->strategy, &pick->snapshot);
	assert_non_null(route->table);
	pick->context.table = route->table;
}

/* A12: weights [2,1,1], 8 packets. */
static void
weighted_gives_each_worker_as_many_in_a_row_as_its_weight(void **state)
{
	static const uint16_t expected[] = { 0, 0, 1, 2, 0, 0, 1, 2 };
	struct weir_strategy *strategy = example_load("WEIGHTED_SO");
	struct pick *pick = pick_create_of(strategy, (const weir_worker_id[]) { 0, 1, 2 }, 3);

	(void)state;
	weight_set(pick, 0, 2);
	pick_set_index(pick, 0);
	pick_burst(pick, 8);
	assert_memory_equal(pick->out, expected, sizeof(expected));
	assert_picks(pick, 8, 0, 0, 1, 2, 0, 0, 1, 2);
	/* By chunks of three packets: slots 0, 3, 6 mod 4 = 2. */
	pick_set_stride(pick, 3);
	pick_set_index(pick, 0);
	pick_burst(pick, 3);
	assert_int_equal(pick->out[0], 0);
	assert_int_equal(pick->out[1], 2);
	assert_int_equal(pick->out[2], 1);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

/* A12: a pool goes by it, under the name that it was given. */
static void
a_pool_finds_a_loaded_strategy_by_the_name_it_was_given(void **state)
{
	char reason[WEIR_STRATEGY_REASON_BYTES];
	struct weir_strategy *strategy =
		weir_strategy_load(getenv("WARM_UP_SO"), "custom:mine.so", reason, sizeof(reason));
	struct weir_config config = weir_config_default();
	struct weir_config_error error;
	const struct weir_strategy *strategies[1];
	struct weir_pool *pool;

	(void)state;
	assert_non_null(strategy);
	assert_string_equal(strategy->name, "custom:mine.so");
	config.strategy = "custom:mine.so";
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	strategies[0] = strategy;
	config.strategies = strategies;
	config.n_strategies = 1;
	pool = weir_pool_create(&config, &error);
	assert_non_null(pool);
	weir_pool_destroy(pool);
	weir_strategy_unload(strategy);
}

/* ---- what is refused ---- */

static void
files_that_are_no_plugins_are_refused(void **state)
{
	char expected[128];

	(void)state;
	assert_refused_file("/nonexistent/x.so", EACCES, "No such file");
	assert_refused_file("/dev/null", EACCES, "no regular file");
	assert_refused_file("/tmp", EACCES, "no regular file");
	assert_refused_file("/etc/passwd", ENOEXEC, "/etc/passwd");
	assert_refused("no_symbol", ENOEXEC, "exports no weir_strategy_plugin");
	assert_refused("magic", ENOEXEC, "WEIR_STRATEGY_PLUGIN");
	assert_refused("no_strategy", EINVAL, "exports no strategy");
	snprintf(expected, sizeof(expected), "version 99 of the strategy ABI, this weir has %d",
		WEIR_STRATEGY_ABI_VERSION);
	assert_refused("version", ENOEXEC, expected);
}

static void
plugins_of_other_sizes_are_refused_with_both(void **state)
{
	char expected[128];

	(void)state;
	assert_refused("meta_bytes", ENOEXEC, "struct weir_meta has 24 bytes, this weir's 32");
	snprintf(expected, sizeof(expected), "weir_pick_context has 8 bytes, this weir's %zu:",
		sizeof(struct weir_pick_context));
	assert_refused("context_bytes", ENOEXEC, expected);
	snprintf(expected, sizeof(expected),
		"weir_snapshot has 1 bytes, this weir's %zu:", sizeof(struct weir_snapshot));
	assert_refused("snapshot_bytes", ENOEXEC, expected);
	snprintf(expected, sizeof(expected),
		"weir_strategy has 0 bytes, this weir's %zu:", sizeof(struct weir_strategy));
	assert_refused("strategy_bytes", ENOEXEC, expected);
}

static void
strategies_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	assert_refused("no_pick", EINVAL, "has no pick_burst");
	assert_refused("no_release", EINVAL, "has prepare without release");
	assert_refused("no_prepare", EINVAL, "has release without prepare");
	assert_refused("flags", EINVAL, "unknown bits: 0x80000000");
	assert_refused("shards", EINVAL, "SHARDS without ALL_TARGETS");
	assert_refused("blind_depth", EINVAL, "has READS_CLASS_DEPTH without READS_META");
	assert_refused("claims", EINVAL, "has CLAIMS without READS_CLASS_DEPTH");
	assert_refused("all_targets", EINVAL, "has ALL_TARGETS and pick_burst");
	assert_refused("no_reason", EINVAL, "has FINDS_NONE, but no none_reason");
	assert_refused("bad_reason", EINVAL, "is no reason");
	assert_refused("state", EINVAL, "bytes of state");
	assert_refused("no_name", EINVAL, "has no name");
	assert_refused("bad_name", EINVAL, "its name 'Tested'");
	assert_refused("no_help", EINVAL, "has no help");
	assert_refused("two_lines", EINVAL, "not one line");
}

static void
strategies_that_fail_the_trial_are_refused(void **state)
{
	(void)state;
	assert_refused("crash", EINVAL, "crashed with signal 11 in the trial");
	assert_refused("aborts", EINVAL, "crashed with signal 6 in the trial");
	assert_refused("exits", EINVAL, "ended the process in the trial, status 0");
	assert_refused("loop", EINVAL, "took longer than 2 s in the trial");
	assert_refused("seven", EINVAL, "picked position 7 of 3 workers");
	assert_refused("none", EINVAL, "picked no worker of 1, without FINDS_NONE");
	assert_refused("too_long", EINVAL, "wrote more answers");
	assert_refused("null", EINVAL, "prepares no table for 1 workers");
}

static void
a_file_that_everybody_may_write_is_refused(void **state)
{
	char path[] = "/tmp/weir-test-XXXXXX";
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0666), 0);
	assert_refused_file(path, EACCES, "everybody may write it");
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_refused_file(path, ENOEXEC, "file too short");
	close(fd);
	unlink(path);
}

static void
a_reason_is_cut_to_its_room_and_may_be_left_out(void **state)
{
	char reason[8];

	(void)state;
	assert_null(weir_strategy_load("/nonexistent/x.so", NULL, reason, sizeof(reason)));
	assert_string_equal(reason, "No such");
	assert_null(weir_strategy_load("/nonexistent/x.so", NULL, NULL, 0));
}

/* ---- at run time ---- */

static void
a_stray_answer_becomes_the_worker_of_the_rotation_and_is_counted(void **state)
{
	struct weir_strategy *strategy = plugin_load("late");
	struct pick *pick = pick_create_of(strategy, (const weir_worker_id[]) { 0, 1, 2 }, 3);
	const uint32_t rotation = NEVER % 3;

	(void)state;
	pick_burst(pick, 5);
	assert_int_equal(weir_strategy_strays(strategy), 0);
	pick_set_index(pick, NEVER);
	strategy->pick_burst(&pick->context, pick->meta, 5, pick->out);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(pick->out[i], (rotation + i) % 3);
	assert_int_equal(weir_strategy_strays(strategy), 5);
	/* Each dispatcher counts its own; all of them are told. */
	pick->context.dispatcher_id = WEIR_DISPATCHERS_MAX - 1;
	strategy->pick_burst(&pick->context, pick->meta, 2, pick->out);
	assert_int_equal(weir_strategy_strays(strategy), 7);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

static void
a_stray_answer_of_a_strategy_that_finds_none_is_none(void **state)
{
	struct weir_strategy *strategy = plugin_load("late_or_none");
	struct pick *pick = pick_create_of(strategy, (const weir_worker_id[]) { 0, 1, 2 }, 3);

	(void)state;
	pick_set_index(pick, NEVER);
	strategy->pick_burst(&pick->context, pick->meta, 5, pick->out);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(pick->out[i], WEIR_PICK_NONE);
	/* Every second one it meant. */
	assert_int_equal(weir_strategy_strays(strategy), 3);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

static void
tables_state_instance_and_withdrawal_reach_the_plugin(void **state)
{
	struct weir_strategy *strategy = plugin_load("keeps");
	struct pick *pick = pick_create_of(strategy, (const weir_worker_id[]) { 4, 5, 6 }, 3);
	uint64_t *kept = pick->context.state;

	(void)state;
	pick_burst(pick, 5);
	assert_int_equal(pick->out[4], 2);
	assert_int_equal(*kept, 5);
	strategy->withdraw_picks(&pick->context, 3);
	assert_int_equal(*kept, 2003);
	pick_burst(pick, 1);
	assert_int_equal(*kept, 2004);
	pick_destroy(pick);
	weir_strategy_unload(strategy);
}

static void
a_strategy_for_all_targets_has_nothing_to_pick(void **state)
{
	struct weir_strategy *strategy = plugin_load("everybody");

	(void)state;
	assert_null(strategy->pick_burst);
	assert_int_equal(strategy->flags, WEIR_STRATEGY_ALL_TARGETS);
	weir_strategy_unload(strategy);
	weir_strategy_unload(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warm_up_sends_100_packets_to_the_first_worker_and_then_goes_round),
		cmocka_unit_test(weighted_gives_each_worker_as_many_in_a_row_as_its_weight),
		cmocka_unit_test(a_pool_finds_a_loaded_strategy_by_the_name_it_was_given),
		cmocka_unit_test(files_that_are_no_plugins_are_refused),
		cmocka_unit_test(plugins_of_other_sizes_are_refused_with_both),
		cmocka_unit_test(strategies_that_contradict_themselves_are_refused),
		cmocka_unit_test(strategies_that_fail_the_trial_are_refused),
		cmocka_unit_test(a_file_that_everybody_may_write_is_refused),
		cmocka_unit_test(a_reason_is_cut_to_its_room_and_may_be_left_out),
		cmocka_unit_test(a_stray_answer_becomes_the_worker_of_the_rotation_and_is_counted),
		cmocka_unit_test(a_stray_answer_of_a_strategy_that_finds_none_is_none),
		cmocka_unit_test(tables_state_instance_and_withdrawal_reach_the_plugin),
		cmocka_unit_test(a_strategy_for_all_targets_has_nothing_to_pick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
