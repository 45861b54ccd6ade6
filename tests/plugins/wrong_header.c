/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin whose exported header is wrong in the one way that the build says. */
#include <weir/plugin.h>

#ifndef MAGIC
#define MAGIC WEIR_STRATEGY_MAGIC
#endif
#ifndef ABI_VERSION
#define ABI_VERSION WEIR_STRATEGY_ABI_VERSION
#endif
#ifndef META_BYTES
#define META_BYTES sizeof(struct weir_meta)
#endif
#ifndef CONTEXT_BYTES
#define CONTEXT_BYTES sizeof(struct weir_pick_context)
#endif
#ifndef SNAPSHOT_BYTES
#define SNAPSHOT_BYTES sizeof(struct weir_snapshot)
#endif
#ifndef STRATEGY_BYTES
#define STRATEGY_BYTES sizeof(struct weir_strategy)
#endif
#ifndef STRATEGY
#define STRATEGY &first
#endif
#ifndef SYMBOL
#define SYMBOL weir_strategy_plugin
#endif

static void
first_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	(void)ctx;
	(void)meta;
	for (uint32_t i = 0; i < n_picks; i++)
		out[i] = 0;
}

extern const struct weir_strategy first;
const struct weir_strategy first = {
	.name = "first",
	.help = "the first worker",
	.pick_burst = first_pick_burst,
};

extern WEIR_API const struct weir_strategy_plugin SYMBOL;
WEIR_API const struct weir_strategy_plugin SYMBOL = {
	.magic = MAGIC,
	.abi_version = ABI_VERSION,
	.meta_bytes = META_BYTES,
	.pick_context_bytes = CONTEXT_BYTES,
	.snapshot_bytes = SNAPSHOT_BYTES,
	.strategy_bytes = STRATEGY_BYTES,
	.strategy = STRATEGY,
};
