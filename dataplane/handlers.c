/* SPDX-License-Identifier: BSD-3-Clause */
#include "handlers.h"

#include <assert.h>
#include <string.h>

#include "option_row.h"

static const struct handlers_loaded *
loaded_find(const struct handlers *handlers, const char *spec)
{
	for (uint32_t i = 0; i < handlers->n; i++) {
		if (strcmp(handlers->loaded[i].spec, spec) == 0)
			return &handlers->loaded[i];
	}
	return NULL;
}

const struct handler *
handlers_find(const struct handlers *handlers, const char *spec)
{
	const struct handlers_loaded *loaded = loaded_find(handlers, spec);

	return loaded ? &loaded->handler : handler_find(spec);
}

int
handlers_load(struct handlers *handlers, const char *spec)
{
	const struct handler *handler = handler_find(spec);
	struct handlers_loaded *loaded = &handlers->loaded[handlers->n];
	char reason[HANDLER_REASON_BYTES] = "";

	if (!handler->load || loaded_find(handlers, spec))
		return 0;
	assert(handlers->n < HANDLERS_MAX);
	loaded->spec = spec;
	loaded->handler = *handler;
	if (handler->load(handler_arguments(spec), &loaded->handler, &loaded->code, reason,
		    sizeof(reason)) < 0)
		return options_refuse_line("--handler %s: %s", spec, reason);
	handlers->n++;
	return 0;
}

void
handlers_print_loaded(const struct handlers *handlers, FILE *out)
{
	for (uint32_t i = 0; i < handlers->n; i++)
		fprintf(out, "%s: %s\n", handlers->loaded[i].spec,
			handlers->loaded[i].handler.help);
}

void
handlers_unload(struct handlers *handlers)
{
	while (handlers->n > 0) {
		struct handlers_loaded *loaded = &handlers->loaded[--handlers->n];

		loaded->handler.unload(loaded->code);
	}
}
