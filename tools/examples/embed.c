/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weir embedded in five calls, without DPDK: this thread dispatches, another one works. Public
 * headers only: cc embed.c $(pkg-config --cflags --libs weir)
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <weir/weir.h>

enum { N_PACKETS = 1000, PACKET_BYTES = 64, BURST = 32 };

/* The worker's thread: borrows a burst, works on it in place, gives it back with verdicts. */
static void *
worker_main(void *worker)
{
	struct weir_packet packets[BURST];
	struct weir_verdict verdicts[BURST];

	for (uint32_t done = 0, n; done < N_PACKETS; done += n) {
		n = weir_take(worker, packets, BURST);
		for (uint32_t i = 0; i < n; i++) {
			memset(packets[i].data, 'w', packets[i].meta.length);
			verdicts[i] = weir_verdict_tx(&packets[i], 0);
		}
		if (n > 0)
			weir_complete(worker, verdicts, n);
		else
			sched_yield();
	}
	return NULL;
}

/* Packets that have come home: to be transmitted or freed, as the verdict says. */
static void
packets_finish(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	uint32_t *sent = context;

	(void)worker;
	for (uint32_t i = 0; i < n; i++)
		*sent += verdicts[i].kind == WEIR_VERDICT_TX && *(char *)packets[i] == 'w';
}

int
main(void)
{
	static char bytes[N_PACKETS][PACKET_BYTES];
	const struct weir_meta meta = { .length = PACKET_BYTES, .segment_length = PACKET_BYTES };
	struct weir_config config = weir_config_default();
	struct weir_meta metas[N_PACKETS];
	void *packets[N_PACKETS];
	uint32_t sent = 0;
	pthread_t thread;

	config.n_workers = 1;
	config.overflow = "reject";
	struct weir_pool *pool = weir_pool_create(&config, NULL);
	struct weir_dispatcher *dispatcher = weir_dispatcher_create(pool, 0, packets_finish, &sent);
	pthread_create(&thread, NULL, worker_main, weir_pool_worker(pool, 0));
	for (uint32_t i = 0; i < N_PACKETS; i++) {
		packets[i] = bytes[i];
		metas[i] = meta;
	}
	for (uint32_t done = 0; done < N_PACKETS;) {
		const uint32_t left = N_PACKETS - done;
		const struct weir_burst burst = { .packets = &packets[done],
			.meta = &metas[done],
			.n = left < BURST ? left : BURST };

		/* What the full lane refuses is offered again. */
		done += weir_dispatch(dispatcher, &burst);
	}
	while (weir_in_lanes(dispatcher) > 0)
		weir_harvest(dispatcher);
	pthread_join(thread, NULL);
	weir_dispatcher_destroy(dispatcher);
	weir_pool_destroy(pool);
	printf("%d packets lent, %u worked on and sent\n", N_PACKETS, sent);
	return sent != N_PACKETS;
}
