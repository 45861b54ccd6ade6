/* SPDX-License-Identifier: BSD-3-Clause */
/* Who runs where: CPUs for few and for many, --worker-cpus, pairs, queues over rx cores. */
#include "test.h"

#include "parsed_options.h"
#include "stderr_capture.h"
#include "topology.h"

static cpu_set_t
cpus_make(const char *list)
{
	struct parsed p;
	char line[64];

	snprintf(line, sizeof(line), "--worker-cpus %s", list);
	assert_accepted(&p, line);
	return p.options.worker_cpus;
}

/* Chooses lcores and places workers, as a start without core options does. */
static void
plan(struct topology *topology, const char *allowed_list, const char *line)
{
	const cpu_set_t allowed = cpus_make(allowed_list);
	struct parsed p;

	memset(topology, 0, sizeof(*topology));
	assert_accepted(&p, line);
	assert_int_equal(topology_check_worker_cpus(&p.options, &allowed), 0);
	topology_choose_lcores(topology, &p.options, &allowed);
	topology_place_workers(topology, &p.options, &allowed);
}

static void
assert_lcores(const struct topology *topology, const char *expected)
{
	char text[TOPOLOGY_LCORES_BYTES];

	topology_format_lcores(topology, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void
assert_worker_cpus(const struct topology *topology, const unsigned int *cpus, uint32_t n)
{
	assert_int_equal(topology->n_workers, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(topology->worker[i].cpu, cpus[i]);
}

static void
one_cpu_has_it_all(void **state)
{
	const unsigned int cpus[] = { 3, 3, 3, 3 };
	struct topology t;

	(void)state;
	plan(&t, "3", "");
	assert_lcores(&t, "0@3,1@3");
	assert_worker_cpus(&t, cpus, 4);
	assert_true(t.rx[0].shares_cpu);
	assert_true(t.worker[0].shares_cpu);
}

static void
two_cpus_are_one_for_rx_and_one_for_workers(void **state)
{
	const unsigned int cpus[] = { 1, 1, 1, 1 };
	struct topology t;

	(void)state;
	plan(&t, "0-1", "");
	assert_lcores(&t, "0@0,1@0");
	assert_worker_cpus(&t, cpus, 4);
	assert_false(t.rx[0].shares_cpu); /* with control only, which sleeps */
	assert_true(t.worker[3].shares_cpu);
}

static void
a_lone_worker_shares_with_nobody(void **state)
{
	struct topology t;

	(void)state;
	plan(&t, "0-1", "--workers 1");
	assert_int_equal(t.worker[0].cpu, 1);
	assert_false(t.worker[0].shares_cpu);
	assert_false(t.rx[0].shares_cpu);
}

static void
many_cpus_are_one_for_control_then_rx_then_workers(void **state)
{
	const unsigned int cpus[] = { 3, 4, 5, 6, 7, 3 };
	struct topology t;

	(void)state;
	plan(&t, "0-7", "--rx-cores 2 --workers 6");
	assert_lcores(&t, "0@0,1@1,2@2");
	assert_worker_cpus(&t, cpus, 6);
	assert_false(t.rx[0].shares_cpu || t.rx[1].shares_cpu);
	assert_true(t.worker[0].shares_cpu && t.worker[5].shares_cpu);
	assert_false(t.worker[1].shares_cpu);
}

static void
control_has_no_cpu_when_workers_would_lack_it(void **state)
{
	struct topology t;

	(void)state;
	plan(&t, "0-2", ""); /* control and rx on 0, workers on 1 and 2 */
	assert_lcores(&t, "0@0,1@0");
	assert_int_equal(t.worker[0].cpu, 1);
	assert_int_equal(t.worker[1].cpu, 2);
	plan(&t, "0-2", "--workers 1");
	assert_lcores(&t, "0@0,1@1");
	assert_int_equal(t.worker[0].cpu, 2);
	plan(&t, "0-3", "");
	assert_lcores(&t, "0@0,1@1");
	assert_int_equal(t.worker[0].cpu, 2);
}

static void
rx_cores_share_cpus_only_when_there_are_too_few(void **state)
{
	const unsigned int cpus[] = { 0, 1, 0, 1 };
	struct topology t;

	(void)state;
	plan(&t, "0-1", "--rx-cores 2");
	assert_lcores(&t, "0@0,1@0,2@1");
	assert_worker_cpus(&t, cpus, 4); /* no CPU is left for them */
	assert_true(t.rx[0].shares_cpu && t.rx[1].shares_cpu);
	plan(&t, "0-1", "--rx-cores 3");
	assert_lcores(&t, "0@0,1@0,2@1,3@0");
	plan(&t, "0-5", "--rx-cores 6 --workers 1");
	assert_lcores(&t, "0@0,1@0,2@1,3@2,4@3,5@4,6@5");
}

static void
worker_cpus_are_taken_in_turn_and_left_alone_by_rx_cores(void **state)
{
	const unsigned int cpus[] = { 0, 2, 0, 2, 0 };
	struct topology t;

	(void)state;
	plan(&t, "0-3", "--workers 5 --worker-cpus 2,0");
	assert_lcores(&t, "0@1,1@3");
	assert_worker_cpus(&t, cpus, 5);
	assert_false(t.rx[0].shares_cpu);
	plan(&t, "0-3", "--workers 3 --worker-cpus 1-3 --rx-cores 2");
	assert_lcores(&t, "0@0,1@0,2@0");
	assert_true(t.rx[0].shares_cpu && t.rx[1].shares_cpu);
	assert_false(t.worker[0].shares_cpu);
	plan(&t, "0-1", "--worker-cpus 0-1");
	assert_lcores(&t, "0@0,1@1");
	assert_true(t.rx[0].shares_cpu);
	plan(&t, "0-1", "--worker-cpus 0");
	assert_lcores(&t, "0@1,1@1");
	assert_false(t.rx[0].shares_cpu);
}

static void
an_rx_core_on_several_cpus_shares_each_of_them(void **state)
{
	const cpu_set_t allowed = cpus_make("0-3");
	struct topology t = { .n_rx = 2 };
	struct parsed p;

	(void)state;
	t.rx[0].cpus = cpus_make("0-1");
	t.rx[1].cpus = cpus_make("2");
	assert_accepted(&p, "--workers 2 --worker-cpus 1,3");
	topology_place_workers(&t, &p.options, &allowed);
	assert_true(t.rx[0].shares_cpu && t.worker[0].shares_cpu);
	assert_false(t.rx[1].shares_cpu || t.worker[1].shares_cpu);
}

static void
worker_cpus_beyond_the_process_are_refused(void **state)
{
	const cpu_set_t allowed = cpus_make("0-2,6");
	struct stderr_capture capture;
	struct parsed p;
	char text[256];

	(void)state;
	assert_accepted(&p, "--worker-cpus 1-4,6-7");
	stderr_capture_start(&capture);
	assert_int_equal(topology_check_worker_cpus(&p.options, &allowed), -EINVAL);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_string_equal(
		text, "weir: --worker-cpus 3-4,7: allowed 0-2,6 (the CPUs of this process)\n");
}

static void
the_largest_plan_fits_its_text(void **state)
{
	struct topology t;
	char text[TOPOLOGY_LCORES_BYTES];

	(void)state;
	plan(&t, "1000-1023", "--rx-cores 14 --workers 256");
	topology_format_lcores(&t, text, sizeof(text));
	assert_non_null(strstr(text, ",14@1014"));
	assert_int_equal(
		strlen(text), strlen("0@1000") + 9 * strlen(",1@1001") + 5 * strlen(",10@1010"));
}

/* Every plan that can be drawn keeps the rules. */
static void
plans_keep_to_the_cpus_and_spare_the_rx_cores(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct topology t;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		const uint32_t first = test_random_below(&random, 32);
		const uint32_t n = test_random_between(&random, 1, 32);
		const uint32_t n_rx = test_random_between(&random, 1, 14);
		char allowed[32], line[64];

		snprintf(allowed, sizeof(allowed), "%u-%u", first, first + n - 1);
		snprintf(line, sizeof(line), "--rx-cores %u --workers %u", n_rx,
			test_random_between(&random, 1, 256));
		plan(&t, allowed, line);
		for (uint32_t i = 0; i < n_rx; i++) {
			assert_int_equal(CPU_COUNT(&t.rx[i].cpus), 1);
			for (uint32_t j = 0; j < i; j++)
				assert_true(n < n_rx || !CPU_EQUAL(&t.rx[i].cpus, &t.rx[j].cpus));
		}
		for (uint32_t w = 0; w < t.n_workers; w++) {
			assert_in_range(t.worker[w].cpu, first, first + n - 1);
			for (uint32_t i = 0; i < n_rx; i++)
				assert_true(
					n <= n_rx || !CPU_ISSET(t.worker[w].cpu, &t.rx[i].cpus));
		}
	}
}

static void
lists_of_cpus_are_as_short_as_they_can_be(void **state)
{
	static const char *const lists[] = { "0", "0-1", "0,2", "3-5,7,9-1023", "1023" };
	cpu_set_t cpus;
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		cpus = cpus_make(lists[i]);
		topology_format_cpus(&cpus, text, sizeof(text));
		assert_string_equal(text, lists[i]);
	}
	CPU_ZERO(&cpus);
	topology_format_cpus(&cpus, text, sizeof(text));
	assert_string_equal(text, "none");
}

static void
lists_that_do_not_fit_say_so(void **state)
{
	const cpu_set_t cpus = cpus_make("0,2,4,6,8");
	char text[10];

	(void)state;
	topology_format_cpus(&cpus, text, sizeof(text));
	assert_string_equal(text, "0,2,4,6,8");
	topology_format_cpus(&cpus, text, sizeof(text) - 1);
	assert_string_equal(text, "0,2,4...");
}

static void
ports_pair_with_their_neighbour_and_a_lone_one_with_itself(void **state)
{
	(void)state;
	assert_int_equal(topology_pair(0, 4), 1);
	assert_int_equal(topology_pair(1, 4), 0);
	assert_int_equal(topology_pair(2, 4), 3);
	assert_int_equal(topology_pair(3, 4), 2);
	assert_int_equal(topology_pair(0, 1), 0);
	assert_int_equal(topology_pair(2, 3), 2);
}

static void
spread_over(struct topology_spread *spread, uint32_t n_ports, const char *line)
{
	struct parsed p;

	assert_accepted(&p, line);
	assert_int_equal(topology_spread_queues(spread, &p.options, n_ports), 0);
}

static void
a_pair_stays_on_one_rx_core(void **state)
{
	struct topology_spread s;

	(void)state;
	spread_over(&s, 4, "--rx-cores 2");
	assert_int_equal(topology_rx_core_of(&s, 0, 0), topology_rx_core_of(&s, 1, 0));
	assert_int_equal(topology_rx_core_of(&s, 2, 0), topology_rx_core_of(&s, 3, 0));
	assert_int_not_equal(topology_rx_core_of(&s, 0, 0), topology_rx_core_of(&s, 2, 0));
	spread_over(&s, 2, "--rx-cores 2 --rx-queues 2"); /* queue by queue, both ports of each */
	assert_int_equal(topology_rx_core_of(&s, 0, 1), topology_rx_core_of(&s, 1, 1));
	assert_int_not_equal(topology_rx_core_of(&s, 0, 0), topology_rx_core_of(&s, 0, 1));
}

static void
a_pair_is_split_rather_than_leave_an_rx_core_idle(void **state)
{
	struct topology_spread s;

	(void)state;
	spread_over(&s, 2, "--rx-cores 2");
	assert_int_equal(topology_rx_core_of(&s, 0, 0), 0);
	assert_int_equal(topology_rx_core_of(&s, 1, 0), 1);
}

static void
every_rx_core_gets_its_share_of_queues(void **state)
{
	char line[64];

	(void)state;
	for (uint32_t n_ports = 1; n_ports <= 5; n_ports++) {
		for (uint32_t n_queues = 1; n_queues <= 4; n_queues++) {
			for (uint32_t n_rx = 1; n_rx <= 14 && n_rx <= n_ports * n_queues; n_rx++) {
				struct topology_spread s;
				uint32_t n[WEIR_DISPATCHERS_MAX] = { 0 };

				snprintf(line, sizeof(line), "--rx-cores %u --rx-queues %u", n_rx,
					n_queues);
				spread_over(&s, n_ports, line);
				for (uint32_t i = 0; i < n_ports * n_queues; i++)
					n[topology_rx_core_of(&s, i / n_queues, i % n_queues)]++;
				for (uint32_t i = 0; i < n_rx; i++)
					assert_true(n[i] > 0);
				for (uint32_t i = n_rx; i < WEIR_DISPATCHERS_MAX; i++)
					assert_int_equal(n[i], 0);
			}
		}
	}
}

static void
more_rx_cores_than_queues_are_refused(void **state)
{
	struct stderr_capture capture;
	struct topology_spread s;
	struct parsed p;
	char text[256];

	(void)state;
	assert_accepted(&p, "--rx-cores 7 --rx-queues 2");
	stderr_capture_start(&capture);
	assert_int_equal(topology_spread_queues(&s, &p.options, 3), -EINVAL);
	stderr_capture_end(&capture, text, sizeof(text));
	assert_string_equal(text,
		"weir: --rx-cores 7: allowed at most 6: there are 3 port(s) with 2 rx "
		"queue(s) each\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cpu_has_it_all),
		cmocka_unit_test(two_cpus_are_one_for_rx_and_one_for_workers),
		cmocka_unit_test(a_lone_worker_shares_with_nobody),
		cmocka_unit_test(many_cpus_are_one_for_control_then_rx_then_workers),
		cmocka_unit_test(control_has_no_cpu_when_workers_would_lack_it),
		cmocka_unit_test(rx_cores_share_cpus_only_when_there_are_too_few),
		cmocka_unit_test(worker_cpus_are_taken_in_turn_and_left_alone_by_rx_cores),
		cmocka_unit_test(an_rx_core_on_several_cpus_shares_each_of_them),
		cmocka_unit_test(worker_cpus_beyond_the_process_are_refused),
		cmocka_unit_test(the_largest_plan_fits_its_text),
		cmocka_unit_test(plans_keep_to_the_cpus_and_spare_the_rx_cores),
		cmocka_unit_test(lists_of_cpus_are_as_short_as_they_can_be),
		cmocka_unit_test(lists_that_do_not_fit_say_so),
		cmocka_unit_test(ports_pair_with_their_neighbour_and_a_lone_one_with_itself),
		cmocka_unit_test(a_pair_stays_on_one_rx_core),
		cmocka_unit_test(a_pair_is_split_rather_than_leave_an_rx_core_idle),
		cmocka_unit_test(every_rx_core_gets_its_share_of_queues),
		cmocka_unit_test(more_rx_cores_than_queues_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
