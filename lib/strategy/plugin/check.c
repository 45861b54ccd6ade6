/* SPDX-License-Identifier: BSD-3-Clause */
/* What the members of a strategy may say, each by itself and together. */
#include <errno.h>

#include <weir/plugin.h>
#include <weir/stats.h>

#include "child.h"
#include "trial.h"
#include "words.h"

#define FLAGS_KNOWN                                                                             \
	(WEIR_STRATEGY_READS_DEPTH | WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META |      \
		WEIR_STRATEGY_ALL_TARGETS | WEIR_STRATEGY_SHARDS | WEIR_STRATEGY_READS_WEIGHT | \
		WEIR_STRATEGY_READS_CLASS_DEPTH | WEIR_STRATEGY_CLAIMS | WEIR_STRATEGY_FINDS_NONE)

static int
flags_check(const struct weir_strategy *strategy, char *reason, size_t n_bytes)
{
	const uint32_t flags = strategy->flags;

	if (flags & ~FLAGS_KNOWN)
		return reason_set(reason, n_bytes, EINVAL, "its flags have unknown bits: 0x%x",
			flags & ~FLAGS_KNOWN);
	if ((flags & WEIR_STRATEGY_SHARDS) && !(flags & WEIR_STRATEGY_ALL_TARGETS))
		return reason_set(reason, n_bytes, EINVAL, "has SHARDS without ALL_TARGETS");
	if ((flags & WEIR_STRATEGY_READS_CLASS_DEPTH) && !(flags & WEIR_STRATEGY_READS_META))
		return reason_set(
			reason, n_bytes, EINVAL, "has READS_CLASS_DEPTH without READS_META");
	if ((flags & WEIR_STRATEGY_CLAIMS) && !(flags & WEIR_STRATEGY_READS_CLASS_DEPTH))
		return reason_set(reason, n_bytes, EINVAL, "has CLAIMS without READS_CLASS_DEPTH");
	if ((flags & WEIR_STRATEGY_FINDS_NONE) && strategy->none_reason == 0)
		return reason_set(reason, n_bytes, EINVAL, "has FINDS_NONE, but no none_reason");
	if (strategy->none_reason >= WEIR_REASON_COUNT)
		return reason_set(reason, n_bytes, EINVAL, "its none_reason %u is no reason",
			strategy->none_reason);
	return 0;
}

static int
callbacks_check(const struct weir_strategy *strategy, char *reason, size_t n_bytes)
{
	const bool all_targets = strategy->flags & WEIR_STRATEGY_ALL_TARGETS;

	if (all_targets && strategy->pick_burst)
		return reason_set(reason, n_bytes, EINVAL, "has ALL_TARGETS and pick_burst");
	if (!all_targets && !strategy->pick_burst)
		return reason_set(reason, n_bytes, EINVAL, "has no pick_burst");
	if (!strategy->prepare != !strategy->release)
		return reason_set(reason, n_bytes, EINVAL, "has %s without %s",
			strategy->prepare ? "prepare" : "release",
			strategy->prepare ? "release" : "prepare");
	if (all_targets && strategy->withdraw_picks)
		return reason_set(reason, n_bytes, EINVAL, "has ALL_TARGETS and withdraw_picks");
	if (strategy->state_bytes > WEIR_STRATEGY_STATE_BYTES_MAX)
		return reason_set(reason, n_bytes, EINVAL,
			"asks for %zu bytes of state, at most %u", strategy->state_bytes,
			WEIR_STRATEGY_STATE_BYTES_MAX);
	return 0;
}

int
strategy_check(const struct weir_strategy *strategy, char *reason, size_t n_bytes)
{
	int rc = words_check(strategy->name, strategy->help, reason, n_bytes);

	if (rc == 0)
		rc = flags_check(strategy, reason, n_bytes);
	return rc < 0 ? rc : callbacks_check(strategy, reason, n_bytes);
}
