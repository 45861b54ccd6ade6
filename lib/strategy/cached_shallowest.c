/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cached-shallowest: the scan of `shallowest` over published readings. What the readings say is
 * settled once per burst; own sends are added pick by pick, and begin at 0 again with a worker's
 * next reading.
 */
#include "cached_depth.h"

/* Instead of a depth: above all depths, which are 32 bits and what was sent on top of them. */
#define NO_READING UINT64_MAX
#define NOT_ROUTABLE (UINT64_MAX - 1)
#define DEPTH_END NOT_ROUTABLE

/* What a dispatcher knows of a worker. */
struct cached_entry {
	uint64_t sequence; /* of the reading below; 0: none */
	uint64_t sent;	   /* packets picked since it came */
	struct weir_depth_reading reading;
};

/* A dispatcher's own, per route. By id, which no snapshot changes, but for the burst's depths. */
struct cached_state {
	struct cached_entry worker[WEIR_WORKERS_MAX];
	uint64_t depth[WEIR_WORKERS_MAX]; /* by position; this burst's */
	weir_worker_id picked[WEIR_BURST_MAX];
	uint32_t n_picked;
};

/* Adopts the worker's newest reading; one that could not be read leaves the one before. */
static inline void
entry_refresh(struct cached_entry *entry, const struct reading_line *line)
{
	struct weir_depth_reading reading;
	const uint64_t sequence = reading_load(line, &reading);

	if (sequence == UINT64_MAX || sequence == entry->sequence)
		return;
	*entry = (struct cached_entry) { .sequence = sequence, .reading = reading };
}

/* What the worker's depth is taken for at this moment. */
static inline uint64_t
entry_depth(const struct weir_cached_depth *cached, const struct cached_entry *entry,
	uint32_t incarnation, uint64_t now_ns)
{
	if (entry->sequence == 0 || incarnation == 0 || entry->reading.incarnation != incarnation ||
		!reading_is_fresh(cached, &entry->reading, now_ns))
		return NO_READING;
	return entry->reading.routable ? entry->reading.depth_pkts + entry->sent : NOT_ROUTABLE;
}

/* Fills the depths of all positions. Returns whether one of them is a depth. */
static bool
depths_fill(const struct weir_cached_depth *cached, const struct weir_pick_context *ctx,
	struct cached_state *state)
{
	uint64_t least = NO_READING;

	for (uint32_t position = 0; position < ctx->n_routable; position++) {
		const weir_worker_id id = ctx->routable[position];
		uint64_t depth = NO_READING;

		if (id < cached->config.n_workers) {
			entry_refresh(&state->worker[id], &cached->line[id]);
			depth = entry_depth(cached, &state->worker[id],
				reading_incarnation(cached, id), ctx->now_ns);
		}
		state->depth[position] = depth;
		least = depth < least ? depth : least;
	}
	return least < DEPTH_END;
}

struct scan {
	uint64_t depth; /* of the best */
	uint32_t best;	/* position */
};

/* Scans [from, to) until something at the floor is found. */
static inline void
scan_range(struct scan *scan, const uint64_t *depth, uint32_t from, uint32_t to, uint64_t floor)
{
	for (uint32_t position = from; position < to; position++) {
		if (depth[position] >= scan->depth)
			continue;
		scan->best = position;
		scan->depth = depth[position];
		if (scan->depth <= floor)
			return;
	}
}

/* The floor is that of `shallowest`: what a complete scan of this burst has proved. */
static inline struct scan
scan_from(const uint64_t *depth, uint32_t n, uint32_t start, uint64_t floor)
{
	struct scan scan = { .best = start, .depth = DEPTH_END };

	scan_range(&scan, depth, start, n, floor);
	if (scan.depth > floor)
		scan_range(&scan, depth, 0, start, floor);
	return scan;
}

static void
sent_add(struct cached_state *state, const struct weir_pick_context *ctx, uint32_t position)
{
	const weir_worker_id id = ctx->routable[position];

	state->worker[id].sent += ctx->stride;
	state->picked[state->n_picked++] = id;
}

static void
burst_scan(const struct weir_cached_depth *cached, const struct weir_pick_context *ctx,
	struct cached_state *state, uint32_t n_picks, uint16_t *out)
{
	const uint32_t added = cached->config.add_own_sends ? ctx->stride : 0;
	uint32_t rotation = ctx->rotation;
	uint64_t floor = 0;

	for (uint32_t i = 0; i < n_picks; i++) {
		const struct scan scan = scan_from(state->depth, ctx->n_routable, rotation, floor);

		if (scan.depth > floor)
			floor = scan.depth;
		out[i] = (uint16_t)scan.best;
		state->depth[scan.best] += added;
		rotation = weir_pick_rotate(ctx, rotation);
	}
}

/* The first position from `start` on that no reading calls not routable; `start` if all are. */
static uint32_t
rotation_skip(const struct cached_state *state, uint32_t n, uint32_t start)
{
	uint32_t position = start;

	for (uint32_t i = 0; i < n; i++) {
		if (state->depth[position] != NOT_ROUTABLE)
			return position;
		position = position + 1 < n ? position + 1 : 0;
	}
	return start;
}

/*
 * Nobody has a usable reading. Behind a worker that is skipped its neighbour gets a double share:
 * for as long as it takes until somebody publishes, or the pool leaves the skipped one out.
 */
static void
burst_rotate(const struct weir_pick_context *ctx, const struct cached_state *state,
	uint32_t n_picks, uint16_t *out)
{
	uint32_t rotation = ctx->rotation;

	for (uint32_t i = 0; i < n_picks; i++) {
		out[i] = (uint16_t)rotation_skip(state, ctx->n_routable, rotation);
		rotation = weir_pick_rotate(ctx, rotation);
	}
}

static void
cached_shallowest_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta,
	uint32_t n_picks, uint16_t *out)
{
	const struct weir_cached_depth *cached = ctx->table;
	struct cached_state *state = ctx->state;

	(void)meta;
	if (depths_fill(cached, ctx, state))
		burst_scan(cached, ctx, state, n_picks, out);
	else
		burst_rotate(ctx, state, n_picks, out);
	state->n_picked = 0;
	for (uint32_t i = 0; i < n_picks && cached->config.add_own_sends; i++)
		sent_add(state, ctx, out[i]);
}

static void
cached_shallowest_withdraw_picks(struct weir_pick_context *ctx, uint32_t n_kept)
{
	struct cached_state *state = ctx->state;

	while (state->n_picked > n_kept)
		state->worker[state->picked[--state->n_picked]].sent -= ctx->stride;
}

/* The table of a snapshot is the table of readings, which is none of the snapshot's. */
static void *
cached_shallowest_prepare(
	const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	(void)snapshot;
	return strategy->instance;
}

static void
cached_shallowest_release(void *table)
{
	(void)table;
}

const struct weir_strategy cached_shallowest = {
	.name = "cached-shallowest",
	.help = "the worker with the lowest published depth, own sends added; ties rotate",
	.state_bytes = sizeof(struct cached_state),
	.prepare = cached_shallowest_prepare,
	.release = cached_shallowest_release,
	.pick_burst = cached_shallowest_pick_burst,
	.withdraw_picks = cached_shallowest_withdraw_picks,
};
