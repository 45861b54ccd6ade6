/* SPDX-License-Identifier: BSD-3-Clause */
#include "lane_bench.h"

#include "test.h"

void
lane_bench_open(struct lane_bench *bench, struct lane_geometry geometry)
{
	bench->geometry = geometry;
	bench->slots = calloc(1, geometry.slots_bytes);
	bench->metadata = geometry.metadata_bytes > 0 ? calloc(1, geometry.metadata_bytes) : NULL;
	bench->verdicts = calloc(1, geometry.verdicts_bytes);
	bench->packets = calloc(1, geometry.packets_bytes);
	bench->producer = (struct lane_producer) {
		.slots = bench->slots,
		.metadata = bench->metadata,
		.packets = bench->packets,
		.verdicts = bench->verdicts,
		.n_slots = geometry.n_slots,
	};
	bench->worker.progress = &bench->progress;
	bench->worker.activity = &bench->activity;
	bench->worker.n_dispatchers = 1;
	bench->worker.lane[0] = (struct lane_consumer) {
		.slots = bench->slots,
		.metadata = bench->metadata,
		.verdicts = bench->verdicts,
		.n_slots = geometry.n_slots,
		.n_verdicts = geometry.n_verdicts,
	};
}

void
lane_bench_close(struct lane_bench *bench)
{
	free(bench->slots);
	free(bench->metadata);
	free(bench->verdicts);
	free(bench->packets);
}
