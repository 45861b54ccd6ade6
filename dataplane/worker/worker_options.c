/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "handler/handler.h"
#include "option_row.h"
#include "option_values.h"
#include "options.h"
#include "protocol.h"

/* Longest path of a unix socket, without its terminating zero. */
#define SOCKET_PATH_BYTES (sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1)

static int
id_parse(struct worker_options *options, const char *value)
{
	uint64_t number;

	if (option_parse_number(value, &number) < 0 || number >= WEIR_WORKERS_MAX)
		return options_refuse("--id", value, "0 to %d", WEIR_WORKERS_MAX - 1);
	options->id = (weir_worker_id)number;
	return 0;
}

static int
socket_parse(struct worker_options *options, const char *value)
{
	uint64_t number;

	options->socket_path = NULL;
	options->socket_fd = -1;
	if (strncmp(value, "fd:", 3) == 0 && option_parse_number(value + 3, &number) == 0 &&
		number <= INT_MAX) {
		options->socket_fd = (int)number;
		return 0;
	}
	if (value[0] == '\0' || strlen(value) > SOCKET_PATH_BYTES)
		return options_refuse("--socket", value,
			"the path of a weir's attach socket, at most %zu bytes", SOCKET_PATH_BYTES);
	options->socket_path = value;
	return 0;
}

static int
handler_parse(struct worker_options *options, const char *value)
{
	char names[OPTION_TEXT_BYTES];
	const struct handler *handler;
	size_t used = 0;

	if (handler_find(value) && strlen(value) < WORKER_SPEC_BYTES) {
		options->handler = value;
		return 0;
	}
	for (unsigned int i = 0; (handler = handler_at(i)) && used < sizeof(names); i++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", i ? ", " : "", handler->usage);
	return options_refuse("--handler", value, "%s", names);
}

static const struct {
	const char *name;
	int (*parse)(struct worker_options *options, const char *value);
} rows[] = {
	{ "--id", id_parse },
	{ "--socket", socket_parse },
	{ "--handler", handler_parse },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Parses the option that argv begins with. Returns the words that it takes, or -EINVAL. */
static int
option_take(struct worker_options *options, int argc, char **argv, uint32_t *given)
{
	const size_t length = strcspn(argv[0], "=");
	const char *value = argv[0][length] == '=' ? argv[0] + length + 1 : argv[1];
	const int n_words = argv[0][length] == '=' ? 1 : 2;

	for (size_t i = 0; i < N_ROWS; i++) {
		if (strlen(rows[i].name) != length || strncmp(rows[i].name, argv[0], length) != 0)
			continue;
		if (n_words > argc)
			return options_refuse_line("%s: needs a value", rows[i].name);
		*given |= 1u << i;
		return rows[i].parse(options, value) < 0 ? -EINVAL : n_words;
	}
	return options_refuse_line(
		"%s: no option of weir worker; weir worker --help lists them", argv[0]);
}

int
worker_options_parse(struct worker_options *options, int argc, char **argv)
{
	uint32_t given = 0;
	int n_words;

	*options = (struct worker_options) { .socket_fd = -1 };
	for (int i = 0; i < argc; i += n_words) {
		if (strcmp(argv[i], "--help") == 0) {
			options->help = true;
			return 0;
		}
		n_words = option_take(options, argc - i, argv + i, &given);
		if (n_words < 0)
			return -EINVAL;
	}
	for (size_t i = 0; i < 2; i++)
		if (!(given & 1u << i))
			return options_refuse_line("weir worker needs %s", rows[i].name);
	return 0;
}

void
worker_options_print_usage(FILE *out)
{
	fprintf(out,
		"Usage: weir worker --id N --socket PATH [--handler SPEC]\n"
		"\n"
		"Becomes worker N of a running weir, which lends it packets; needs neither EAL "
		"nor\n"
		"huge pages. Give that weir --worker-mode process or attached.\n"
		"\n"
		"  --id N            the worker to become, 0 to %d: one that is not there\n"
		"  --socket PATH     the weir's attach socket, say /run/weir/weir-attach.sock\n"
		"  --handler SPEC    what it does with packets; without it, what the weir says\n"
		"  --help            print this and exit\n",
		WEIR_WORKERS_MAX - 1);
}
