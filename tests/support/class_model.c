/* SPDX-License-Identifier: BSD-3-Clause */
#include "class_model.h"

#include "pick.h"

/* Classes that packets are drawn from; those from 64 on count for class 0. */
static const uint8_t class_ids[] = { 0, 1, 2, 63, 64, 255 };

struct model_worker {
	bool known;
	uint64_t count_pkts;
	uint64_t since; /* when it got its count or its place */
};

struct model {
	bool counts_packets;
	uint64_t now;
	struct {
		uint64_t epoch;
		struct model_worker worker[WEIR_WORKERS_MAX];
	} of[4]; /* by place in class_ids */
};

struct comparison {
	struct pick *pick;
	struct model model;
	struct model before; /* the last call */
	uint32_t n_left;
	uint32_t n_joined;
	uint32_t n_withdrawn;
};

static struct model_worker *
model_first(struct model_worker *worker)
{
	struct model_worker *first = NULL;

	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
		struct model_worker *one = &worker[id];

		if (!one->known)
			continue;
		if (!first || one->count_pkts < first->count_pkts ||
			(one->count_pkts == first->count_pkts && one->since < first->since))
			first = one;
	}
	return first;
}

/* Forgets who is gone, then lets newcomers in at the least count. */
static void
model_adopt(struct comparison *run, struct model_worker *worker)
{
	const struct weir_snapshot *snapshot = &run->pick->snapshot;
	const struct model_worker *first;
	uint64_t least;

	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id++) {
		if (worker[id].known && snapshot->position[id] == WEIR_WORKER_NONE) {
			worker[id].known = false;
			run->n_left++;
		}
	}
	first = model_first(worker);
	least = first ? first->count_pkts : 0;
	for (uint32_t i = 0; i < snapshot->n_routable; i++) {
		struct model_worker *one = &worker[snapshot->routable[i]];

		if (one->known)
			continue;
		*one = (struct model_worker) { true, least, run->model.now++ };
		run->n_joined++;
	}
}

/* The workers of a class as they are just before a pick. */
static struct model_worker *
model_class(struct comparison *run, uint8_t class_id)
{
	struct model *model = &run->model;
	const uint64_t epoch = run->pick->context.epoch;
	struct model_worker *worker;
	uint32_t place = 0;

	while (class_ids[place] != class_id)
		place++;
	place = class_id < WEIR_CLASSES_MAX ? place : 0;
	worker = model->of[place].worker;
	if (model->of[place].epoch != epoch)
		memset(worker, 0, sizeof(model->of[place].worker));
	model->of[place].epoch = epoch;
	model_adopt(run, worker);
	return worker;
}

static weir_worker_id
model_pick(struct comparison *run, uint8_t class_id)
{
	struct model_worker *worker = model_class(run, class_id);
	struct model_worker *first = model_first(worker);

	if (run->model.counts_packets)
		first->count_pkts += run->pick->context.stride;
	first->since = run->model.now++;
	return (weir_worker_id)(first - worker);
}

/* Any subset, in any order: a small one from a narrow range, or a large one. */
static void
pool_change(struct comparison *run, struct test_random *random)
{
	const uint32_t range =
		test_random_below(random, 4) ? 6 : test_random_between(random, 1, WEIR_WORKERS_MAX);
	const uint32_t n = test_random_between(random, 1, range);
	weir_worker_id ids[WEIR_WORKERS_MAX];

	for (uint32_t i = 0; i < range; i++) {
		const uint32_t other = test_random_below(random, i + 1);

		ids[i] = ids[other];
		ids[other] = (weir_worker_id)i;
	}
	pick_change_pool(run->pick, ids, n);
}

static void
call_compare(struct comparison *run, uint32_t n)
{
	struct pick *pick = run->pick;

	run->before = run->model;
	pick_burst(pick, n); /* asserts that each is routable */
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pick->snapshot.routable[pick->out[i]],
			model_pick(run, pick->meta[i * pick->context.stride].class_id));
}

/* Picks are taken back; that a class has seen who came and who left is not. */
static void
call_withdraw(struct comparison *run, uint32_t n, uint32_t n_kept)
{
	struct pick *pick = run->pick;

	pick_withdraw(pick, n, n_kept);
	run->model = run->before;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t class_id = pick->meta[i * pick->context.stride].class_id;

		if (i < n_kept)
			model_pick(run, class_id);
		else
			model_class(run, class_id);
	}
	run->n_withdrawn += n - n_kept;
}

static void
call_random(struct comparison *run, struct test_random *random)
{
	struct pick *pick = run->pick;
	uint32_t n;

	if (test_random_below(random, 4) == 0)
		pool_change(run, random);
	if (test_random_below(random, 16) == 0)
		pick->context.epoch++;
	if (test_random_below(random, 8) == 0)
		pick_set_stride(pick, test_random_below(random, 2)
					      ? 1
					      : test_random_between(random, 1, WEIR_BURST_MAX));
	n = test_random_between(random, 1, WEIR_BURST_MAX / pick->context.stride);
	n = test_random_below(random, 8) && n > 8 ? 8 : n;
	for (uint32_t i = 0; i < n * pick->context.stride; i++)
		pick->meta[i].class_id =
			class_ids[test_random_below(random, ARRAY_LENGTH(class_ids))];
	call_compare(run, n);
	if (test_random_below(random, 3) == 0)
		call_withdraw(run, n, test_random_below(random, n + 1));
}

void
class_model_compare(
	const char *strategy, bool counts_packets, uint32_t n_calls, struct test_random *random)
{
	struct comparison *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->model.counts_packets = counts_packets;
	run->pick = pick_create(strategy, 3);
	for (uint32_t i = 0; i < n_calls; i++)
		call_random(run, random);
	/* It was worth the look. */
	assert_true(run->n_left > n_calls / 8);
	assert_true(run->n_joined > n_calls / 8);
	assert_true(run->n_withdrawn > n_calls / 8);
	pick_destroy(run->pick);
	free(run);
}
