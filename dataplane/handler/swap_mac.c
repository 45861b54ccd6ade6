/* SPDX-License-Identifier: BSD-3-Clause */
/* swap-mac: exchanges source and destination MAC addresses in place, then forwards. */
#include <string.h>

#include "pairing.h"

#define MAC_BYTES 6

/* A frame too short for two addresses stays as it is. */
static void
mac_swap(const struct weir_packet *packet)
{
	uint8_t destination[MAC_BYTES];

	if (packet->meta.segment_length < 2 * MAC_BYTES)
		return;
	memcpy(destination, packet->data, MAC_BYTES);
	memcpy(packet->data, packet->data + MAC_BYTES, MAC_BYTES);
	memcpy(packet->data + MAC_BYTES, destination, MAC_BYTES);
}

static void
swap_mac_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	const struct pairing *pairing = state;

	for (uint32_t i = 0; i < n; i++) {
		mac_swap(&packets[i]);
		verdicts[i] = pairing_verdict(pairing, &packets[i]);
	}
}

/* Not restartable: addresses that are exchanged twice are as they were. */
const struct handler handler_swap_mac = {
	.name = "swap-mac",
	.usage = "swap-mac",
	.help = "exchanges source and destination MAC address, then forwards",
	.writes_packets = true,
	.open = pairing_open,
	.process = swap_mac_process,
	.close = pairing_close,
};
