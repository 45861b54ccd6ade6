/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/pool/slot.c: the life of a worker (A15, A16, N1, N13). */
#include "test.h"

#include <weir/slot.h>

#define SECOND UINT64_C(1000000000)

static const struct weir_slot_limits limits = { .init_ns = 10 * SECOND, .drain_ns = 5 * SECOND };

static enum weir_slot_action
tell_at(struct weir_slot *slot, enum weir_slot_event_kind kind, uint64_t now_ns)
{
	const struct weir_slot_event event = {
		.kind = kind, .incarnation = slot->incarnation, .now_ns = now_ns
	};

	return weir_slot_advance(slot, &limits, &event);
}

static enum weir_slot_action
tell(struct weir_slot *slot, enum weir_slot_event_kind kind)
{
	return tell_at(slot, kind, 0);
}

static enum weir_slot_action
tell_gone_clean(struct weir_slot *slot)
{
	const struct weir_slot_event event = {
		.kind = WEIR_SLOT_EVENT_GONE, .incarnation = slot->incarnation, .is_clean = true
	};

	return weir_slot_advance(slot, &limits, &event);
}

static enum weir_slot_action
begin_at(struct weir_slot *slot, uint32_t incarnation, uint64_t now_ns)
{
	const struct weir_slot_event event = {
		.kind = WEIR_SLOT_EVENT_BEGUN, .incarnation = incarnation, .now_ns = now_ns
	};

	return weir_slot_advance(slot, &limits, &event);
}

/* A slot with a worker in it that takes packets. */
static struct weir_slot
slot_ready(uint32_t n_restarts)
{
	struct weir_slot slot = weir_slot_make(weir_restart_budget_make(n_restarts, 60 * SECOND));

	assert_int_equal(slot.phase, WEIR_SLOT_FREE);
	assert_int_equal(begin_at(&slot, 0, 0), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_STARTING);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_READY), WEIR_SLOT_DO_ADMIT);
	assert_int_equal(slot.phase, WEIR_SLOT_READY);
	return slot;
}

/* N1: [pending stop, ready] stays pending stop. */
static void
a_late_ready_of_one_that_drains_changes_nothing(void **state)
{
	struct weir_slot slot = weir_slot_make(weir_restart_budget_make(0, SECOND));

	(void)state;
	begin_at(&slot, 3, 0);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_DRAIN), WEIR_SLOT_DO_DRAIN);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_READY), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_DRAINING);
}

/* N1: one that never says that it is ready ends at the init timeout, and never was admitted. */
static void
one_that_is_not_ready_in_time_is_ended(void **state)
{
	struct weir_slot slot = weir_slot_make(weir_restart_budget_make(1, SECOND));

	(void)state;
	begin_at(&slot, 0, 7 * SECOND);
	assert_int_equal(
		tell_at(&slot, WEIR_SLOT_EVENT_TICK, 17 * SECOND - 1), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_TICK, 17 * SECOND), WEIR_SLOT_DO_END);
	assert_int_equal(slot.phase, WEIR_SLOT_ENDING);
	assert_int_equal(slot.cause, WEIR_SLOT_INIT_TIMEOUT);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_READY), WEIR_SLOT_DO_NOTHING);
	/* A failed start counts like a crash. */
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_GONE), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.n_crashes, 1);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_RESTART);
}

/* N13: told to finish, it finishes, and stays away until somebody wants it back. */
static void
a_drained_worker_stops_and_can_be_begun_anew(void **state)
{
	struct weir_slot slot = slot_ready(10);

	(void)state;
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_DRAIN, SECOND), WEIR_SLOT_DO_DRAIN);
	assert_int_equal(
		tell_at(&slot, WEIR_SLOT_EVENT_TICK, 6 * SECOND - 1), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(tell_gone_clean(&slot), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.cause, WEIR_SLOT_DRAINED);
	assert_false(weir_slot_is_alive(&slot));
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_STOPPED);
	assert_int_equal(slot.n_crashes, 0);
	begin_at(&slot, 1, 100 * SECOND);
	assert_int_equal(slot.phase, WEIR_SLOT_STARTING);
	assert_int_equal(slot.cause, WEIR_SLOT_NO_CAUSE);
}

/* N13: at the timeout it is ended. */
static void
one_that_does_not_finish_in_time_is_ended(void **state)
{
	struct weir_slot slot = slot_ready(10);

	(void)state;
	tell_at(&slot, WEIR_SLOT_EVENT_DRAIN, SECOND);
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_TICK, 6 * SECOND), WEIR_SLOT_DO_END);
	assert_int_equal(slot.cause, WEIR_SLOT_DRAIN_TIMEOUT);
	/* Once is enough. */
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_TICK, 7 * SECOND), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_GONE), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.cause, WEIR_SLOT_DRAIN_TIMEOUT);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_STOPPED);
	assert_int_equal(slot.n_crashes, 0);
}

/* A15: slot 1's incarnation 5 is gone and 6 is there when the news of 5's death arrives. */
static void
news_of_an_older_incarnation_change_nothing(void **state)
{
	static const enum weir_slot_event_kind kinds[] = { WEIR_SLOT_EVENT_TICK,
		WEIR_SLOT_EVENT_READY, WEIR_SLOT_EVENT_HUNG, WEIR_SLOT_EVENT_GONE,
		WEIR_SLOT_EVENT_RECLAIMED, WEIR_SLOT_EVENT_DRAIN, WEIR_SLOT_EVENT_KILL,
		WEIR_SLOT_EVENT_REMOVE };
	struct weir_slot slot = slot_ready(10);

	(void)state;
	tell(&slot, WEIR_SLOT_EVENT_GONE);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_RESTART);
	begin_at(&slot, 6, 0);
	tell(&slot, WEIR_SLOT_EVENT_READY);
	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
		const struct weir_slot_event late = {
			.kind = kinds[i], .incarnation = 5, .now_ns = 1000 * SECOND
		};

		assert_int_equal(weir_slot_advance(&slot, &limits, &late), WEIR_SLOT_DO_NOTHING);
		assert_int_equal(slot.phase, WEIR_SLOT_READY);
		assert_false(slot.is_unwanted);
	}
}

/* A16: crashes 1 to 10 are repaired, the 11th inside the window takes it out of the pool. */
static void
the_eleventh_crash_is_a_quarantine(void **state)
{
	struct weir_slot slot = slot_ready(10);

	(void)state;
	for (uint32_t i = 1; i <= 10; i++) {
		assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_GONE, i), WEIR_SLOT_DO_RECLAIM);
		assert_int_equal(slot.cause, WEIR_SLOT_CRASHED);
		assert_true(slot.restarts);
		assert_int_equal(
			tell_at(&slot, WEIR_SLOT_EVENT_RECLAIMED, i), WEIR_SLOT_DO_RESTART);
		assert_int_equal(slot.n_restarts, i);
		begin_at(&slot, i, i);
		assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_READY, i), WEIR_SLOT_DO_ADMIT);
	}
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_GONE, 11), WEIR_SLOT_DO_RECLAIM);
	assert_false(slot.restarts);
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_RECLAIMED, 11), WEIR_SLOT_DO_REMOVE);
	assert_int_equal(slot.phase, WEIR_SLOT_QUARANTINED);
	assert_int_equal(slot.n_crashes, 11);
	assert_int_equal(slot.n_restarts, 10);
	/* Who begins it by hand forgives all. */
	begin_at(&slot, 11, 12);
	assert_int_equal(tell_at(&slot, WEIR_SLOT_EVENT_GONE, 13), WEIR_SLOT_DO_RECLAIM);
	assert_true(slot.restarts);
}

/* A16: budget 0: never respawned. */
static void
without_a_budget_the_first_crash_is_a_quarantine(void **state)
{
	struct weir_slot slot = slot_ready(0);

	(void)state;
	tell(&slot, WEIR_SLOT_EVENT_GONE);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_REMOVE);
	assert_int_equal(slot.phase, WEIR_SLOT_QUARANTINED);
}

/* A17: the second verb. Whoever is killed does not come back, and spends no budget. */
static void
a_killed_worker_stays_away(void **state)
{
	struct weir_slot slot = slot_ready(1);

	(void)state;
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_KILL), WEIR_SLOT_DO_END);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_KILL), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_GONE), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.cause, WEIR_SLOT_KILLED);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_STOPPED);
	assert_int_equal(slot.n_crashes, 0);
	assert_int_equal(weir_restart_budget_used(&slot.budget, 0), 0);
}

static void
a_worker_that_drains_can_be_killed(void **state)
{
	struct weir_slot slot = slot_ready(1);

	(void)state;
	tell(&slot, WEIR_SLOT_EVENT_DRAIN);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_DRAIN), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_KILL), WEIR_SLOT_DO_END);
	assert_int_equal(slot.cause, WEIR_SLOT_KILLED);
}

static void
one_that_hangs_is_ended_and_replaced(void **state)
{
	struct weir_slot slot = slot_ready(1);

	(void)state;
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_HUNG), WEIR_SLOT_DO_END);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_HUNG), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_GONE), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.cause, WEIR_SLOT_HUNG);
	assert_int_equal(slot.n_crashes, 1);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_RESTART);
}

static void
one_that_crashes_while_it_drains_is_not_replaced(void **state)
{
	struct weir_slot slot = slot_ready(5);

	(void)state;
	tell(&slot, WEIR_SLOT_EVENT_DRAIN);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_GONE), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.cause, WEIR_SLOT_CRASHED);
	assert_int_equal(slot.n_crashes, 1);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_STOPPED);
}

/* An end that nobody asked for is a crash, however well it looks. */
static void
one_that_exits_unasked_is_replaced_though_it_ended_well(void **state)
{
	struct weir_slot slot = slot_ready(1);

	(void)state;
	assert_int_equal(tell_gone_clean(&slot), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(slot.cause, WEIR_SLOT_CRASHED);
	assert_int_equal(slot.n_crashes, 1);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_RESTART);
}

/* The pool was told that the next incarnation will come: it must learn that it will not. */
static void
an_order_that_takes_a_restart_back_takes_the_worker_out(void **state)
{
	static const enum weir_slot_event_kind orders[] = { WEIR_SLOT_EVENT_DRAIN,
		WEIR_SLOT_EVENT_KILL, WEIR_SLOT_EVENT_REMOVE };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
		struct weir_slot early = slot_ready(5);
		struct weir_slot late = slot_ready(5);

		tell(&early, WEIR_SLOT_EVENT_GONE);
		assert_int_equal(tell(&early, orders[i]), WEIR_SLOT_DO_NOTHING);
		assert_int_equal(tell(&early, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_REMOVE);
		assert_int_equal(early.phase, WEIR_SLOT_FREE);
		tell(&late, WEIR_SLOT_EVENT_GONE);
		assert_int_equal(tell(&late, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_RESTART);
		assert_int_equal(tell(&late, orders[i]), WEIR_SLOT_DO_REMOVE);
		assert_int_equal(late.phase, WEIR_SLOT_FREE);
		assert_false(late.restarts);
	}
}

static void
a_removed_worker_finishes_before_it_leaves(void **state)
{
	struct weir_slot slot = slot_ready(5);

	(void)state;
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_REMOVE), WEIR_SLOT_DO_DRAIN);
	assert_int_equal(tell_gone_clean(&slot), WEIR_SLOT_DO_RECLAIM);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_REMOVE);
	assert_int_equal(slot.phase, WEIR_SLOT_FREE);
	/* One that has stopped leaves at once; who is no member has nothing to leave. */
	begin_at(&slot, 1, 0);
	tell(&slot, WEIR_SLOT_EVENT_READY);
	tell(&slot, WEIR_SLOT_EVENT_DRAIN);
	tell_gone_clean(&slot);
	tell(&slot, WEIR_SLOT_EVENT_RECLAIMED);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_REMOVE), WEIR_SLOT_DO_REMOVE);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_REMOVE), WEIR_SLOT_DO_NOTHING);
	assert_int_equal(slot.phase, WEIR_SLOT_FREE);
}

/* Its own master starts it again, or nobody. */
static void
a_guest_is_not_replaced_but_leaves_the_pool(void **state)
{
	const struct weir_slot_event begun = { .kind = WEIR_SLOT_EVENT_BEGUN, .is_guest = true };
	struct weir_slot slot = weir_slot_make(weir_restart_budget_make(5, SECOND));

	(void)state;
	weir_slot_advance(&slot, &limits, &begun);
	tell(&slot, WEIR_SLOT_EVENT_READY);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_GONE), WEIR_SLOT_DO_RECLAIM);
	assert_false(slot.restarts);
	assert_int_equal(slot.n_crashes, 1);
	assert_int_equal(tell(&slot, WEIR_SLOT_EVENT_RECLAIMED), WEIR_SLOT_DO_REMOVE);
	assert_int_equal(slot.phase, WEIR_SLOT_FREE);
	begin_at(&slot, 1, 0);
	assert_false(slot.is_guest);
}

/* N1: whatever happens in whatever order, no incarnation ever steps back. */
static void
no_phase_steps_back_within_an_incarnation(void **state)
{
	struct test_random random = test_random_start("slot");
	struct weir_slot slot = weir_slot_make(weir_restart_budget_make(3, 20));
	uint32_t begun = 0;

	(void)state;
	for (uint64_t now = 1; now < 200000; now++) {
		const struct weir_slot before = slot;
		const struct weir_slot_event event = {
			.kind = test_random_below(&random, WEIR_SLOT_EVENT_REMOVE + 1),
			.incarnation = slot.incarnation - (test_random_below(&random, 8) == 0),
			.now_ns = now,
			.is_clean = test_random_below(&random, 2) == 0,
		};
		struct weir_slot_event told = event;

		if (event.kind == WEIR_SLOT_EVENT_BEGUN)
			told.incarnation = slot.incarnation + 1;
		weir_slot_advance(&slot, &limits, &told);
		if (slot.incarnation != before.incarnation) {
			assert_true(weir_slot_is_vacant(&before));
			begun++;
		} else if (slot.phase != WEIR_SLOT_FREE) {
			assert_true(slot.phase >= before.phase);
		} else {
			assert_false(weir_slot_is_alive(&before));
		}
	}
	assert_true(begun > 100);
}

static void
phases_have_stable_names(void **state)
{
	(void)state;
	assert_string_equal(weir_slot_phase_name(WEIR_SLOT_FREE), "free");
	assert_string_equal(weir_slot_phase_name(WEIR_SLOT_QUARANTINED), "quarantined");
	assert_null(weir_slot_phase_name(WEIR_SLOT_PHASE_COUNT));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_ready_of_one_that_drains_changes_nothing),
		cmocka_unit_test(one_that_is_not_ready_in_time_is_ended),
		cmocka_unit_test(a_drained_worker_stops_and_can_be_begun_anew),
		cmocka_unit_test(one_that_does_not_finish_in_time_is_ended),
		cmocka_unit_test(news_of_an_older_incarnation_change_nothing),
		cmocka_unit_test(the_eleventh_crash_is_a_quarantine),
		cmocka_unit_test(without_a_budget_the_first_crash_is_a_quarantine),
		cmocka_unit_test(a_killed_worker_stays_away),
		cmocka_unit_test(a_worker_that_drains_can_be_killed),
		cmocka_unit_test(one_that_hangs_is_ended_and_replaced),
		cmocka_unit_test(one_that_exits_unasked_is_replaced_though_it_ended_well),
		cmocka_unit_test(one_that_crashes_while_it_drains_is_not_replaced),
		cmocka_unit_test(an_order_that_takes_a_restart_back_takes_the_worker_out),
		cmocka_unit_test(a_removed_worker_finishes_before_it_leaves),
		cmocka_unit_test(a_guest_is_not_replaced_but_leaves_the_pool),
		cmocka_unit_test(no_phase_steps_back_within_an_incarnation),
		cmocka_unit_test(phases_have_stable_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
