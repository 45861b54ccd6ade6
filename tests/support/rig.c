/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include "dispatcher.h"
#include "test.h"

/* Rounds of harvesting after which a rig that is not empty is taken for stuck. */
#define DRAIN_ROUNDS_MAX 100000
/* Rounds after which workers that are only starting are ready: packets may wait for them. */
#define DRAIN_ROUNDS_STUCK 1000

/* What a worker writes into the packet. */
static uint64_t
payload_answer(const struct rig_packet *packet, weir_worker_id worker)
{
	return ~(uint64_t)packet->id ^ (uint64_t)worker << 40;
}

/* Lanes keep the order of arrival, unless packets of other buckets went on while these waited. */
static void
order_check(struct rig_dispatcher *d, const struct rig_packet *packet)
{
	char words[256];

	if (packet->is_spread) {
		if (packet->verdict.kind == WEIR_VERDICT_DROP || d->rig->copies_move)
			return;
		assert_true(packet->id >= d->next_copy_id[packet->from]);
		d->next_copy_id[packet->from] = packet->id + 1;
		return;
	}
	if (packet->verdict.kind != WEIR_VERDICT_DROP)
		order_oracle_end(
			&d->order, packet->meta.bucket, (uint64_t)packet->id + 1, packet->from);
	if (d->rig->config.order == WEIR_ORDER_FLOW) {
		if (d->order.n_inversions > 0) {
			order_oracle_say(&d->order, words, sizeof(words));
			fail_msg("%s", words);
		}
		return;
	}
	if (d->rig->waits_apart)
		return;
	assert_true(packet->id >= d->next_id[packet->from]);
	d->next_id[packet->from] = packet->id + 1;
}

/* What no worker had is dropped, or its class diverts it. */
static void
divert_check(const struct rig *rig, const struct rig_packet *packet)
{
	const struct weir_class *class = rig_class(rig, packet->meta.class_id);

	if (packet->verdict.kind == WEIR_VERDICT_DROP)
		return;
	assert_int_equal(packet->verdict.kind, WEIR_VERDICT_TX);
	assert_int_equal(class->action, WEIR_ACTION_DIVERT);
	assert_int_equal(packet->verdict.target, class->divert_port);
	assert_int_equal(packet->verdict.length, packet->meta.length);
	assert_int_equal(packet->verdict.data_offset, 0);
}

static void
packet_end(struct rig_dispatcher *d, struct rig_packet *packet, const struct weir_verdict *verdict,
	weir_worker_id worker)
{
	assert_int_equal(packet->owner, RIG_DISPATCHER);
	packet->owner = RIG_ENDED;
	packet->verdict = *verdict;
	packet->from = worker;
	d->ended[d->n_ended++] = packet;
	if (worker == WEIR_WORKER_NONE) {
		divert_check(d->rig, packet);
		d->n_held_overflow += verdict->target == WEIR_REASON_HELD_OVERFLOW;
		d->n_hold_timeout += verdict->target == WEIR_REASON_HOLD_TIMEOUT;
		return;
	}
	assert_true(worker < d->rig->config.n_workers);
	order_check(d, packet);
	/* What was covered was not taken: whose it is by now nobody has heard. */
	if (packet->charged != WEIR_WORKER_NONE &&
		!(d->rig->has_gone && verdict->kind == WEIR_VERDICT_DROP))
		assert_int_equal(packet->charged, worker);
	/* A drop may be the dispatcher's own, of a packet that its worker never saw. */
	if (verdict->kind != WEIR_VERDICT_DROP && !d->rig->is_hostile)
		assert_int_equal(packet->payload, payload_answer(packet, worker));
}

static void
rig_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	struct rig_dispatcher *d = context;
	void (*on_finish)(struct rig * rig) = d->rig->on_finish;

	assert_true(n > 0);
	d->n_finish_calls++;
	d->rig->on_finish = NULL;
	if (on_finish)
		on_finish(d->rig);
	for (uint32_t i = 0; i < n; i++)
		packet_end(d, packets[i], &verdicts[i], worker);
}

struct weir_config
rig_config(const char *strategy, uint32_t n_workers)
{
	struct weir_config config = weir_config_default();

	config.n_workers = n_workers;
	config.strategy = strategy;
	config.hold_size = 1024;
	config.seed = 42;
	return config;
}

static void
rig_dispatcher_create(struct rig *rig, uint32_t id)
{
	struct rig_dispatcher *d = &rig->dispatcher[id];

	d->rig = rig;
	d->packets = calloc(rig->max_packets, sizeof(*d->packets));
	d->ended = calloc(rig->max_packets, sizeof(*d->ended));
	d->held = calloc(WEIR_BUCKETS, sizeof(*d->held));
	assert_non_null(d->packets);
	assert_non_null(d->ended);
	assert_non_null(d->held);
	assert_int_equal(order_oracle_init(&d->order), 0);
	d->dispatcher = weir_dispatcher_create(rig->pool, id, rig_finish, d);
	assert_non_null(d->dispatcher);
}

const char *
rig_fallback(const struct weir_strategy *strategy)
{
	return strategy->flags & WEIR_STRATEGY_FINDS_NONE ? "round-robin" : NULL;
}

struct weir_config
rig_drop_head_config(const char *strategy, uint32_t n_workers, uint32_t lane_size)
{
	struct weir_config config = rig_config(strategy, n_workers);

	config.overflow = "drop-head";
	config.lane_size = lane_size;
	return config;
}

struct rig *
rig_drop_head(const char *strategy, uint32_t n_workers, uint32_t lane_size)
{
	const struct weir_config config = rig_drop_head_config(strategy, n_workers, lane_size);

	return rig_create(&config, 4096);
}

void
rig_settle_policies(struct weir_config *config, struct weir_class *classes)
{
	struct weir_config_error error;

	if (weir_config_check(config, &error) == 0 || !strstr(error.field, "overflow"))
		return;
	if (weir_overflow_find(config->overflow)->evicts)
		config->overflow = "drop-new";
	for (uint32_t i = 0; classes && i < config->n_classes; i++) {
		if (classes[i].overflow && weir_overflow_find(classes[i].overflow)->evicts)
			classes[i].overflow = "drop-new";
	}
}

struct rig *
rig_create(const struct weir_config *config, uint32_t max_packets)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->config = *config;
	rig->max_packets = max_packets;
	rig->bucket = -1;
	rig->copies_per_call = UINT32_MAX;
	rig->pool = weir_pool_create(config, NULL);
	assert_non_null(rig->pool);
	for (uint32_t i = 0; i < config->n_dispatchers; i++)
		rig_dispatcher_create(rig, i);
	rig_classes_learn(rig, config);
	rig->worker = calloc(config->n_workers, sizeof(*rig->worker));
	assert_non_null(rig->worker);
	for (uint32_t i = 0; i < config->n_workers; i++) {
		rig->worker[i].worker = weir_pool_worker(rig->pool, (weir_worker_id)i);
		assert_non_null(rig->worker[i].worker);
	}
	return rig;
}

static void
rig_dispatcher_destroy(struct rig_dispatcher *d)
{
	weir_dispatcher_destroy(d->dispatcher);
	for (uint32_t i = 0; i < d->n_packets; i++)
		assert_int_not_equal(d->packets[i].owner, RIG_DISPATCHER);
	for (uint32_t i = 0; i < d->n_copies; i++)
		assert_int_equal(d->copies[i].owner, RIG_ENDED);
	free(d->copies);
	order_oracle_fini(&d->order);
	free(d->packets);
	free(d->ended);
	free(d->held);
}

void
rig_dispatcher_lose(struct rig *rig)
{
	rig_dispatcher_destroy(&rig->dispatcher[--rig->config.n_dispatchers]);
}

void
rig_destroy(struct rig *rig)
{
	rig_drain(rig);
	rig_check_pins(rig);
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		rig_dispatcher_destroy(&rig->dispatcher[i]);
	weir_pool_destroy(rig->pool);
	free(rig->worker);
	free(rig);
}

uint16_t
rig_bucket(uint32_t number)
{
	/* An odd factor: successive numbers visit every bucket once. */
	return (uint16_t)(number * 40503);
}

/* The lesser of two draws: buckets of low numbers come more often, as large flows do. */
static uint32_t
bucket_draw(const struct rig *rig, uint32_t id)
{
	const uint64_t random = rng_at(rig->config.seed, id);
	const uint32_t one = rng_below(random, rig->n_buckets);
	const uint32_t other = rng_below(random << 32, rig->n_buckets);

	return one < other ? one : other;
}

static uint16_t
packet_bucket(const struct rig *rig, uint32_t id)
{
	if (rig->bucket >= 0)
		return (uint16_t)rig->bucket;
	return rig_bucket(rig->n_buckets > 0 ? bucket_draw(rig, id) : id);
}

/* Drawn: of all, one in eight of a class that is not configured; or of some. */
static uint8_t
packet_class(const struct rig *rig, uint32_t id)
{
	const uint64_t random = rng_at(~rig->config.seed, id);

	if (!rig->draws_classes)
		return (uint8_t)(rig->class_id +
				 (rig->n_classes > 1 ? rng_below(random, rig->n_classes) : 0));
	if (random % 8 == 0)
		return (uint8_t)(random >> 8);
	return (uint8_t)rng_below(random, rig->config.n_classes + 1);
}

static void
packet_make(struct rig *rig, struct rig_dispatcher *d, uint16_t bucket)
{
	const uint32_t id = d->n_packets;
	struct rig_packet *packet = &d->packets[d->n_packets++];

	assert_true(id < rig->max_packets);
	*packet = (struct rig_packet) {
		.id = id,
		.charged = WEIR_WORKER_NONE,
		.from = WEIR_WORKER_NONE,
		.payload = id,
		.meta = {
			.time_ns = rig->time_ns > 0 ? rig->time_ns : id,
			.length = 60 + id % 1400,
			.segment_length = 60 + id % 1400,
			.port = (uint16_t)(id % 7),
			.bucket = bucket,
			.flags = rig->flags,
			.class_id = packet_class(rig, id),
			/* Flows that share a bucket share nothing else. */
			.hash = (uint64_t)bucket << 48 | id,
		},
	};
	packet->is_spread = rig_is_spread(rig, &packet->meta);
}

/* The refused packets as a burst; `handles` and the rest are the caller's arrays. */
struct rig_burst {
	void *handles[WEIR_BURST_MAX];
	void *data[WEIR_BURST_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
	weir_worker_id workers[WEIR_BURST_MAX];
	struct weir_burst burst;
};

static void
burst_fill(struct rig_burst *fill, struct rig_packet *packets, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		fill->handles[i] = &packets[i];
		fill->data[i] = &packets[i].payload;
		fill->meta[i] = packets[i].meta;
		assert_int_equal(packets[i].owner, RIG_CALLER);
		packets[i].owner = RIG_DISPATCHER;
	}
	fill->burst = (struct weir_burst) {
		.packets = fill->handles,
		.data = fill->data,
		.meta = fill->meta,
		.n = n,
		.workers = fill->workers,
	};
}

uint32_t
rig_retry(struct rig *rig, uint32_t dispatcher)
{
	struct rig_dispatcher *d = &rig->dispatcher[dispatcher];
	const uint32_t n = d->n_refused;
	struct rig_packet *packets = &d->packets[d->n_packets - n];
	struct rig_burst fill;
	uint32_t taken;

	burst_fill(&fill, packets, n);
	taken = weir_dispatch(d->dispatcher, &fill.burst);
	assert_true(taken <= n);
	for (uint32_t i = 0; i < taken; i++)
		packets[i].charged = fill.workers[i];
	for (uint32_t i = taken; i < n; i++) {
		assert_int_equal(packets[i].owner, RIG_DISPATCHER);
		packets[i].owner = RIG_CALLER;
	}
	d->n_refused = n - taken;
	rig_check(rig);
	return taken;
}

uint32_t
rig_dispatch_from(struct rig *rig, uint32_t dispatcher, uint32_t n)
{
	struct rig_dispatcher *d = &rig->dispatcher[dispatcher];

	/* What was refused comes first: retry it or hold it. */
	assert_int_equal(d->n_refused, 0);
	for (uint32_t i = 0; i < n; i++)
		packet_make(rig, d, packet_bucket(rig, d->n_packets));
	d->n_refused = n;
	return rig_retry(rig, dispatcher);
}

uint32_t
rig_dispatch_buckets(struct rig *rig, uint32_t dispatcher, const uint16_t *buckets, uint32_t n)
{
	struct rig_dispatcher *d = &rig->dispatcher[dispatcher];

	assert_int_equal(d->n_refused, 0);
	for (uint32_t i = 0; i < n; i++)
		packet_make(rig, d, buckets[i]);
	d->n_refused = n;
	return rig_retry(rig, dispatcher);
}

uint32_t
rig_dispatch(struct rig *rig, uint32_t n)
{
	return rig_dispatch_from(rig, 0, n);
}

void
rig_hold(struct rig *rig, uint32_t dispatcher)
{
	struct rig_dispatcher *d = &rig->dispatcher[dispatcher];
	struct rig_burst fill;

	burst_fill(&fill, &d->packets[d->n_packets - d->n_refused], d->n_refused);
	d->n_refused = 0;
	weir_hold(d->dispatcher, &fill.burst);
	rig_check(rig);
}

void
rig_abandon(struct rig *rig, uint32_t dispatcher)
{
	struct rig_dispatcher *d = &rig->dispatcher[dispatcher];

	d->n_abandoned += d->n_refused;
	d->n_refused = 0;
}

void
rig_time(struct rig *rig, uint64_t now_ns)
{
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		weir_time_set(rig->dispatcher[i].dispatcher, now_ns);
}

uint32_t
rig_harvest(struct rig *rig)
{
	uint32_t finished = 0;

	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		finished += weir_harvest(rig->dispatcher[i].dispatcher);
	rig_check(rig);
	return finished;
}

static struct rig_packet *
packet_of_data(uint8_t *data)
{
	return (struct rig_packet *)(void *)(data - offsetof(struct rig_packet, payload));
}

static void
packet_check_taken(const struct rig *rig, const struct weir_packet *taken)
{
	const struct weir_meta none = { 0 };
	struct rig_packet *packet = packet_of_data(taken->data);

	if (rig->config.lend_metadata)
		rig_marks_learn(rig, packet, &taken->meta);
	packet->n_taken++;
	assert_int_equal(packet->owner, RIG_DISPATCHER);
	assert_int_equal(packet->payload, packet->id);
	assert_memory_equal(&taken->meta, rig->config.lend_metadata ? &packet->meta : &none,
		sizeof(taken->meta));
}

uint32_t
rig_take(struct rig *rig, weir_worker_id id, uint32_t max)
{
	struct rig_worker *w = &rig->worker[id];
	const uint32_t n = w->is_gone || w->is_paused ? 0 : weir_take(w->worker, w->taken, max);

	assert_true(n <= max);
	if (n == 0)
		return 0;
	assert_int_equal(w->completed, w->n_taken);
	w->n_taken = n;
	w->completed = 0;
	for (uint32_t i = 0; i < n; i++)
		packet_check_taken(rig, &w->taken[i]);
	return n;
}

void
rig_complete(struct rig *rig, weir_worker_id id, uint32_t n, struct weir_verdict verdict)
{
	struct rig_worker *w = &rig->worker[id];
	struct weir_verdict verdicts[WEIR_BURST_MAX];

	assert_true(n <= w->n_taken - w->completed);
	for (uint32_t i = 0; i < n; i++) {
		struct rig_packet *packet = packet_of_data(w->taken[w->completed + i].data);

		packet->payload = payload_answer(packet, id);
		verdicts[i] = verdict;
	}
	weir_complete(w->worker, verdicts, n);
	w->completed += n;
}

uint32_t
rig_work(struct rig *rig, weir_worker_id id, uint32_t max)
{
	struct rig_worker *w = &rig->worker[id];
	uint32_t done = 0;

	while (done < max) {
		uint32_t n = w->n_taken - w->completed;

		if (n == 0)
			n = rig_take(
				rig, id, max - done < WEIR_BURST_MAX ? max - done : WEIR_BURST_MAX);
		if (n == 0)
			break;
		n = n < max - done ? n : max - done;
		rig_complete(rig, id, n, weir_verdict_consumed());
		done += n;
	}
	return done;
}

static bool
rig_is_empty(const struct rig *rig)
{
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		const struct weir_dispatcher *d = rig->dispatcher[i].dispatcher;

		if (weir_in_lanes(d) > 0 || weir_held(d) > 0)
			return false;
	}
	return true;
}

void
rig_drain(struct rig *rig)
{
	uint32_t rounds = 0;

	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		rig_abandon(rig, i);
	while (!rig_is_empty(rig)) {
		assert_true(rounds++ < DRAIN_ROUNDS_MAX);
		if (rounds == DRAIN_ROUNDS_STUCK)
			rig_start_all(rig);
		for (uint32_t i = 0; i < rig->config.n_workers; i++)
			rig_work(rig, (weir_worker_id)i, UINT32_MAX);
		rig_harvest(rig);
	}
	rig_check(rig);
}

void
rig_set_depths(struct rig *rig, const uint32_t *depth)
{
	uint32_t deepest = 0;

	assert_true(rig_is_empty(rig));
	for (uint32_t i = 0; i < rig->config.n_workers; i++)
		deepest = depth[i] > deepest ? depth[i] : deepest;
	for (uint32_t i = 0; i < deepest; i++) {
		for (uint32_t left = rig->config.n_workers; left > 0;) {
			const uint32_t n = left < rig->config.burst ? left : rig->config.burst;

			assert_int_equal(rig_dispatch(rig, n), n);
			left -= n;
		}
	}
	for (uint32_t i = 0; i < rig->config.n_workers; i++) {
		const weir_worker_id id = (weir_worker_id)i;

		assert_int_equal(rig_work(rig, id, deepest - depth[i]), deepest - depth[i]);
		assert_int_equal(rig_depth(rig, id), depth[i]);
	}
	rig_harvest(rig);
}

const struct rig_packet *
rig_last(const struct rig *rig, uint32_t n)
{
	const struct rig_dispatcher *d = &rig->dispatcher[0];

	assert_true(n <= d->n_packets);
	return &d->packets[d->n_packets - n];
}

void
rig_assert_routes(struct rig *rig, const weir_worker_id *workers, uint32_t n)
{
	const struct rig_packet *packets;

	assert_int_equal(rig_dispatch(rig, n), n);
	packets = rig_last(rig, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(packets[i].charged, workers[i]);
}

void
rig_assert_routes_singly(struct rig *rig, const weir_worker_id *workers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rig_assert_routes(rig, &workers[i], 1);
}

uint32_t
rig_evicted(const struct rig *rig, uint32_t dispatcher, weir_worker_id id)
{
	const struct weir_dispatcher *d = rig->dispatcher[dispatcher].dispatcher;

	return d->claim ? d->claim[id].evicted : 0;
}

uint32_t
rig_depth(const struct rig *rig, weir_worker_id id)
{
	const struct weir_worker *worker = rig->worker[id].worker;
	uint32_t depth = 0;

	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++)
		depth += rig->dispatcher[i].dispatcher->lane[id].tail - worker->lane[i].completed -
			 rig_evicted(rig, i, id);
	return depth;
}
