/* SPDX-License-Identifier: BSD-3-Clause */
/* A handler's plugin whose exported header is wrong in the one way that the build says. */
#include <weir/handler.h>

#ifndef MAGIC
#define MAGIC WEIR_HANDLER_MAGIC
#endif
#ifndef ABI_VERSION
#define ABI_VERSION WEIR_HANDLER_ABI_VERSION
#endif
#ifndef PACKET_BYTES
#define PACKET_BYTES sizeof(struct weir_packet)
#endif
#ifndef VERDICT_BYTES
#define VERDICT_BYTES sizeof(struct weir_verdict)
#endif
#ifndef SETUP_BYTES
#define SETUP_BYTES sizeof(struct weir_handler_setup)
#endif
#ifndef HANDLER_BYTES
#define HANDLER_BYTES sizeof(struct weir_handler)
#endif
#ifndef HANDLER
#define HANDLER &echo
#endif
#ifndef SYMBOL
#define SYMBOL weir_handler_plugin
#endif

static void
echo_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	(void)state;
	for (uint32_t i = 0; i < n; i++)
		verdicts[i] = weir_verdict_tx(&packets[i], packets[i].meta.port);
}

extern const struct weir_handler echo;
const struct weir_handler echo = {
	.name = "echo",
	.help = "sends back by the arrival port",
	.process = echo_process,
};

extern WEIR_API const struct weir_handler_plugin SYMBOL;
WEIR_API const struct weir_handler_plugin SYMBOL = {
	.magic = MAGIC,
	.abi_version = ABI_VERSION,
	.packet_bytes = PACKET_BYTES,
	.verdict_bytes = VERDICT_BYTES,
	.setup_bytes = SETUP_BYTES,
	.handler_bytes = HANDLER_BYTES,
	.handler = HANDLER,
};
