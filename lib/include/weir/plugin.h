/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies of one's own: a shared object that exports one symbol, made by
 * WEIR_STRATEGY_PLUGIN(strategy), is loaded, checked, tried and then used like a built-in one.
 *
 * A plugin runs in the process with all of its rights: load only what you would run yourself.
 * docs/plugins.md tells how to write one.
 */
#ifndef WEIR_PLUGIN_H
#define WEIR_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include <weir/packet.h>
#include <weir/pool.h>
#include <weir/strategy.h>

/**
 * Version of what a strategy and Weir must agree on: this header, weir/strategy.h, and the
 * structs of weir/packet.h and weir/pool.h that a strategy sees. Not the version of Weir.
 */
#define WEIR_STRATEGY_ABI_VERSION 1

/** "WEIRSTRA": the first bytes of what a plugin exports. */
#define WEIR_STRATEGY_MAGIC UINT64_C(0x4152545352494557)

/** The name of the symbol that a plugin exports. */
#define WEIR_STRATEGY_PLUGIN_SYMBOL "weir_strategy_plugin"

/** Most bytes of state that a loaded strategy may ask for, per dispatcher and route. */
#define WEIR_STRATEGY_STATE_BYTES_MAX (16u << 20)

/** Room for any reason that weir_strategy_load gives, with its terminating zero. */
#define WEIR_STRATEGY_REASON_BYTES 320

/** What a plugin exports. Members up to `abi_version` stay as they are in every version. */
struct weir_strategy_plugin {
	uint64_t magic;			      /**< WEIR_STRATEGY_MAGIC */
	uint32_t abi_version;		      /**< WEIR_STRATEGY_ABI_VERSION of its headers */
	uint32_t meta_bytes;		      /**< sizeof(struct weir_meta), likewise */
	uint32_t pick_context_bytes;	      /**< sizeof(struct weir_pick_context) */
	uint32_t snapshot_bytes;	      /**< sizeof(struct weir_snapshot) */
	uint32_t strategy_bytes;	      /**< sizeof(struct weir_strategy) */
	uint32_t reserved;		      /**< zero */
	const struct weir_strategy *strategy; /**< lives as long as the shared object */
};

/** Makes a shared object a plugin: once, at file scope, behind the strategy's definition. */
#define WEIR_STRATEGY_PLUGIN(strategy_)                                           \
	extern WEIR_API const struct weir_strategy_plugin weir_strategy_plugin;   \
	WEIR_API const struct weir_strategy_plugin weir_strategy_plugin = {       \
		.magic = WEIR_STRATEGY_MAGIC,                                     \
		.abi_version = WEIR_STRATEGY_ABI_VERSION,                         \
		.meta_bytes = (uint32_t)sizeof(struct weir_meta),                 \
		.pick_context_bytes = (uint32_t)sizeof(struct weir_pick_context), \
		.snapshot_bytes = (uint32_t)sizeof(struct weir_snapshot),         \
		.strategy_bytes = (uint32_t)sizeof(struct weir_strategy),         \
		.strategy = &(strategy_),                                         \
	}

/**
 * Loads the strategy of a shared object. First a child process does so, checks what is exported
 * and lets the strategy pick for pools of 1, 3 and 256 workers, within 2 s of CPU time; only
 * then this process loads it. While packets flow each answer is checked: one that is neither a
 * position nor allowed (WEIR_PICK_NONE with WEIR_STRATEGY_FINDS_NONE) is counted, and becomes
 * WEIR_PICK_NONE with that flag, and the worker of the rotation without it.
 *
 * For weir_config.strategies. Caller: the control thread, which must not hold what a child needs:
 * the process is forked.
 *
 * @param file	  of the shared object: a path, not searched for
 * @param name	  that the strategy gets, by which a configuration names it; copied. NULL: its own
 * @param reason  filled with one line if there is none; may be NULL
 * @param n_bytes of `reason`; WEIR_STRATEGY_REASON_BYTES hold every reason
 * @return to be freed with weir_strategy_unload; or NULL with errno
 *	   EACCES  the file cannot be read, is no regular file, or everybody may write it
 *	   ENOEXEC it is no plugin, or one of another version
 *	   EINVAL  the strategy contradicts itself, or failed the trial
 *	   ENOMEM, EAGAIN (no process or memory)
 */
WEIR_API struct weir_strategy *weir_strategy_load(
	const char *file, const char *name, char *reason, size_t n_bytes);

/**
 * Gives up a loaded strategy, after the last pool that uses it. NULL is allowed. Caller: the
 * control thread.
 */
WEIR_API void weir_strategy_unload(struct weir_strategy *strategy);

/**
 * Answers of a loaded strategy that were out of range so far, of all dispatchers.
 * @param strategy from weir_strategy_load
 * Any thread.
 */
WEIR_API uint64_t weir_strategy_strays(const struct weir_strategy *strategy);

#endif
