/* SPDX-License-Identifier: BSD-3-Clause */
#include "strategies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

#include "bpf_load.h"
#include "option_row.h"
#include "options.h"

/* What stands before a file's name, and who loads it. */
static const struct {
	const char *prefix;
	struct weir_strategy *(*load)(
		const char *file, const char *name, char *reason, size_t n_bytes);
} kinds[] = {
	{ "custom:", weir_strategy_load },
	{ "bpf:", bpf_strategy_load },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The kind of a name; N_KINDS if it names no file. */
static size_t
kind_of(const char *name)
{
	size_t i = 0;

	while (i < N_KINDS && strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) != 0)
		i++;
	return i;
}

bool
strategies_names_file(const char *name)
{
	return kind_of(name) < N_KINDS;
}

static const struct weir_strategy *
loaded_find(const struct strategies *strategies, const char *name)
{
	for (uint32_t i = 0; i < strategies->n; i++) {
		if (strcmp(strategies->loaded[i]->name, name) == 0)
			return strategies->loaded[i];
	}
	return NULL;
}

const struct weir_strategy *
strategies_find(const struct strategies *strategies, const char *name)
{
	const struct weir_strategy *strategy = loaded_find(strategies, name);

	return strategy ? strategy : weir_strategy_find(name);
}

/* Loads the file of a name, unless that has been done. */
static int
name_load(struct strategies *strategies, const char *option, const char *name)
{
	const size_t kind = kind_of(name);
	const char *file;
	char reason[WEIR_STRATEGY_REASON_BYTES] = "";
	struct weir_strategy *strategy;

	if (kind == N_KINDS || loaded_find(strategies, name))
		return 0;
	file = name + strlen(kinds[kind].prefix);
	if (*file == '\0')
		return options_refuse(option, name, "%sFILE", kinds[kind].prefix);
	if (strategies->n == STRATEGIES_MAX)
		return options_refuse(option, name, "at most %d files", STRATEGIES_MAX);
	strategy = kinds[kind].load(file, name, reason, sizeof(reason));
	if (!strategy)
		return options_refuse_line("%s %s: %s", option, name, reason);
	strategies->loaded[strategies->n++] = strategy;
	return 0;
}

int
strategies_load(struct strategies *strategies, const char *option, const char *text)
{
	char *words = strdup(text);
	char *rest = words;
	char *word;
	int rc = 0;

	if (!words) {
		fprintf(stderr, "weir: no memory for the strategies\n");
		return -ENOMEM;
	}
	while (rc == 0 && (word = strsep(&rest, " \t\r\n,")))
		rc = name_load(strategies, option, word);
	free(words);
	return rc;
}

void
strategies_print(const struct strategies *strategies, FILE *out)
{
	for (uint32_t i = 0; i < strategies->n; i++)
		fprintf(out, "%s: %s\n", strategies->loaded[i]->name, strategies->loaded[i]->help);
}

void
strategies_print_strays(const struct strategies *strategies, FILE *out)
{
	for (uint32_t i = 0; i < strategies->n; i++) {
		const uint64_t strays = weir_strategy_strays(strategies->loaded[i]);

		if (strays > 0)
			fprintf(out,
				"weir: %s picked no worker of the pool %" PRIu64
				" times: its packets went round, or to nobody\n",
				strategies->loaded[i]->name, strays);
	}
}

void
strategies_unload(struct strategies *strategies)
{
	while (strategies->n > 0) {
		strategies->n--;
		/* Made by its loader, and handed out as constant. */
		weir_strategy_unload(
			(struct weir_strategy *)(uintptr_t)strategies->loaded[strategies->n]);
	}
}
