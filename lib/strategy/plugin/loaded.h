/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrapper around a strategy that is not Weir's own: one more call per burst, which checks the
 * answers. Knows neither shared objects nor eBPF.
 */
#ifndef WEIR_STRATEGY_LOADED_H
#define WEIR_STRATEGY_LOADED_H

#include <weir/plugin.h>

/*
 * Wraps `inner`, which is not copied. The wrapper owns `code`, what `inner` came from, and gives
 * it to `close` (if that is not NULL) at the end: also when it fails itself.
 * Returns NULL with errno ENOMEM. Freed with weir_strategy_unload.
 */
struct weir_strategy *loaded_create(
	const struct weir_strategy *inner, const char *name, void (*close)(void *code), void *code);

#endif
