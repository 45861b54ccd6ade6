/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies with one fault each, and some without; the build chooses which one is exported:
 * STRATEGY is its name here.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <weir/plugin.h>
#include <weir/stats.h>

#define NEVER UINT64_C(1234567891011) /* an index that no trial has */
#define USED __attribute__((unused))

/* ---- callbacks ---- */

static void
fill(uint16_t *out, uint32_t n_picks, uint32_t value)
{
	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = (uint16_t)value;
}

USED static void
good_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	(void)meta;
	fill(out, n, ctx->n_routable - 1);
}

USED static void
crash_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	good_pick(ctx, meta, n, out);
	raise(SIGSEGV);
}

USED static void
abort_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	good_pick(ctx, meta, n, out);
	abort();
}

USED static void
exit_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	good_pick(ctx, meta, n, out);
	_exit(0);
}

USED static void
seven_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	(void)meta;
	fill(out, n, ctx->n_routable == 3 ? 7 : 0);
}

USED static void
none_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	(void)ctx;
	(void)meta;
	fill(out, n, WEIR_PICK_NONE);
}

USED static void
long_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	good_pick(ctx, meta, n, out);
	out[n] = 0;
}

/* Good while it is tried; later out of range, and none, in turn. */
USED static void
late_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	good_pick(ctx, meta, n, out);
	for (uint32_t i = 0; ctx->index == NEVER && i < n; i++)
		out[i] = i % 2 ? WEIR_PICK_NONE : (uint16_t)ctx->n_routable;
}

/* Answers with what its table and its state say. */
USED static void
table_pick(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n, uint16_t *out)
{
	const uint16_t *last = ctx->table;
	uint64_t *n_picks = ctx->state;

	(void)meta;
	fill(out, n, *last);
	*n_picks += n;
}

USED static void
table_withdraw(struct weir_pick_context *ctx, uint32_t n_kept)
{
	const uint16_t *last = ctx->table;
	uint64_t *n_picks = ctx->state;

	*n_picks = 1000 * (uint64_t)*last + n_kept;
}

USED static void *
loop_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	(void)strategy;
	(void)snapshot;
	for (;;)
		;
	return NULL;
}

USED static void *
null_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	(void)strategy;
	(void)snapshot;
	return NULL;
}

USED static void *
last_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	uint16_t *last = malloc(sizeof(*last));

	if (last)
		*last = (uint16_t)(snapshot->n_routable - 1 +
				   *(const uint16_t *)strategy->instance);
	return last;
}

/* ---- strategies ---- */

static uint16_t zero;

#define FAULT(name_, ...) \
	USED static const struct weir_strategy name_ = { .help = "one of the tests'", __VA_ARGS__ }
#define NAMED(name_, ...) FAULT(name_, .name = "tested", __VA_ARGS__)

NAMED(crash, .pick_burst = crash_pick);
NAMED(aborts, .pick_burst = abort_pick);
NAMED(exits, .pick_burst = exit_pick);
NAMED(seven, .pick_burst = seven_pick);
NAMED(none, .pick_burst = none_pick);
NAMED(too_long, .pick_burst = long_pick);
NAMED(loop, .pick_burst = good_pick, .prepare = loop_prepare, .release = free);
NAMED(null, .pick_burst = good_pick, .prepare = null_prepare, .release = free);
NAMED(no_pick, .flags = 0);
NAMED(no_release, .pick_burst = good_pick, .prepare = last_prepare);
NAMED(no_prepare, .pick_burst = good_pick, .release = free);
NAMED(flags, .pick_burst = good_pick, .flags = 1u << 31);
NAMED(shards, .pick_burst = good_pick, .flags = WEIR_STRATEGY_SHARDS);
NAMED(blind_depth, .pick_burst = good_pick, .flags = WEIR_STRATEGY_READS_CLASS_DEPTH);
NAMED(claims, .pick_burst = good_pick, .flags = WEIR_STRATEGY_READS_META | WEIR_STRATEGY_CLAIMS);
NAMED(all_targets, .pick_burst = good_pick, .flags = WEIR_STRATEGY_ALL_TARGETS);
NAMED(no_reason, .pick_burst = good_pick, .flags = WEIR_STRATEGY_FINDS_NONE);
NAMED(bad_reason, .pick_burst = good_pick, .none_reason = WEIR_REASON_COUNT);
NAMED(state, .pick_burst = good_pick, .state_bytes = WEIR_STRATEGY_STATE_BYTES_MAX + 1);
FAULT(no_name, .pick_burst = good_pick);
FAULT(bad_name, .name = "Tested", .pick_burst = good_pick);
NAMED(no_help, .pick_burst = good_pick, .help = NULL);
NAMED(two_lines, .pick_burst = good_pick, .help = "one\ntwo");

NAMED(everybody, .flags = WEIR_STRATEGY_ALL_TARGETS);
NAMED(late, .pick_burst = late_pick);
NAMED(late_or_none, .pick_burst = late_pick, .flags = WEIR_STRATEGY_FINDS_NONE,
	.none_reason = WEIR_REASON_NO_ROUTE);
NAMED(keeps, .pick_burst = table_pick, .withdraw_picks = table_withdraw, .prepare = last_prepare,
	.release = free, .state_bytes = sizeof(uint64_t), .instance = &zero);

WEIR_STRATEGY_PLUGIN(STRATEGY);
