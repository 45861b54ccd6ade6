/* SPDX-License-Identifier: BSD-3-Clause */
/* echo: back out by the port that the packet arrived on. */
#include "pairing.h"

static void
echo_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	const struct pairing *pairing = state;

	for (uint32_t i = 0; i < n; i++) {
		const uint16_t port = packets[i].meta.port;

		if (port < pairing->n_ports)
			verdicts[i] = weir_verdict_tx(&packets[i], (uint8_t)port);
		else
			verdicts[i] = weir_verdict_drop(WEIR_REASON_BAD_VERDICT);
	}
}

const struct handler handler_echo = {
	.name = "echo",
	.usage = "echo",
	.help = "sends back by the arrival port",
	.restartable = true,
	.open = pairing_open,
	.process = echo_process,
	.close = pairing_close,
};
