/* SPDX-License-Identifier: BSD-3-Clause */
/* The port pairing that transmitting handlers copy at open. Not for the packet path. */
#include "pairing.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

void
pairing_copy(struct pairing *pairing, const struct handler_setup *setup)
{
	assert(setup->n_ports <= PAIRING_PORTS_MAX);
	pairing->n_ports = setup->n_ports;
	memcpy(pairing->pair, setup->pair, setup->n_ports);
}

int
pairing_open(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	struct pairing *pairing;
	int ret;

	ret = arguments_refuse_any(arguments, error, error_bytes);
	if (ret < 0)
		return ret;
	pairing = calloc(1, sizeof(*pairing));
	if (pairing == NULL) {
		snprintf(error, error_bytes, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	pairing_copy(pairing, setup);
	*state = pairing;
	return 0;
}

int
pairing_close(void *state, char *error, size_t error_bytes)
{
	(void)error;
	(void)error_bytes;
	free(state);
	return 0;
}
