/* SPDX-License-Identifier: BSD-3-Clause */
/* forward: out by the port that is paired with the arrival port; a lone port answers on itself. */
#include "pairing.h"

static void
forward_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	const struct pairing *pairing = state;

	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = pairing_verdict(pairing, &packets[i]);
}

const struct handler handler_forward = {
	.name = "forward",
	.usage = "forward",
	.help = "sends to the paired port (0-1, 2-3, ...); a lone port answers on itself",
	.restartable = true,
	.open = pairing_open,
	.process = forward_process,
	.close = pairing_close,
};
