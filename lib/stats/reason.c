/* SPDX-License-Identifier: BSD-3-Clause */
/* The stable names of the drop reasons, as reports and telemetry print them. */
#include <weir/stats.h>

static const char *const reason_names[WEIR_REASON_COUNT] = {
	[WEIR_REASON_OVERFLOW_DROP_NEW] = "overflow_drop_new",
	[WEIR_REASON_OVERFLOW_DROP_HEAD] = "overflow_drop_head",
	[WEIR_REASON_DEAD_WORKER] = "dead_worker",
	[WEIR_REASON_NO_ROUTE] = "no_route",
	[WEIR_REASON_ALL_BUSY] = "all_busy",
	[WEIR_REASON_BUSY_DISCARD] = "busy_discard",
	[WEIR_REASON_COVERED] = "covered",
	[WEIR_REASON_RATE_LIMITED] = "rate_limited",
	[WEIR_REASON_RULE_DROP] = "rule_drop",
	[WEIR_REASON_RETRY_EXHAUSTED] = "retry_exhausted",
	[WEIR_REASON_HANDLER_DROP] = "handler_drop",
	[WEIR_REASON_SINK_FAILED] = "sink_failed",
	[WEIR_REASON_TX_FULL] = "tx_full",
	[WEIR_REASON_NO_MBUF] = "no_mbuf",
	[WEIR_REASON_BAD_FRAME] = "bad_frame",
	[WEIR_REASON_BAD_VERDICT] = "bad_verdict",
	[WEIR_REASON_HELD_OVERFLOW] = "held_overflow",
	[WEIR_REASON_HOLD_TIMEOUT] = "hold_timeout",
	[WEIR_REASON_DRAIN_TIMEOUT] = "drain_timeout",
	[WEIR_REASON_CRASH_INFLIGHT] = "crash_inflight",
};

const char *
weir_reason_name(unsigned int reason)
{
	return reason < WEIR_REASON_COUNT ? reason_names[reason] : NULL;
}
