/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weirctl: sends one request to a running weir and prints the reply. Exit status: 0 granted, 1
 * refused, or no weir there; 2 a wrong command line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connect.h"
#include "verb_list.h"

/* Longer than a weir keeps others waiting. */
#define TIMEOUT_S 15

/* What a reply begins with. */
#define GRANTED "ok\n"
#define REFUSED "error: "

#define STATUS_FAILED 1
#define STATUS_USAGE 2

static void
usage_print(FILE *out)
{
	fputs("Usage: weirctl [--socket PATH | --prefix PREFIX] REQUEST\n"
	      "Asks a running weir, and prints what it replies.\n\n"
	      "  --socket PATH     its control socket\n"
	      "  --prefix PREFIX   its EAL's --file-prefix; without it, weir\n"
	      "  --help            print this and exit\n"
	      "  --version         print the version and exit\n\n"
	      "Requests:\n",
		out);
	verb_list_print(out);
}

static int
usage_refuse(const char *reason)
{
	fprintf(stderr, "weirctl: %s; weirctl --help tells more\n", reason);
	return STATUS_USAGE;
}

static int
fail(const char *what, int error)
{
	fprintf(stderr, "weirctl: %s: %s\n", what, strerror(error));
	return STATUS_FAILED;
}

/* Joins the words by blanks. Returns the bytes, or 0 if they are too many. */
static size_t
request_join(char request[CONTROL_REQUEST_BYTES_MAX], char **words)
{
	size_t n_bytes = 0;

	for (; *words; words++) {
		const size_t length = strlen(*words);

		if (n_bytes + length + 1 > CONTROL_REQUEST_BYTES_MAX)
			return 0;
		memcpy(request + n_bytes, *words, length);
		n_bytes += length;
		request[n_bytes++] = ' ';
	}
	return n_bytes;
}

/* Reads a whole reply, to be freed. Returns NULL with errno set, to 0 if there was none. */
static char *
reply_read(int fd)
{
	char *reply = NULL;
	size_t n_bytes = 0;

	for (;;) {
		char *grown = realloc(reply, n_bytes + CONTROL_MESSAGE_BYTES_MAX + 1);
		ssize_t n;

		if (!grown)
			break;
		reply = grown;
		n = recv(fd, reply + n_bytes, CONTROL_MESSAGE_BYTES_MAX, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0) {
			n_bytes += (size_t)n;
			continue;
		}
		reply[n_bytes] = '\0';
		if (n == 0 && n_bytes > 0)
			return reply;
		errno = n == 0 ? 0 : errno;
		break;
	}
	free(reply);
	return NULL;
}

/* Prints a reply. Returns the exit status. */
static int
reply_print(const char *reply)
{
	if (strncmp(reply, GRANTED, strlen(GRANTED)) == 0) {
		fputs(reply + strlen(GRANTED), stdout);
		return fflush(stdout) == 0 ? 0 : fail("stdout", errno);
	}
	if (strncmp(reply, REFUSED, strlen(REFUSED)) == 0)
		fprintf(stderr, "weirctl: %s", reply + strlen(REFUSED));
	else
		fprintf(stderr, "weirctl: not a weir's reply\n");
	return STATUS_FAILED;
}

/* Asks, and prints the reply. Returns the exit status. */
static int
request_send(int fd, const char *path, const char *request, size_t n_bytes)
{
	char *reply;
	int status;

	/* Who refuses us may have hung up already, and its reason is there to be read. */
	if (send(fd, request, n_bytes, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET)
		return fail(path, errno);
	reply = reply_read(fd);
	if (!reply && errno == ECONNRESET)
		reply = reply_read(fd);
	if (!reply && errno == EAGAIN)
		errno = ETIMEDOUT;
	if (!reply && errno != 0)
		return fail(path, errno);
	if (!reply) {
		fprintf(stderr, "weirctl: %s: the weir has ended without a reply\n", path);
		return STATUS_FAILED;
	}
	status = reply_print(reply);
	free(reply);
	return status;
}

/* What the options say. */
struct wish {
	const char *socket; /* NULL: by the prefix */
	const char *prefix;
	bool help;
	bool version;
};

static const struct option long_options[] = {
	{ "socket", required_argument, NULL, 's' },
	{ "prefix", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ NULL, 0, NULL, 0 },
};

/* Returns 0, or the exit status after a line. */
static int
wish_parse(struct wish *wish, int argc, char **argv)
{
	int option;

	*wish = (struct wish) { .prefix = NULL };
	opterr = 0;
	/* The '+': options end where the request begins. */
	while ((option = getopt_long(argc, argv, "+", long_options, NULL)) != -1) {
		switch (option) {
		case 's':
			wish->socket = optarg;
			break;
		case 'p':
			wish->prefix = optarg;
			break;
		case 'h':
			wish->help = true;
			break;
		case 'v':
			wish->version = true;
			break;
		default:
			return usage_refuse("no such option, or one without its value");
		}
	}
	if (wish->socket && wish->prefix)
		return usage_refuse("--socket or --prefix, not both");
	if (!wish->help && !wish->version && optind == argc)
		return usage_refuse("what is to be asked?");
	return 0;
}

int
main(int argc, char **argv)
{
	char request[CONTROL_REQUEST_BYTES_MAX];
	char path[CONTROL_PATH_BYTES] = "";
	const char *place = path;
	struct wish wish;
	size_t n_bytes;
	int status = wish_parse(&wish, argc, argv);
	int fd;

	if (status != 0)
		return status;
	if (wish.help)
		usage_print(stdout);
	else if (wish.version)
		puts("weirctl " WEIR_VERSION);
	if (wish.help || wish.version)
		return fflush(stdout) == 0 ? 0 : fail("stdout", errno);
	n_bytes = request_join(request, argv + optind);
	if (n_bytes == 0)
		return usage_refuse(CONTROL_REQUEST_TOO_LONG);
	if (wish.socket) {
		place = wish.socket;
		fd = connect_path(wish.socket, TIMEOUT_S);
	} else {
		fd = connect_prefix(wish.prefix ? wish.prefix : "weir", TIMEOUT_S, path);
	}
	if (fd < 0) {
		fprintf(stderr, "weirctl: no weir answers at %s: %s\n", place, strerror(-fd));
		return STATUS_FAILED;
	}
	status = request_send(fd, place, request, n_bytes);
	close(fd);
	return status;
}
