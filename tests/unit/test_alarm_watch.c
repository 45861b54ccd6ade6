/* SPDX-License-Identifier: BSD-3-Clause */
/* What control says when workers' alarms have rung (M2): a line a worker and a second. */
#include "test.h"

#include "alarm_watch.h"
#include "stderr_capture.h"

#define NS_PER_SECOND UINT64_C(1000000000)

struct scene {
	struct alarm_watch watch;
	struct status status;
	char said[1024];
};

static void
tick(struct scene *scene, bool quiet)
{
	struct stderr_capture capture;

	stderr_capture_start(&capture);
	alarm_watch_tick(&scene->watch, &scene->status, quiet);
	stderr_capture_end(&capture, scene->said, sizeof(scene->said));
}

static int
scene_create(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	if (!scene)
		return -1;
	scene->status.n_workers = 4;
	*state = scene;
	return 0;
}

static int
scene_destroy(void **state)
{
	free(*state);
	return 0;
}

static void
every_alarm_is_said_once(void **state)
{
	struct scene *scene = *state;

	tick(scene, false);
	assert_string_equal(scene->said, "");
	for (uint64_t alarm = 1; alarm <= 3; alarm++) {
		char expected[80];

		scene->status.worker[3].depth_alarms = alarm;
		scene->status.worker[3].depth_alarm_pkts = 50u << alarm;
		scene->status.time_ns += NS_PER_SECOND;
		tick(scene, false);
		snprintf(expected, sizeof(expected),
			"weir: worker 3: depth reached %u (alarm %u)\n", 50u << alarm,
			(unsigned int)alarm);
		assert_string_equal(scene->said, expected);
		tick(scene, false);
		assert_string_equal(scene->said, "");
	}
}

static void
alarms_of_one_second_are_said_together(void **state)
{
	struct scene *scene = *state;

	scene->status.worker[0].depth_alarms = 3;
	scene->status.worker[0].depth_alarm_pkts = 400;
	tick(scene, false);
	assert_string_equal(scene->said, "weir: worker 0: depth reached 400 (alarms 1 to 3)\n");
	scene->status.worker[0].depth_alarms = 4;
	scene->status.worker[0].depth_alarm_pkts = 100;
	scene->status.time_ns = NS_PER_SECOND - 1;
	tick(scene, false);
	assert_string_equal(scene->said, "");
	scene->status.time_ns = NS_PER_SECOND;
	tick(scene, false);
	assert_string_equal(scene->said, "weir: worker 0: depth reached 100 (alarm 4)\n");
}

static void
losses_to_a_full_lane_are_said(void **state)
{
	struct scene *scene = *state;

	scene->status.worker[1].overflow_alarms = 1;
	scene->status.worker[2].overflow_alarms = 5;
	tick(scene, false);
	assert_string_equal(scene->said,
		"weir: worker 1: its lane was full for 1 packets (alarm 1)\n"
		"weir: worker 2: its lane was full for 16 packets (alarms 1 to 5)\n");
}

static void
what_is_left_is_said_at_rest(void **state)
{
	struct scene *scene = *state;

	scene->status.worker[0].overflow_alarms = 1;
	tick(scene, false);
	scene->status.worker[0].overflow_alarms = 2;
	tick(scene, false);
	assert_string_equal(scene->said, "");
	scene->status.at_rest = true;
	tick(scene, false);
	assert_string_equal(
		scene->said, "weir: worker 0: its lane was full for 2 packets (alarm 2)\n");
}

static void
quiet_says_nothing(void **state)
{
	struct scene *scene = *state;

	scene->status.worker[0].depth_alarms = 1;
	scene->status.worker[0].overflow_alarms = 1;
	tick(scene, true);
	assert_string_equal(scene->said, "");
}

#define SCENE_TEST(function) cmocka_unit_test_setup_teardown(function, scene_create, scene_destroy)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(every_alarm_is_said_once),
		SCENE_TEST(alarms_of_one_second_are_said_together),
		SCENE_TEST(losses_to_a_full_lane_are_said),
		SCENE_TEST(what_is_left_is_said_at_rest),
		SCENE_TEST(quiet_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
