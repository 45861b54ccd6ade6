/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * instructions_driver WORKERS PACKETS: sends PACKETS in bursts of one through a pool of idle
 * workers, one thread doing all, for callgrind to count the instructions of weir_dispatch. Prints
 * nothing; fails if a packet is missing.
 */
#include <stdlib.h>

#include <weir/weir.h>

static void
count_finished(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	uint32_t *finished = context;

	(void)packets;
	(void)verdicts;
	(void)worker;
	*finished += n;
}

/* Sends a packet and has its worker return it, so that the next one finds an idle pool. */
static void
packet_send(struct weir_pool *pool, struct weir_dispatcher *dispatcher)
{
	uint8_t bytes[64];
	void *const handle = bytes;
	const struct weir_meta meta = { .length = sizeof(bytes), .segment_length = sizeof(bytes) };
	const struct weir_verdict verdict = weir_verdict_consumed();
	struct weir_packet packet;
	weir_worker_id worker;
	const struct weir_burst burst = {
		.packets = &handle, .meta = &meta, .n = 1, .workers = &worker
	};

	if (weir_dispatch(dispatcher, &burst) != 1)
		abort();
	if (weir_take(weir_pool_worker(pool, worker), &packet, 1) != 1)
		abort();
	weir_complete(weir_pool_worker(pool, worker), &verdict, 1);
}

int
main(int argc, char **argv)
{
	struct weir_config config = weir_config_default();
	struct weir_dispatcher *dispatcher;
	struct weir_pool *pool;
	uint32_t finished = 0;
	uint32_t n_packets;

	if (argc != 3)
		return EXIT_FAILURE;
	config.n_workers = (uint32_t)strtoul(argv[1], NULL, 10);
	n_packets = (uint32_t)strtoul(argv[2], NULL, 10);
	pool = weir_pool_create(&config, NULL);
	if (!pool)
		return EXIT_FAILURE;
	dispatcher = weir_dispatcher_create(pool, 0, count_finished, &finished);
	if (!dispatcher)
		return EXIT_FAILURE;
	for (uint32_t i = 0; i < n_packets; i++)
		packet_send(pool, dispatcher);
	weir_harvest(dispatcher);
	weir_dispatcher_destroy(dispatcher);
	weir_pool_destroy(pool);
	return finished == n_packets ? EXIT_SUCCESS : EXIT_FAILURE;
}
