/* SPDX-License-Identifier: BSD-3-Clause */
#include "order_rig.h"

#include "dispatcher.h"
#include "test.h"

struct weir_config
order_config(const char *strategy, uint32_t n_workers)
{
	struct weir_config config = rig_config(strategy, n_workers);

	config.order = WEIR_ORDER_FLOW;
	return config;
}

struct rig *
order_rig(const char *strategy, uint32_t n_workers, uint32_t max_packets)
{
	const struct weir_config config = order_config(strategy, n_workers);

	return rig_create(&config, max_packets);
}

void
order_assert_goes(struct rig *rig, const struct order_step *steps, uint32_t n)
{
	uint16_t buckets[WEIR_BURST_MAX] = { 0 };
	const struct rig_packet *packets;

	for (uint32_t i = 0; i < n; i++)
		buckets[i] = steps[i].bucket;
	assert_int_equal(rig_dispatch_buckets(rig, 0, buckets, n), n);
	packets = rig_last(rig, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(packets[i].charged, steps[i].worker);
}

void
order_bring_home(struct rig *rig, weir_worker_id id, uint32_t n)
{
	assert_int_equal(rig_work(rig, id, n), n);
	assert_int_equal(rig_harvest(rig), n);
}

/* As many were taken: nothing was evicted. */
static void
claim_start_at(struct claim_lane *claim, struct lane_producer *lane, uint32_t seq)
{
	atomic_store(&claim->shared->seq, seq);
	claim->head = seq;
	claim->published = seq;
	claim->taken = seq;
	claim->harvested = seq;
	claim_view(claim, lane);
}

void
order_start_at(struct rig *rig, uint32_t seq)
{
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		struct weir_dispatcher *d = rig->dispatcher[i].dispatcher;

		for (uint32_t w = 0; w < rig->config.n_workers; w++) {
			struct lane_producer *lane = &d->lane[w];
			struct weir_worker *worker = rig->worker[w].worker;

			assert_int_equal(lane->tail, 0);
			assert_int_equal(seq % (2 * lane->n_slots), 0);
			lane->tail = seq;
			lane->harvested = seq;
			lane->completed = seq;
			if (d->claim)
				claim_start_at(&d->claim[w], lane, seq);
			worker->lane[i].head = seq;
			worker->lane[i].completed = seq;
			progress_publish(worker->progress, i, progress_pack(seq, 0));
			atomic_store(&pool_tails(rig->pool, i)->tail[w], seq);
		}
	}
}

uint32_t
order_kill(struct rig *rig, weir_worker_id id)
{
	struct rig_worker *w = &rig->worker[id];
	uint32_t n = 0;

	rig->on_finish = NULL; /* the dead complete nothing meanwhile */
	order_remove(rig, id);
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		struct weir_dispatcher *d = rig->dispatcher[i].dispatcher;

		n += weir_reclaim(d, id, WEIR_REASON_DEAD_WORKER, WEIR_RECLAIM_GONE);
		/* The dead take nothing more. */
		w->worker->lane[i].head = d->lane[id].tail;
	}
	w->worker->in_process = 0;
	w->n_taken = 0;
	w->completed = 0;
	rig_check(rig);
	return n;
}

void
order_remove(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_remove(rig->pool, id), 0);
}

void
order_add(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_add(rig->pool, id), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_READY), 0);
}

uint64_t
order_index(const struct rig *rig)
{
	return weir_message_index(rig->dispatcher[0].dispatcher);
}

uint64_t
order_moves(const struct rig *rig)
{
	return rig_counters(rig, 0).moves;
}

uint32_t
order_held(const struct rig *rig)
{
	return weir_held(rig->dispatcher[0].dispatcher);
}

bool
order_is_out(const struct rig *rig, uint16_t bucket)
{
	const struct weir_dispatcher *d = rig->dispatcher[0].dispatcher;
	const struct pin *pin = &d->pins[bucket];
	const struct lane_producer *lane = &d->lane[pin->worker];

	return pin_stamp_is_out(pin->stamp, lane->harvested, lane->tail);
}

weir_worker_id
order_pin(const struct rig *rig, uint16_t bucket)
{
	const struct pin *pin = &rig->dispatcher[0].dispatcher->pins[bucket];

	return pin->flags & PIN_KNOWN ? pin->worker : WEIR_WORKER_NONE;
}
