/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/lane: workers made of mapped memory, and memory that no worker is made of. */
#include "test.h"

#include <sys/mman.h>

#include "attached.h"
#include "pool.h"
#include "rig.h"

#define PAGE 4096

/* Every address is within it: the rig's packets lie anywhere. */
static void
config_share(struct weir_config *config)
{
	config->is_shared = true;
	config->data_base = (void *)PAGE;
	config->data_bytes = (size_t)INT64_MAX;
}

/* A rig whose workers are attached ones. */
struct attached_rig {
	struct rig *rig;
	struct attached *attached;
};

static struct attached_rig
attached_rig_create(struct weir_config config, uint32_t max_packets)
{
	struct attached_rig a;

	config_share(&config);
	a.rig = rig_create(&config, max_packets);
	a.attached = calloc(config.n_workers, sizeof(*a.attached));
	assert_non_null(a.attached);
	for (uint32_t i = 0; i < config.n_workers; i++) {
		assert_true(attached_open(&a.attached[i], a.rig->pool, (weir_worker_id)i,
			config.data_base, config.data_bytes));
		assert_int_equal(weir_worker_get_id(a.attached[i].worker), i);
		a.rig->worker[i].worker = a.attached[i].worker;
	}
	return a;
}

static void
attached_rig_destroy(struct attached_rig *a)
{
	rig_drain(a->rig);
	for (uint32_t i = 0; i < a->rig->config.n_workers; i++)
		attached_close(&a->attached[i]);
	free(a->attached);
	rig_destroy(a->rig);
}

/* The rig checks what its workers see and what comes back. */
static void
traffic_run(struct weir_config config, struct test_random *random, uint32_t n_classes)
{
	struct attached_rig a = attached_rig_create(config, 4096);

	a.rig->n_buckets = 64;
	a.rig->n_classes = (uint8_t)n_classes;
	for (uint32_t round = 0; round < 100; round++) {
		const weir_worker_id id =
			(weir_worker_id)test_random_below(random, config.n_workers);

		rig_dispatch_from(a.rig, test_random_below(random, config.n_dispatchers),
			test_random_between(random, 1, 32));
		rig_work(a.rig, id, test_random_below(random, 64));
		rig_harvest(a.rig);
		rig_check(a.rig);
	}
	attached_rig_destroy(&a);
}

static void
attached_workers_take_and_complete_as_the_pools_own(void **state)
{
	static const uint32_t sizes[] = { 1, 3, 64 };
	struct test_random random = test_random_start(__func__);

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct weir_config config = rig_config("shallowest", 3);

		config.lane_size = sizes[i];
		config.n_dispatchers = 2;
		traffic_run(config, &random, 0);
		config.lend_metadata = false;
		traffic_run(config, &random, 0);
		config.lend_metadata = true;
		config.order = WEIR_ORDER_FLOW;
		traffic_run(config, &random, 0);
		config.n_dispatchers = 3;
		config.n_urgent = 1;
		traffic_run(config, &random, 0);
	}
}

static void
attached_workers_claim_and_cover_as_the_pools_own(void **state)
{
	static const struct weir_class covering = { .admission = WEIR_ADMIT_COVER_EARLY };
	struct test_random random = test_random_start(__func__);
	struct weir_config config = rig_drop_head_config("shallowest", 3, 4);

	(void)state;
	traffic_run(config, &random, 0);
	config.lend_metadata = false;
	config.n_dispatchers = WEIR_DISPATCHERS_MAX;
	traffic_run(config, &random, 0);
	config = rig_config("shallowest", 3);
	config.lane_size = 16;
	config.classes = &covering;
	config.n_classes = 1;
	traffic_run(config, &random, 2);
}

static void
attached_worker_is_told_and_heard_like_the_pools_own(void **state)
{
	struct attached_rig a = attached_rig_create(rig_config("first", 2), 64);
	struct weir_worker *worker = a.rig->worker[1].worker;
	struct weir_worker_activity activity;

	(void)state;
	weir_pool_command(a.rig->pool, 1, WEIR_COMMAND_DRAIN);
	assert_int_equal(weir_worker_read_command(worker), WEIR_COMMAND_DRAIN);
	weir_worker_beat(worker);
	weir_worker_report_state(worker, WEIR_WORKER_READY);
	assert_int_equal(weir_pool_worker_pulse(a.rig->pool, 1).beats, 1);
	assert_int_equal(weir_pool_worker_pulse(a.rig->pool, 1).state, WEIR_WORKER_READY);
	weir_worker_count_busy(worker, 5, 9);
	weir_pool_worker_activity(a.rig->pool, 1, &activity);
	assert_int_equal(activity.busy_cycles, 5);
	assert_int_equal(activity.busy_since, 9);
	assert_false(weir_worker_is_drained(worker));
	lane_end(&pool_worker_header(a.rig->pool, 1)->lane[0], 0, 0);
	assert_true(weir_worker_is_drained(worker));
	attached_rig_destroy(&a);
}

/* What a process had begun when it died is known, whatever the depth mode. */
static void
workers_of_shared_pools_say_what_they_have_in_process(void **state)
{
	struct attached_rig a = attached_rig_create(rig_config("first", 1), 64);
	struct progress *progress = pool_progress(a.rig->pool, 0);

	(void)state;
	rig_dispatch(a.rig, 5);
	assert_int_equal(rig_take(a.rig, 0, 3), 3);
	assert_int_equal(progress_in_process(progress_read(progress, 0)), 3);
	rig_complete(a.rig, 0, 1, weir_verdict_consumed());
	assert_int_equal(progress_in_process(progress_read(progress, 0)), 2);
	rig_complete(a.rig, 0, 2, weir_verdict_consumed());
	assert_int_equal(progress_in_process(progress_read(progress, 0)), 0);
	attached_rig_destroy(&a);
}

/* It was an offset in the lane: for the other worker it must be one again. */
static void
what_a_process_leaves_goes_to_others_with_its_data(void **state)
{
	static const struct weir_departure crash = {
		.state = WEIR_WORKER_DEAD,
		.redispatch = true,
		.redeliver = true,
		.in_process_reason = WEIR_REASON_CRASH_INFLIGHT,
	};

	(void)state;
	for (int claims = 0; claims < 2; claims++) {
		struct weir_config config = claims ? rig_drop_head_config("round-robin", 2, 32)
						   : rig_config("round-robin", 2);
		struct attached_rig a = attached_rig_create(config, 64);

		rig_dispatch(a.rig, 20);
		assert_int_equal(rig_take(a.rig, 0, 4), 4);
		rig_kill(a.rig, 0, &crash);
		rig_harvest(a.rig);
		/* The rig knows its packets by where their data is. */
		assert_int_equal(rig_work(a.rig, 1, 64), 20);
		assert_int_equal(rig_harvest(a.rig), 20);
		assert_int_equal(rig_dropped(a.rig, WEIR_REASON_CRASH_INFLIGHT), 0);
		attached_rig_destroy(&a);
	}
}

/* Another process attaches to the same memory, and finds it as a new one's. */
static void
next_incarnation_attaches_and_works(void **state)
{
	static const struct weir_departure crash = { .state = WEIR_WORKER_DEAD };

	(void)state;
	for (int claims = 0; claims < 2; claims++) {
		struct weir_config config =
			claims ? rig_drop_head_config("first", 1, 4) : rig_config("first", 1);
		struct attached_rig a;

		config.lane_size = 4;
		a = attached_rig_create(config, 1024);
		for (uint32_t round = 0; round < 50; round++) {
			rig_dispatch(a.rig, round % 4 + 1);
			rig_take(a.rig, 0, 2);
			rig_kill(a.rig, 0, &crash);
			rig_harvest(a.rig);
			attached_close(&a.attached[0]);
			rig_restart(a.rig, 0);
			assert_true(attached_open(&a.attached[0], a.rig->pool, 0,
				a.rig->config.data_base, a.rig->config.data_bytes));
			a.rig->worker[0].worker = a.attached[0].worker;
			assert_int_equal(rig_take(a.rig, 0, 4), 0);
			rig_dispatch(a.rig, 3);
			assert_int_equal(rig_work(a.rig, 0, 4), 3);
			assert_int_equal(rig_harvest(a.rig), 3);
		}
		attached_rig_destroy(&a);
	}
}

static void
worker_that_joins_later_attaches(void **state)
{
	struct weir_config config = rig_config("first", 2);
	struct attached_rig a;

	(void)state;
	config.n_members = 1;
	a = attached_rig_create(config, 64);
	assert_int_equal(weir_pool_add(a.rig->pool, 1), 0);
	attached_close(&a.attached[1]);
	assert_true(attached_open(
		&a.attached[1], a.rig->pool, 1, a.rig->config.data_base, a.rig->config.data_bytes));
	a.rig->worker[1].worker = a.attached[1].worker;
	attached_rig_destroy(&a);
}

/* Copies of a worker's two blocks between pages that cannot be read, for spoiling. */
struct copy {
	uint8_t *lanes_pages;
	uint8_t *own_pages;
	struct weir_worker_mapping mapping;
};

static uint8_t *
guarded_copy(uint8_t **pages, const void *from, size_t bytes)
{
	*pages = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(*pages, MAP_FAILED);
	assert_int_equal(mprotect(*pages + PAGE, bytes, PROT_READ | PROT_WRITE), 0);
	return memcpy(*pages + PAGE, from, bytes);
}

static struct copy
copy_make(const struct weir_pool *pool)
{
	struct weir_worker_memory memory;
	struct copy copy;
	void *lanes;
	void *own;

	assert_int_equal(weir_pool_worker_memory(pool, 0, &memory), 0);
	lanes = guarded_copy(&copy.lanes_pages, pool_worker_header(pool, 0), memory.lanes_bytes);
	own = guarded_copy(&copy.own_pages, pool->worker_area.memory, memory.own_bytes);
	copy.mapping = (struct weir_worker_mapping) {
		.lanes = lanes,
		.lanes_bytes = memory.lanes_bytes,
		.own = own,
		.own_bytes = memory.own_bytes,
		.data = weir_pool_config(pool)->data_base,
		.data_bytes = weir_pool_config(pool)->data_bytes,
	};
	return copy;
}

static void
copy_free(struct copy *copy)
{
	munmap(copy->lanes_pages, copy->mapping.lanes_bytes + 2 * PAGE);
	munmap(copy->own_pages, copy->mapping.own_bytes + 2 * PAGE);
}

/* A pool of one worker with something in its lanes; `kind`: 0 plain, 1 claim, 2 cover early. */
static struct rig *
spoiling_rig(uint32_t kind)
{
	static const struct weir_class covering = { .admission = WEIR_ADMIT_COVER_EARLY };
	struct weir_config config =
		kind == 1 ? rig_drop_head_config("first", 1, 64) : rig_config("first", 1);
	struct rig *rig;

	config.lane_size = 64;
	config.n_dispatchers = 2;
	if (kind == 2) {
		config.classes = &covering;
		config.n_classes = 1;
	}
	config_share(&config);
	rig = rig_create(&config, 64);
	rig->n_classes = 2;
	rig_dispatch_from(rig, 0, 20);
	rig_dispatch_from(rig, 1, 20);
	return rig;
}

static void
assert_refused(const struct weir_worker_mapping *mapping, const char *reason)
{
	char said[WEIR_ATTACH_REASON_BYTES] = "";

	errno = 0;
	assert_null(weir_worker_attach(mapping, said, sizeof(said)));
	assert_int_equal(errno, EPROTO);
	if (!strstr(said, reason))
		fail_msg("'%s' is not in '%s'", reason, said);
	assert_null(weir_worker_attach(mapping, NULL, 0));
}

static void
memory_that_is_not_mapped_as_it_was_laid_out_is_refused(void **state)
{
	struct rig *rig = spoiling_rig(0);
	struct copy copy = copy_make(rig->pool);
	struct weir_worker_mapping m;
	struct weir_worker *worker = weir_worker_attach(&copy.mapping, NULL, 0);

	(void)state;
	/* As it is, it is good. */
	assert_non_null(worker);
	weir_worker_detach(worker);
	m = copy.mapping, m.lanes = NULL;
	assert_refused(&m, "lanes: not mapped");
	m = copy.mapping, m.own = NULL;
	assert_refused(&m, "own memory: not mapped");
	m = copy.mapping, m.data = NULL;
	assert_refused(&m, "packets: not mapped");
	m = copy.mapping, m.lanes = (const char *)m.lanes + 8;
	assert_refused(&m, "lanes: not mapped at the begin");
	m = copy.mapping, m.lanes_bytes = 64;
	assert_refused(&m, "lanes: 64 bytes are mapped");
	m = copy.mapping, m.own_bytes = 0;
	assert_refused(&m, "own memory: 0 bytes are mapped");
	m = copy.mapping, m.lanes_bytes -= PAGE;
	assert_refused(&m, "were laid out");
	m = copy.mapping, m.own_bytes -= PAGE;
	assert_refused(&m, "own memory: ");
	m = copy.mapping, m.data_bytes--;
	assert_refused(&m, "packets: ");
	copy_free(&copy);
	rig_destroy(rig);
}

#define HEADER_FIELD(field) \
	offsetof(struct worker_header, field), sizeof(((struct worker_header *)NULL)->field)

static void
header_of_another_kind_version_or_geometry_is_refused(void **state)
{
	static const struct {
		size_t offset;
		size_t bytes;
		uint64_t value;
		const char *reason;
	} cases[] = {
		{ HEADER_FIELD(magic), WORKER_OWN_MAGIC, "lanes: not memory of Weir's" },
		{ HEADER_FIELD(version), 3, "lanes: of ABI version 3, this is 1" },
		{ HEADER_FIELD(header_bytes), 64, "header: " },
		{ HEADER_FIELD(id), 256, "256 is no number of worker id" },
		{ HEADER_FIELD(id), 1, "own memory: of worker 0, the lanes are worker 1's" },
		{ HEADER_FIELD(incarnation), 2,
			"own memory: of incarnation 0, the lanes are of 2" },
		{ HEADER_FIELD(layout.n_dispatchers), 0, "0 is no number of dispatchers" },
		{ HEADER_FIELD(layout.n_dispatchers), 15, "15 is no number of dispatchers" },
		{ HEADER_FIELD(layout.n_urgent), 2, "2 is no number of urgent" },
		{ HEADER_FIELD(layout.n_slots), 0, "0 is no number of slots" },
		{ HEADER_FIELD(layout.n_slots), 48, "48 is no number of slots" },
		{ HEADER_FIELD(layout.n_slots), 131072, "131072 is no number of slots" },
		{ HEADER_FIELD(layout.n_slots), 65536, "is no number of verdicts" },
		{ HEADER_FIELD(layout.n_verdicts), 32, "32 is no number of verdicts" },
		{ HEADER_FIELD(layout.n_verdicts), 65536, "verdicts: not within" },
		{ HEADER_FIELD(layout.covering), 2, "nothing tells what is covered" },
		{ HEADER_FIELD(layout.slots_offset), 0, "slots: not within" },
		{ HEADER_FIELD(layout.slots_offset), UINT64_MAX - 63, "slots: not within" },
		{ HEADER_FIELD(layout.slots_offset), 4100, "slots: not within" },
		{ HEADER_FIELD(layout.lane_stride), UINT64_MAX - 63, "slots: not within" },
		{ HEADER_FIELD(layout.metadata_offset), UINT64_MAX - 63, "metadata: not within" },
		{ HEADER_FIELD(layout.metadata_offset), 12, "metadata: not within" },
		{ HEADER_FIELD(layout.covers_offset), 8192, "covers: not within" },
		{ HEADER_FIELD(layout.progress_offset), 0, "progress: not within" },
		{ HEADER_FIELD(layout.progress_offset), 8192, "progress: not within" },
		{ HEADER_FIELD(layout.verdicts_stride), 8192, "verdicts: not within" },
		{ HEADER_FIELD(layout.heads_offset), 8128, "heads: not within" },
		{ HEADER_FIELD(layout.heads_offset), 16, "heads: not within" },
	};
	struct rig *rig = spoiling_rig(0);

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct copy copy = copy_make(rig->pool);

		memcpy((uint8_t *)(uintptr_t)copy.mapping.lanes + cases[i].offset, &cases[i].value,
			cases[i].bytes);
		assert_refused(&copy.mapping, cases[i].reason);
		copy_free(&copy);
	}
	rig_destroy(rig);
}

static void
own_memory_of_another_kind_or_version_is_refused(void **state)
{
	struct rig *rig = spoiling_rig(0);
	struct copy copy = copy_make(rig->pool);
	struct worker_own *own = copy.mapping.own;

	(void)state;
	own->version = 3;
	assert_refused(&copy.mapping, "own memory: of ABI version 3, this is 1");
	own->magic = WORKER_LANES_MAGIC;
	assert_refused(&copy.mapping, "own memory: not memory of Weir's");
	copy_free(&copy);
	rig_destroy(rig);
}

/* A pool of threads has addresses in its slots, which mean nothing elsewhere. */
static void
memory_of_a_pool_that_is_not_shared_is_refused(void **state)
{
	struct rig *rig = spoiling_rig(0);
	struct copy copy = copy_make(rig->pool);
	struct weir_worker_mapping m = copy.mapping;

	(void)state;
	((struct worker_header *)(uintptr_t)m.lanes)->layout.data_bytes = 0;
	assert_refused(&m, "packets: ");
	copy_free(&copy);
	rig_destroy(rig);
}

/* One number or two of the header become others: random ones, small ones, or their neighbours. */
static void
header_spoil(struct worker_header *header, struct test_random *random)
{
	uint32_t *words = (void *)header;

	for (uint32_t n = test_random_between(random, 1, 2); n > 0; n--) {
		uint32_t *word = &words[test_random_below(
			random, offsetof(struct worker_header, command) / sizeof(*words))];

		switch (test_random_below(random, 4)) {
		case 0:
			*word = (uint32_t)test_random_next(random);
			break;
		case 1:
			*word = UINT32_C(1) << test_random_below(random, 32);
			break;
		case 2:
			*word += 64 * test_random_below(random, 256);
			break;
		default:
			*word -= test_random_between(random, 1, 64);
		}
	}
}

/* Uses a worker for all it can do: the pages around its memory cannot be read. */
static void
worker_use(struct weir_worker *worker)
{
	struct weir_packet packets[WEIR_BURST_MAX];
	struct weir_verdict verdicts[WEIR_BURST_MAX] = { 0 };

	for (uint32_t i = 0; i < 8; i++) {
		const uint32_t n = weir_take(worker, packets, WEIR_BURST_MAX);

		weir_complete(worker, verdicts, n);
	}
	weir_worker_beat(worker);
	weir_worker_count_busy(worker, 1, 1);
	(void)weir_worker_is_drained(worker);
	(void)weir_worker_read_command(worker);
}

static void
header_of_any_content_is_refused_or_leads_to_mapped_memory_only(void **state)
{
	struct test_random random = test_random_start(__func__);
	uint32_t n_attached = 0;
	uint32_t n_refused = 0;

	(void)state;
	for (uint32_t kind = 0; kind < 3; kind++) {
		struct rig *rig = spoiling_rig(kind);
		const struct copy pristine = copy_make(rig->pool);

		for (uint32_t i = 0; i < 5000; i++) {
			const struct weir_worker_mapping *m = &pristine.mapping;
			struct worker_header *header = (void *)(uintptr_t)m->lanes;
			const struct worker_header before = *header;
			struct weir_worker *worker;

			header_spoil(header, &random);
			worker = weir_worker_attach(m, NULL, 0);
			n_attached += worker != NULL;
			n_refused += worker == NULL;
			if (worker)
				worker_use(worker);
			weir_worker_detach(worker);
			*header = before;
			memcpy(m->own, rig->pool->worker_area.memory, m->own_bytes);
		}
		copy_free((struct copy *)&pristine);
		rig_destroy(rig);
	}
	assert_true(n_attached > 100 && n_refused > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached_workers_take_and_complete_as_the_pools_own),
		cmocka_unit_test(attached_workers_claim_and_cover_as_the_pools_own),
		cmocka_unit_test(attached_worker_is_told_and_heard_like_the_pools_own),
		cmocka_unit_test(workers_of_shared_pools_say_what_they_have_in_process),
		cmocka_unit_test(what_a_process_leaves_goes_to_others_with_its_data),
		cmocka_unit_test(next_incarnation_attaches_and_works),
		cmocka_unit_test(worker_that_joins_later_attaches),
		cmocka_unit_test(memory_that_is_not_mapped_as_it_was_laid_out_is_refused),
		cmocka_unit_test(header_of_another_kind_version_or_geometry_is_refused),
		cmocka_unit_test(own_memory_of_another_kind_or_version_is_refused),
		cmocka_unit_test(memory_of_a_pool_that_is_not_shared_is_refused),
		cmocka_unit_test(header_of_any_content_is_refused_or_leads_to_mapped_memory_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
