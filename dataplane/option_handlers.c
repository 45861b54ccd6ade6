/* SPDX-License-Identifier: BSD-3-Clause */
/* Which worker runs which handler: `0,2-3=wait:500` against `forward`. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "handler/handler.h"
#include "option_handlers.h"
#include "option_values.h"

/*
 * The '=' that ends the list of workers; NULL if there is no list. A '=' inside SPEC (a path may
 * have one) is told apart by what stands before it: a list has digits, commas and hyphens only.
 */
static const char *
list_end(const char *value)
{
	const char *end = value + strspn(value, "0123456789,-");

	return end > value && *end == '=' ? end : NULL;
}

const char *
option_handler_spec(const char *value)
{
	const char *end = list_end(value);

	return end ? end + 1 : value;
}

/* Whether the list, if there is one, is a list of numbers below `limit`. 0, -EINVAL, -ERANGE. */
static int
list_check(const char *value, uint32_t limit)
{
	const char *end = list_end(value);
	const char *cursor = value;
	uint32_t first, last;
	int rc = 0;

	while (end && (rc = option_next_range(&cursor, end, &first, &last)) > 0)
		if (last >= limit)
			return -ERANGE;
	return rc;
}

int
option_handler_check(const char *value)
{
	if (list_check(value, WEIR_WORKERS_MAX) < 0 || !handler_find(option_handler_spec(value)))
		return -EINVAL;
	return 0;
}

int
options_check_handlers(struct options *options)
{
	const uint32_t n = options_workers_max(options);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < options->n_handlers; i++) {
		const char *value = options->handlers[i];

		if (list_check(value, n) < 0)
			return options_refuse("--handler", value, "workers 0 to %u (--%s %u)",
				n - 1, n > options->workers ? "workers-max" : "workers", n);
		rc = handlers_load(&options->handlers_loaded, option_handler_spec(value));
	}
	return rc;
}

/* Whether a value that passed the checks names `worker`. */
static bool
handler_names_worker(const char *value, weir_worker_id worker)
{
	const char *end = list_end(value);
	const char *cursor = value;
	uint32_t first, last;

	if (!end)
		return true;
	while (option_next_range(&cursor, end, &first, &last) > 0)
		if (worker >= first && worker <= last)
			return true;
	return false;
}

const char *
options_handler_of(const struct options *options, weir_worker_id worker)
{
	for (uint32_t i = options->n_handlers; i > 0; i--)
		if (handler_names_worker(options->handlers[i - 1], worker))
			return option_handler_spec(options->handlers[i - 1]);
	return NULL;
}

const char *
options_port_of(const struct options *options, weir_worker_id worker)
{
	const char *spec = options_handler_of(options, worker);

	return handler_find(spec)->names_port ? handler_arguments(spec) : NULL;
}

bool
options_write_packets(const struct options *options)
{
	for (uint32_t i = 0; i < options_workers_max(options); i++) {
		const char *spec = options_handler_of(options, (weir_worker_id)i);

		if (handlers_find(&options->handlers_loaded, spec)->writes_packets)
			return true;
	}
	return false;
}
