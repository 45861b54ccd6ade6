/* SPDX-License-Identifier: BSD-3-Clause */
/* drop: every packet ends as `handler_drop`. */
#include "arguments.h"
#include "handler.h"

static int
drop_open(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	(void)setup;
	*state = NULL;
	return arguments_refuse_any(arguments, error, error_bytes);
}

static void
drop_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	(void)state;
	(void)packets;
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = weir_verdict_drop(WEIR_REASON_HANDLER_DROP);
}

const struct handler handler_drop = {
	.name = "drop",
	.usage = "drop",
	.help = "drops every packet",
	.restartable = true,
	.open = drop_open,
	.process = drop_process,
};
