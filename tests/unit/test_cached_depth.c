/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of readings: options, leases, incarnations, and what is a reading at which time. */
#include "test.h"

#include <weir/cached_depth.h>

#include "rig.h"

#define MS UINT64_C(1000000)

/* Times in milliseconds. */
static int
check_ms(uint64_t refresh, uint64_t stale, struct weir_config_error *error)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();

	config.refresh_ns = refresh * MS;
	config.stale_after_ns = stale * MS;
	return weir_cached_depth_config_check(&config, error);
}

static int
set_and_check(const char *refresh, const char *stale)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	int rc = 0;

	if (refresh)
		rc = weir_cached_depth_config_set(&config, "refresh_ms", refresh, NULL);
	if (rc == 0 && stale)
		rc = weir_cached_depth_config_set(&config, "stale_after_ms", stale, NULL);
	return rc < 0 ? rc : weir_cached_depth_config_check(&config, NULL);
}

static void
c1_the_seven_cases_of_the_two_times(void **state)
{
	(void)state;
	assert_int_equal(set_and_check("50", "500"), 0);
	assert_int_equal(set_and_check("0", NULL), -EINVAL);
	assert_int_equal(set_and_check("-1", NULL), -EINVAL);
	assert_int_equal(set_and_check("12.5", NULL), -EINVAL);
	assert_int_equal(set_and_check(NULL, "-1"), -EINVAL);
	assert_int_equal(set_and_check(NULL, "0"), 0);
	assert_int_equal(set_and_check("500", "100"), -EINVAL);
	/* Only one is given: the other's default counts. */
	assert_int_equal(set_and_check("5000", NULL), -EINVAL);
	assert_int_equal(set_and_check(NULL, "20"), -EINVAL);
	assert_int_equal(set_and_check(NULL, "200"), 0);
}

static void
c1_defaults_are_200_and_1000_ms(void **state)
{
	const struct weir_cached_depth_config config = weir_cached_depth_config_default();

	(void)state;
	assert_int_equal(config.refresh_ns, 200 * MS);
	assert_int_equal(config.stale_after_ns, 1000 * MS);
	assert_true(config.add_own_sends);
	assert_int_equal(weir_cached_depth_config_check(&config, NULL), 0);
}

static void
c1_numbers_are_checked_too_and_refusals_name_the_field(void **state)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	struct weir_config_error error;

	(void)state;
	assert_int_equal(check_ms(50, 50, &error), 0);
	assert_int_equal(check_ms(50, 49, &error), -EINVAL);
	assert_string_equal(error.field, "stale_after_ns");
	assert_string_equal(error.value, "49000000");
	assert_string_equal(
		error.allowed, "0 (never stale), or at least refresh_ns, which is 50000000");
	assert_int_equal(check_ms(0, 0, &error), -EINVAL);
	assert_string_equal(error.field, "refresh_ns");
	assert_string_equal(error.value, "0");
	config.stale_after_ns = (uint64_t)-1;
	assert_int_equal(weir_cached_depth_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "stale_after_ns");
	config.stale_after_ns = INT64_MAX;
	assert_int_equal(weir_cached_depth_config_check(&config, &error), 0);
	config.n_workers = WEIR_WORKERS_MAX + 1;
	assert_int_equal(weir_cached_depth_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "n_workers");
	assert_string_equal(error.allowed, "1 to 256");
}

static void
c1_texts_that_are_no_number_are_refused_and_change_nothing(void **state)
{
	static const char *const texts[] = { "", " 50", "50 ", "+50", "1e3", "0x10", "fifty",
		"9223372036855", "18446744073709551616" };
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	struct weir_config_error error;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		assert_int_equal(
			weir_cached_depth_config_set(&config, "stale_after_ms", texts[i], &error),
			-EINVAL);
		assert_string_equal(error.field, "stale_after_ms");
		assert_string_equal(error.value, texts[i]);
		assert_string_equal(
			error.allowed, "a whole number of milliseconds, 0 to 9223372036854");
		assert_int_equal(config.stale_after_ns, 1000 * MS);
	}
	assert_int_equal(
		weir_cached_depth_config_set(&config, "stale_after_ms", "9223372036854", &error),
		0);
	assert_int_equal(weir_cached_depth_config_set(&config, "stale", "5", &error), -EINVAL);
	assert_string_equal(error.allowed, "refresh_ms, stale_after_ms");
}

static void
a_bad_configuration_creates_nothing(void **state)
{
	struct weir_cached_depth_config config = weir_cached_depth_config_default();
	struct weir_config_error error;

	(void)state;
	config.refresh_ns = 0;
	errno = 0;
	assert_null(weir_cached_depth_create(&config, &error));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.field, "refresh_ns");
	weir_cached_depth_destroy(NULL);
}

static struct weir_cached_depth *
cached_create(void)
{
	const struct weir_cached_depth_config config = weir_cached_depth_config_default();
	struct weir_cached_depth *cached = weir_cached_depth_create(&config, NULL);

	assert_non_null(cached);
	return cached;
}

/* Publishes as the present incarnation would. */
static int
publish(struct weir_cached_depth *cached, weir_worker_id worker, uint32_t depth, uint64_t time_ns)
{
	const struct weir_depth_reading reading = {
		.time_ns = time_ns,
		.depth_pkts = depth,
		.incarnation = weir_cached_depth_incarnation(cached, worker),
		.routable = true,
	};

	return weir_cached_depth_publish(cached, worker, &reading);
}

/* The depth that is read, or the error. */
static int64_t
depth_read(const struct weir_cached_depth *cached, weir_worker_id worker, uint64_t now_ns)
{
	struct weir_depth_reading reading;
	const int rc = weir_cached_depth_read(cached, worker, now_ns, &reading);

	return rc < 0 ? rc : (int64_t)reading.depth_pkts;
}

static void
c6_what_is_published_is_read(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_reading reading = { .time_ns = 5, .depth_pkts = UINT32_MAX };
	struct weir_depth_reading read;
	struct weir_depth_lease lease = { 0 };

	(void)state;
	assert_int_equal(weir_depth_lease_take(cached, 3, &lease), 0);
	reading.incarnation = weir_cached_depth_incarnation(cached, 3);
	for (uint32_t i = 0; i < 5; i++) {
		reading.time_ns += i;
		reading.depth_pkts -= i;
		reading.routable = !reading.routable;
		assert_int_equal(weir_cached_depth_publish(cached, 3, &reading), 0);
		assert_int_equal(weir_cached_depth_read(cached, 3, 7, &read), 0);
		assert_int_equal(read.time_ns, reading.time_ns);
		assert_int_equal(read.depth_pkts, reading.depth_pkts);
		assert_int_equal(read.incarnation, reading.incarnation);
		assert_int_equal(read.routable, reading.routable);
	}
	weir_cached_depth_destroy(cached);
}

static void
c6_a_worker_that_nobody_serves_has_no_reading_and_never_zero(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease lease = { 0 };

	(void)state;
	assert_int_equal(depth_read(cached, 0, 0), -ENODATA);
	assert_int_equal(publish(cached, 0, 4, 0), -ESHUTDOWN);
	assert_int_equal(depth_read(cached, 0, 0), -ENODATA);
	assert_int_equal(weir_depth_lease_take(cached, 0, &lease), 0);
	assert_int_equal(depth_read(cached, 0, 0), -ENODATA);
	assert_int_equal(publish(cached, 0, 4, 0), 0);
	assert_int_equal(depth_read(cached, 0, 0), 4);
	assert_int_equal(depth_read(cached, 1, 0), -ENODATA);
	weir_cached_depth_destroy(cached);
}

static void
workers_beyond_the_table_are_refused(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease lease = { 0 };

	(void)state;
	assert_int_equal(weir_depth_lease_take(cached, 4, &lease), -EINVAL);
	assert_null(lease.cached);
	assert_int_equal(publish(cached, 4, 1, 0), -EINVAL);
	assert_int_equal(publish(cached, WEIR_WORKER_NONE, 1, 0), -EINVAL);
	assert_int_equal(depth_read(cached, 4, 0), -EINVAL);
	assert_int_equal(weir_cached_depth_incarnation(cached, 4), 0);
	assert_int_equal(weir_cached_depth_rejoin(cached, 4), 0);
	assert_false(weir_cached_depth_due(cached, 4, 0));
	weir_cached_depth_destroy(cached);
}

static void
c6_a_rejoined_worker_has_no_reading_until_it_publishes(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease lease = { 0 };
	struct weir_depth_reading old = { .depth_pkts = 9, .routable = true };

	(void)state;
	assert_int_equal(weir_depth_lease_take(cached, 2, &lease), 0);
	old.incarnation = weir_cached_depth_incarnation(cached, 2);
	assert_int_equal(weir_cached_depth_publish(cached, 2, &old), 0);
	assert_int_equal(weir_cached_depth_rejoin(cached, 2), old.incarnation + 1);
	assert_int_equal(depth_read(cached, 2, 0), -ENODATA);
	/* What the earlier one says late changes nothing. */
	assert_int_equal(weir_cached_depth_publish(cached, 2, &old), -ESTALE);
	assert_int_equal(depth_read(cached, 2, 0), -ENODATA);
	assert_int_equal(publish(cached, 2, 1, 0), 0);
	assert_int_equal(depth_read(cached, 2, 0), 1);
	weir_cached_depth_destroy(cached);
}

static void
c8_a_reading_is_usable_up_to_the_bound_and_not_after(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease lease = { 0 };

	(void)state;
	assert_int_equal(weir_depth_lease_take(cached, 0, &lease), 0);
	assert_int_equal(publish(cached, 0, 7, 5000 * MS), 0);
	assert_int_equal(depth_read(cached, 0, 5000 * MS), 7);
	assert_int_equal(depth_read(cached, 0, 6000 * MS), 7);
	assert_int_equal(depth_read(cached, 0, 6000 * MS + 1), -ENODATA);
	assert_int_equal(depth_read(cached, 0, 6001 * MS), -ENODATA);
	/* The same the other way round: a clock that is ahead does not stay young for ever. */
	assert_int_equal(depth_read(cached, 0, 4000 * MS), 7);
	assert_int_equal(depth_read(cached, 0, 4000 * MS - 1), -ENODATA);
	assert_int_equal(publish(cached, 0, 7, UINT64_MAX), 0);
	assert_int_equal(depth_read(cached, 0, 0), -ENODATA);
	weir_cached_depth_destroy(cached);
}

static void
c9_two_users_share_a_publisher_and_the_last_one_stops_it(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease one = { 0 };
	struct weir_depth_lease other = { 0 };
	uint32_t incarnation;

	(void)state;
	assert_int_equal(weir_depth_lease_take(cached, 1, &one), 0);
	incarnation = weir_cached_depth_incarnation(cached, 1);
	assert_int_equal(weir_depth_lease_take(cached, 1, &other), 0);
	assert_int_equal(weir_cached_depth_incarnation(cached, 1), incarnation);
	assert_int_equal(publish(cached, 1, 3, 0), 0);
	weir_depth_lease_release(&one);
	assert_int_equal(depth_read(cached, 1, 0), 3);
	assert_int_equal(publish(cached, 1, 4, 0), 0);
	assert_int_equal(depth_read(cached, 1, 0), 4);
	weir_depth_lease_release(&other);
	assert_int_equal(depth_read(cached, 1, 0), -ENODATA);
	assert_int_equal(publish(cached, 1, 5, 0), -ESHUTDOWN);
	assert_int_equal(weir_cached_depth_rejoin(cached, 1), 0);
	weir_cached_depth_destroy(cached);
}

static void
c9_releasing_twice_changes_nothing(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease one = { 0 };
	struct weir_depth_lease other = { 0 };

	(void)state;
	weir_depth_lease_release(&one);
	assert_int_equal(weir_depth_lease_take(cached, 1, &one), 0);
	assert_int_equal(weir_depth_lease_take(cached, 1, &one), -EBUSY);
	assert_int_equal(weir_depth_lease_take(cached, 1, &other), 0);
	weir_depth_lease_release(&one);
	weir_depth_lease_release(&one);
	weir_depth_lease_release(&one);
	assert_int_equal(publish(cached, 1, 3, 0), 0);
	assert_int_equal(depth_read(cached, 1, 0), 3);
	weir_depth_lease_release(&other);
	weir_depth_lease_release(&other);
	assert_int_equal(weir_cached_depth_incarnation(cached, 1), 0);
	/* And it can begin again, without what was published before. */
	assert_int_equal(weir_depth_lease_take(cached, 1, &one), 0);
	assert_int_equal(depth_read(cached, 1, 0), -ENODATA);
	assert_int_equal(publish(cached, 1, 6, 0), 0);
	assert_int_equal(depth_read(cached, 1, 0), 6);
	weir_cached_depth_destroy(cached);
}

static void
c6_publishing_is_due_at_once_and_then_every_refresh(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_depth_lease lease = { 0 };

	(void)state;
	assert_false(weir_cached_depth_due(cached, 0, 0));
	assert_int_equal(weir_depth_lease_take(cached, 0, &lease), 0);
	assert_true(weir_cached_depth_due(cached, 0, 1000 * MS));
	assert_int_equal(publish(cached, 0, 3, 1000 * MS), 0);
	assert_false(weir_cached_depth_due(cached, 0, 1000 * MS));
	assert_false(weir_cached_depth_due(cached, 0, 1200 * MS - 1));
	assert_true(weir_cached_depth_due(cached, 0, 1200 * MS));
	assert_false(weir_cached_depth_due(cached, 0, 0));
	assert_true(weir_cached_depth_rejoin(cached, 0) > 0);
	assert_true(weir_cached_depth_due(cached, 0, 1000 * MS));
	weir_depth_lease_release(&lease);
	assert_false(weir_cached_depth_due(cached, 0, 9000 * MS));
	weir_cached_depth_destroy(cached);
}

/* As the runtime of a parked worker does: whenever it is due, the depth that its pool sees. */
static void
c6_a_worker_with_one_in_process_and_four_queued_publishes_four_within_a_refresh(void **state)
{
	struct weir_cached_depth *cached = cached_create();
	struct weir_config config = rig_config("first", 1);
	struct weir_depth_lease lease = { 0 };
	struct rig *rig;

	(void)state;
	config.depth_mode = WEIR_DEPTH_QUEUED;
	rig = rig_create(&config, 16);
	assert_int_equal(weir_depth_lease_take(cached, 0, &lease), 0);
	assert_int_equal(publish(cached, 0, 0, 0), 0);
	assert_int_equal(rig_dispatch(rig, 5), 5);
	assert_int_equal(rig_take(rig, 0, 1), 1);
	for (uint64_t now_ns = 0; now_ns <= 200 * MS; now_ns += 10 * MS) {
		rig_harvest(rig);
		if (weir_cached_depth_due(cached, 0, now_ns))
			publish(cached, 0, rig_worker_counters(rig, 0, 0).depth, now_ns);
	}
	assert_int_equal(depth_read(cached, 0, 200 * MS), 4);
	rig_complete(rig, 0, 1, weir_verdict_consumed());
	rig_destroy(rig);
	weir_cached_depth_destroy(cached);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c1_the_seven_cases_of_the_two_times),
		cmocka_unit_test(c1_defaults_are_200_and_1000_ms),
		cmocka_unit_test(c1_numbers_are_checked_too_and_refusals_name_the_field),
		cmocka_unit_test(c1_texts_that_are_no_number_are_refused_and_change_nothing),
		cmocka_unit_test(a_bad_configuration_creates_nothing),
		cmocka_unit_test(c6_what_is_published_is_read),
		cmocka_unit_test(c6_a_worker_that_nobody_serves_has_no_reading_and_never_zero),
		cmocka_unit_test(workers_beyond_the_table_are_refused),
		cmocka_unit_test(c6_a_rejoined_worker_has_no_reading_until_it_publishes),
		cmocka_unit_test(c8_a_reading_is_usable_up_to_the_bound_and_not_after),
		cmocka_unit_test(c9_two_users_share_a_publisher_and_the_last_one_stops_it),
		cmocka_unit_test(c9_releasing_twice_changes_nothing),
		cmocka_unit_test(c6_publishing_is_due_at_once_and_then_every_refresh),
		cmocka_unit_test(
			c6_a_worker_with_one_in_process_and_four_queued_publishes_four_within_a_refresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
