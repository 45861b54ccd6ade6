/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers that `--handler` knows: one row each. */
#include <stddef.h>
#include <string.h>

#include "handler.h"

extern const struct handler handler_burn;
extern const struct handler handler_drop;
extern const struct handler handler_echo;
extern const struct handler handler_forward;
extern const struct handler handler_pcap;
extern const struct handler handler_port;
extern const struct handler handler_plugin;
extern const struct handler handler_swap_mac;
extern const struct handler handler_wait;

/* In the order in which usage shows them: the default first. */
static const struct handler *const handlers[] = {
	&handler_forward,
	&handler_echo,
	&handler_swap_mac,
	&handler_drop,
	&handler_burn,
	&handler_wait,
	&handler_port,
	&handler_pcap,
	&handler_plugin,
};

#define N_HANDLERS (sizeof(handlers) / sizeof(handlers[0]))

const struct handler *
handler_at(unsigned int index)
{
	return index < N_HANDLERS ? handlers[index] : NULL;
}

const struct handler *
handler_find(const char *spec)
{
	const size_t length = strcspn(spec, ":");

	for (size_t i = 0; i < N_HANDLERS; i++) {
		const char *name = handlers[i]->name;

		if (strlen(name) == length && strncmp(name, spec, length) == 0)
			return handlers[i];
	}
	return NULL;
}

const char *
handler_arguments(const char *spec)
{
	const char *colon = strchr(spec, ':');

	return colon != NULL ? colon + 1 : NULL;
}
