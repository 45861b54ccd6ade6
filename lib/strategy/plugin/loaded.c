/* SPDX-License-Identifier: BSD-3-Clause */
#include "loaded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cacheline.h"
#include "counter.h"

/* Answers out of range that one dispatcher had: it alone writes there. */
struct stray_count {
	CACHE_ALIGNED struct counter n;
};

struct loaded {
	struct weir_strategy strategy; /* first: what the outside sees */
	const struct weir_strategy *inner;
	void (*close)(void *code);
	void *code;
	struct stray_count strays[WEIR_DISPATCHERS_MAX];
	char name[];
};

/* What is prepared: a pick finds everything by it. */
struct loaded_table {
	struct loaded *loaded;
	void *inner_table;
};

static struct loaded *
loaded_of(const struct weir_strategy *strategy)
{
	return strategy->instance;
}

static void *
loaded_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct loaded *loaded = loaded_of(strategy);
	struct loaded_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->loaded = loaded;
	if (!loaded->inner->prepare)
		return table;
	table->inner_table = loaded->inner->prepare(loaded->inner, snapshot);
	if (table->inner_table)
		return table;
	free(table);
	errno = ENOMEM;
	return NULL;
}

static void
loaded_release(void *memory)
{
	struct loaded_table *table = memory;

	if (table && table->inner_table)
		table->loaded->inner->release(table->inner_table);
	free(table);
}

/*
 * Puts the rotation's worker in the place of each answer that is none, and counts them. Cold: an
 * honest strategy comes here only if it may find no worker, and found none.
 */
static void
strays_replace(
	struct loaded *loaded, const struct weir_pick_context *ctx, uint32_t n_picks, uint16_t *out)
{
	const bool may_be_none = loaded->strategy.flags & WEIR_STRATEGY_FINDS_NONE;
	uint32_t rotation = ctx->rotation;
	uint64_t strays = 0;

	for (uint32_t i = 0; i < n_picks; i++) {
		const bool is_none = may_be_none && out[i] == WEIR_PICK_NONE;

		if (out[i] >= ctx->n_routable && !is_none) {
			out[i] = may_be_none ? WEIR_PICK_NONE : (uint16_t)rotation;
			strays++;
		}
		rotation = weir_pick_rotate(ctx, rotation);
	}
	if (strays > 0)
		counter_add(&loaded->strays[ctx->dispatcher_id].n, strays);
}

static void
loaded_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct loaded_table *table = ctx->table;
	const uint32_t n_routable = ctx->n_routable;
	uint32_t n_outside = 0;

	ctx->table = table->inner_table;
	table->loaded->inner->pick_burst(ctx, meta, n_picks, out);
	ctx->table = table;
	for (uint32_t i = 0; i < n_picks; i++)
		n_outside += out[i] >= n_routable;
	if (n_outside > 0)
		strays_replace(table->loaded, ctx, n_picks, out);
}

static void
loaded_withdraw_picks(struct weir_pick_context *ctx, uint32_t n_kept)
{
	const struct loaded_table *table = ctx->table;

	ctx->table = table->inner_table;
	table->loaded->inner->withdraw_picks(ctx, n_kept);
	ctx->table = table;
}

struct weir_strategy *
loaded_create(
	const struct weir_strategy *inner, const char *name, void (*close)(void *code), void *code)
{
	struct loaded *loaded;
	size_t bytes;

	name = name ? name : inner->name;
	bytes = round_up(sizeof(*loaded) + strlen(name) + 1, CACHE_LINE_BYTES);
	loaded = aligned_alloc(CACHE_LINE_BYTES, bytes);
	if (!loaded) {
		if (close)
			close(code);
		errno = ENOMEM;
		return NULL;
	}
	memset(loaded, 0, bytes);
	strcpy(loaded->name, name);
	loaded->inner = inner;
	loaded->close = close;
	loaded->code = code;
	loaded->strategy = *inner;
	loaded->strategy.name = loaded->name;
	loaded->strategy.instance = loaded;
	loaded->strategy.prepare = loaded_prepare;
	loaded->strategy.release = loaded_release;
	loaded->strategy.pick_burst = inner->pick_burst ? loaded_pick_burst : NULL;
	loaded->strategy.withdraw_picks = inner->withdraw_picks ? loaded_withdraw_picks : NULL;
	return &loaded->strategy;
}

void
weir_strategy_unload(struct weir_strategy *strategy)
{
	struct loaded *loaded;

	if (!strategy)
		return;
	loaded = loaded_of(strategy);
	if (loaded->close)
		loaded->close(loaded->code);
	free(loaded);
}

uint64_t
weir_strategy_strays(const struct weir_strategy *strategy)
{
	const struct loaded *loaded = loaded_of(strategy);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < WEIR_DISPATCHERS_MAX; i++)
		sum += counter_read(&loaded->strays[i].n);
	return sum;
}
