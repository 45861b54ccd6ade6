/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/decide: admission (X12): what becomes of a packet whose worker has others of its class. */
#include "test.h"

#include "dispatcher.h"
#include "order_rig.h"

/* Workers for packets of class 1, which has the admission given; class 2 is serial. */
static struct rig *
admission_rig(enum weir_admission admission, const char *strategy, uint32_t n_workers,
	enum weir_order order)
{
	const struct weir_class classes[] = { { .admission = admission }, { 0 } };
	struct weir_config config = rig_config(strategy, n_workers);
	struct rig *rig;

	config.order = order;
	config.classes = classes;
	config.n_classes = ARRAY_LENGTH(classes);
	rig = rig_create(&config, 4096);
	rig->class_id = 1;
	return rig;
}

/* X12's vector: one worker has 1 packet of the class in process and 3 queued. */
static struct rig *
loaded_rig(enum weir_admission admission)
{
	struct rig *rig = admission_rig(admission, "first", 1, WEIR_ORDER_NONE);

	/* Under discard-later nobody gets that far by itself. */
	if (admission == WEIR_ADMIT_DISCARD_LATER)
		rig->pool->policy->class_of[1].admission = WEIR_ADMIT_SERIAL;
	assert_routes(rig, 0);
	assert_int_equal(rig_take(rig, 0, 1), 1);
	assert_routes(rig, 0, 0, 0);
	rig->pool->policy->class_of[1].admission = admission;
	return rig;
}

static void
serial_queues_behind_its_class(void **state)
{
	struct rig *rig = loaded_rig(WEIR_ADMIT_SERIAL);

	(void)state;
	assert_routes(rig, 0);
	assert_int_equal(rig_depth(rig, 0), 1 + 4);
	order_bring_home(rig, 0, 5);
	assert_int_equal(rig_ledger(rig).completed, 5);
	rig_destroy(rig);
}

static void
discard_later_drops_the_new_one(void **state)
{
	struct rig *rig = loaded_rig(WEIR_ADMIT_DISCARD_LATER);

	(void)state;
	assert_routes(rig, 0);
	assert_int_equal(rig_depth(rig, 0), 1 + 3);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 1);
	assert_int_equal(rig_worker_counters(rig, 0, 0).dropped[WEIR_REASON_BUSY_DISCARD], 1);
	order_bring_home(rig, 0, 4);
	assert_int_equal(rig_ledger(rig).completed, 4);
	/* Idle again: the next one is let in. */
	assert_routes(rig, 0);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 1);
	rig_destroy(rig);
}

/* XB14: nor is the new one begun before the old one has ended: its worker does one at a time. */
static void
cover_early_ends_what_is_queued_and_not_what_is_in_process(void **state)
{
	struct rig *rig = loaded_rig(WEIR_ADMIT_COVER_EARLY);

	(void)state;
	assert_routes(rig, 0);
	assert_int_equal(rig_take(rig, 0, 8), 0);
	rig_complete(rig, 0, 1, weir_verdict_consumed());
	assert_int_equal(rig_take(rig, 0, 8), 1);
	rig_harvest(rig);
	assert_int_equal(rig_ledger(rig).completed, 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_COVERED), 3);
	rig_complete(rig, 0, 1, weir_verdict_consumed());
	rig_harvest(rig);
	assert_int_equal(rig_ledger(rig).completed, 2);
	assert_int_equal(rig->dispatcher[0].ended[0]->id, 0);
	assert_int_equal(rig->dispatcher[0].ended[4]->id, 4);
	rig_destroy(rig);
}

static void
all_admissions_are_alike_where_the_class_is_idle(void **state)
{
	(void)state;
	for (int admission = 0; admission < WEIR_ADMISSION_COUNT; admission++) {
		struct rig *rig = admission_rig(
			(enum weir_admission)admission, "round-robin", 2, WEIR_ORDER_NONE);

		/* Per worker: another one's packets of the class do not matter. */
		assert_routes(rig, 0, 1);
		order_bring_home(rig, 0, 1);
		order_bring_home(rig, 1, 1);
		assert_routes(rig, 0, 1);
		order_bring_home(rig, 0, 1);
		order_bring_home(rig, 1, 1);
		assert_int_equal(rig_ledger(rig).completed, 4);
		rig_destroy(rig);
	}
}

/* XB13: the first packets of a class at one worker, from two dispatchers: neither costs the other.
 */
static void
xb13_first_packets_of_two_dispatchers_are_both_let_in(void **state)
{
	(void)state;
	for (int admission = 0; admission < WEIR_ADMISSION_COUNT; admission++) {
		const struct weir_class classes[] = { { .admission =
								(enum weir_admission)admission } };
		struct weir_config config = rig_config("first", 1);
		struct rig *rig;

		config.n_dispatchers = 2;
		config.classes = classes;
		config.n_classes = 1;
		rig = rig_create(&config, 64);
		/* The one dispatcher's lane is five packets further than the other's. */
		assert_int_equal(rig_dispatch_from(rig, 1, 5), 5);
		rig_drain(rig);
		rig->class_id = 1;
		for (uint32_t round = 1; round <= 3; round++) {
			assert_int_equal(rig_dispatch_from(rig, round & 1, 1), 1);
			assert_int_equal(rig_dispatch_from(rig, !(round & 1), 1), 1);
			assert_int_equal(rig_work(rig, 0, 64), 2);
			rig_harvest(rig);
			assert_int_equal(rig_ledger(rig).completed, 5 + 2 * round);
		}
		rig_destroy(rig);
	}
}

static void
packets_of_other_classes_are_left_alone(void **state)
{
	struct rig *rig = admission_rig(WEIR_ADMIT_COVER_EARLY, "first", 1, WEIR_ORDER_NONE);
	static const uint8_t classes[] = { 1, 2, 2, 1, 0, 2, 1, 2 };
	static const uint32_t alive[] = { 1, 2, 4, 5, 6, 7 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(classes); i++) {
		rig->class_id = classes[i];
		assert_routes(rig, 0);
	}
	/* A take ends in front of a covered packet; those come back when the next one begins. */
	assert_int_equal(rig_take(rig, 0, 8), 2);
	rig_complete(rig, 0, 2, weir_verdict_consumed());
	rig_drain(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_COVERED), 2);
	for (size_t i = 0, k = 0; i < ARRAY_LENGTH(classes); i++) {
		const struct rig_packet *packet = rig->dispatcher[0].ended[i];

		assert_int_equal(packet->id, i);
		if (packet->verdict.kind != WEIR_VERDICT_DROP)
			assert_int_equal(packet->id, alive[k++]);
	}
	rig->class_id = 1;
	rig_destroy(rig);
}

static void
newest_of_a_burst_covers_the_others_of_it(void **state)
{
	struct rig *rig = admission_rig(WEIR_ADMIT_COVER_EARLY, "first", 1, WEIR_ORDER_FLOW);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_work(rig, 0, 64), 1);
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_COVERED), 31);
	assert_int_equal(rig->dispatcher[0].ended[31]->verdict.kind, WEIR_VERDICT_CONSUMED);
	rig_destroy(rig);
}

static void
oldest_of_a_burst_is_let_in_and_the_others_are_discarded(void **state)
{
	struct rig *rig = admission_rig(WEIR_ADMIT_DISCARD_LATER, "first", 1, WEIR_ORDER_FLOW);

	(void)state;
	assert_int_equal(rig_dispatch(rig, 32), 32);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_BUSY_DISCARD), 31);
	assert_int_equal(rig_depth(rig, 0), 1);
	rig_check_pins(rig);
	rig_destroy(rig);
}

static void
covers_hold_where_the_numbers_of_a_lane_wrap(void **state)
{
	struct rig *rig = admission_rig(WEIR_ADMIT_COVER_EARLY, "first", 1, WEIR_ORDER_FLOW);

	(void)state;
	order_start_at(rig, (uint32_t)-1024);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(rig_dispatch(rig, 32), 32);
		assert_int_equal(rig_work(rig, 0, 64), 1);
	}
	rig_harvest(rig);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_COVERED), 40 * 31);
	rig_destroy(rig);
}

static void
reclaimed_packets_are_outstanding_no_more(void **state)
{
	struct rig *rig =
		admission_rig(WEIR_ADMIT_DISCARD_LATER, "round-robin", 2, WEIR_ORDER_FLOW);
	const uint32_t *depth = rig->dispatcher[0].dispatcher->class_books.depth;

	(void)state;
	assert_routes(rig, 0, 1);
	assert_int_equal(depth[weir_class_slot(1, 0)], 1);
	assert_int_equal(depth[weir_class_slot(1, 1)], 1);
	assert_int_equal(order_kill(rig, 0), 1);
	assert_int_equal(depth[weir_class_slot(1, 0)], 0);
	assert_int_equal(depth[weir_class_slot(1, 1)], 1);
	rig_destroy(rig);
}

static void
classes_are_counted_only_where_something_goes_by_it(void **state)
{
	struct rig *rig = admission_rig(WEIR_ADMIT_SERIAL, "first", 1, WEIR_ORDER_NONE);

	(void)state;
	assert_false(rig->dispatcher[0].dispatcher->counts_classes);
	assert_null(rig->dispatcher[0].dispatcher->pick.class_depth);
	assert_null(rig->worker[0].worker->lane[0].covers);
	rig_destroy(rig);
	rig = admission_rig(WEIR_ADMIT_DISCARD_LATER, "first", 1, WEIR_ORDER_NONE);
	assert_true(rig->dispatcher[0].dispatcher->counts_classes);
	assert_null(rig->worker[0].worker->lane[0].covers);
	rig_destroy(rig);
}

/* What is covered is told by the class in the metadata. */
static void
cover_early_without_metadata_is_refused(void **state)
{
	const struct weir_class classes[] = { { 0 }, { .admission = WEIR_ADMIT_COVER_EARLY } };
	struct weir_config config = rig_config("first", 1);
	struct weir_config_error error;

	(void)state;
	config.classes = classes;
	config.n_classes = 2;
	assert_int_equal(weir_config_check(&config, &error), 0);
	config.lend_metadata = false;
	assert_int_equal(weir_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "classes[1].admission");
}

/*
 * A strategy that claims: the first worker, from the index on, that has nothing of the class and is
 * claimed by nobody else; else the first.
 */
static void
claimer_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = 0;
		for (uint32_t position = 0; position < ctx->n_routable; position++) {
			const uint32_t slot =
				weir_class_slot(meta[i].class_id, ctx->routable[position]);
			uint32_t nobody = 0;

			if (ctx->class_depth[slot] > 0 ||
				(ctx->claims && !atomic_compare_exchange_strong(&ctx->claims[slot],
							&nobody, ctx->dispatcher_id + 1)))
				continue;
			out[i] = (uint16_t)position;
			break;
		}
		ctx->class_depth[weir_class_slot(meta[i].class_id, ctx->routable[out[i]])]++;
	}
}

static const struct weir_strategy claimer = {
	.name = "claimer",
	.help = "for tests",
	.flags = WEIR_STRATEGY_READS_META | WEIR_STRATEGY_READS_CLASS_DEPTH | WEIR_STRATEGY_CLAIMS,
	.pick_burst = claimer_pick_burst,
};

static struct rig *
claimer_rig(uint32_t n_dispatchers, uint32_t lane_size)
{
	const struct weir_strategy *const strategies[] = { &claimer };
	struct weir_config config = rig_config("claimer", 3);

	config.strategies = strategies;
	config.n_strategies = 1;
	config.n_dispatchers = n_dispatchers;
	config.lane_size = lane_size;
	return rig_create(&config, 256);
}

static uint32_t
claim_of(const struct rig *rig, weir_worker_id id)
{
	return atomic_load(&pool_claims(rig->pool)[weir_class_slot(0, id)]);
}

static void
strategy_sees_what_is_outstanding_of_a_class(void **state)
{
	struct rig *rig = claimer_rig(1, 64);
	const uint32_t *depth = rig->dispatcher[0].dispatcher->class_books.depth;

	(void)state;
	assert_null(pool_claims(rig->pool));
	assert_routes(rig, 0, 1, 2, 0);
	assert_int_equal(depth[weir_class_slot(0, 0)], 2);
	assert_int_equal(depth[weir_class_slot(0, 1)], 1);
	order_bring_home(rig, 1, 1);
	assert_routes(rig, 1, 0);
	/* Of another class nobody has anything. */
	rig->class_id = 3;
	assert_routes(rig, 0, 1);
	rig_drain(rig);
	for (uint32_t slot = 0; slot < WEIR_CLASSES_MAX * WEIR_WORKERS_MAX; slot++)
		assert_int_equal(depth[slot], 0);
	rig_destroy(rig);
}

static void
claim_is_given_back_with_the_last_packet(void **state)
{
	struct rig *rig = claimer_rig(2, 64);

	(void)state;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(rig_dispatch_from(rig, 1, 1), 1);
	assert_int_equal(claim_of(rig, 0), 1);
	assert_int_equal(claim_of(rig, 1), 2);
	/* All claimed: it goes to the first, and the claim lasts until both are home. */
	assert_int_equal(rig_dispatch_from(rig, 0, 2), 2);
	assert_int_equal(claim_of(rig, 2), 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(claim_of(rig, 0), 1);
	order_bring_home(rig, 0, 1);
	assert_int_equal(claim_of(rig, 0), 0);
	assert_int_equal(claim_of(rig, 1), 2);
	rig_drain(rig);
	assert_int_equal(claim_of(rig, 1), 0);
	assert_int_equal(claim_of(rig, 2), 0);
	rig_destroy(rig);
}

static void
claim_for_a_packet_that_was_not_lent_is_given_back(void **state)
{
	struct rig *rig = claimer_rig(2, 1);

	(void)state;
	/* Class 0 fills worker 0's lane; class 5 claims it and finds no room. */
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	rig->class_id = 5;
	assert_int_equal(rig_dispatch_from(rig, 0, 1), 1);
	assert_int_equal(rig_dropped(rig, WEIR_REASON_OVERFLOW_DROP_NEW), 1);
	assert_int_equal(atomic_load(&pool_claims(rig->pool)[weir_class_slot(5, 0)]), 0);
	assert_int_equal(claim_of(rig, 0), 1);
	rig_destroy(rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(serial_queues_behind_its_class),
		cmocka_unit_test(discard_later_drops_the_new_one),
		cmocka_unit_test(cover_early_ends_what_is_queued_and_not_what_is_in_process),
		cmocka_unit_test(all_admissions_are_alike_where_the_class_is_idle),
		cmocka_unit_test(xb13_first_packets_of_two_dispatchers_are_both_let_in),
		cmocka_unit_test(packets_of_other_classes_are_left_alone),
		cmocka_unit_test(newest_of_a_burst_covers_the_others_of_it),
		cmocka_unit_test(oldest_of_a_burst_is_let_in_and_the_others_are_discarded),
		cmocka_unit_test(covers_hold_where_the_numbers_of_a_lane_wrap),
		cmocka_unit_test(reclaimed_packets_are_outstanding_no_more),
		cmocka_unit_test(classes_are_counted_only_where_something_goes_by_it),
		cmocka_unit_test(cover_early_without_metadata_is_refused),
		cmocka_unit_test(strategy_sees_what_is_outstanding_of_a_class),
		cmocka_unit_test(claim_is_given_back_with_the_last_packet),
		cmocka_unit_test(claim_for_a_packet_that_was_not_lent_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
