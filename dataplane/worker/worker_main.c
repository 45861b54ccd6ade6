/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker process, from its socket to its end: hello → offer → map → open the handler → give up
 * all rights → work. What comes before the packets may still be refused; nothing is afterwards.
 */
#include "worker_main.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "handlers.h"
#include "mapping.h"
#include "options.h"
#include "protocol.h"
#include "sandbox.h"
#include "worker_loop.h"
#include "worker_options.h"

/* How long Weir may take to answer. Its control thread looks every few milliseconds. */
#define ANSWER_SECONDS 10

/* What people and sessions end programs by. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

struct borrower {
	struct worker_options options;
	struct worker_offer offer;
	int socket;
	int signals; /* signalfd; -1: they are ignored */
	int signal;  /* that has ended it; 0: none has */
	struct weir_worker_mapping mapping;
	struct weir_worker *worker;
	struct worker_loop loop;
	struct handlers handlers; /* of its own choice, from a file */
	bool handler_is_open;
	char reason[WORKER_REASON_BYTES];
};

/* One line on stderr. Returns `rc`. */
static int say(const struct borrower *borrower, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int
say(const struct borrower *borrower, int rc, const char *format, ...)
{
	char text[2 * WORKER_REASON_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *c = text; *c; c++)
		*c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
	fprintf(stderr, "weir: worker %u: %s\n", borrower->options.id, text);
	return rc;
}

/* ---- reaching Weir ---- */

/* Connects to a socket by its path. Returns it, or -errno after a line. */
static int
socket_connect(const struct borrower *borrower)
{
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = borrower->options.socket_path;
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int error_number;

	if (fd < 0)
		return say(borrower, -errno, "no socket: %s", strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	/* A listener whose queue is full lets connect(2) wait as long as this. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error_number = errno;
	close(fd);
	if (error_number == ENOENT || error_number == ECONNREFUSED)
		return say(borrower, -error_number, "no weir listens at %s (--socket): %s", path,
			strerror(error_number));
	return say(borrower, -error_number, "%s (--socket): %s", path, strerror(error_number));
}

static int
socket_open(struct borrower *borrower)
{
	const struct timeval patience = { .tv_sec = ANSWER_SECONDS };

	if (borrower->options.socket_path)
		sandbox_close_files(STDERR_FILENO);
	borrower->socket = borrower->options.socket_path ? socket_connect(borrower)
							 : borrower->options.socket_fd;
	if (borrower->socket < 0)
		return borrower->socket;
	if (!borrower->options.socket_path)
		sandbox_close_files(borrower->socket);
	if (setsockopt(borrower->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return say(borrower, -errno, "fd %d (--socket): %s", borrower->socket,
			strerror(errno));
	return 0;
}

/* Loads what its own choice of a handler names by a file. Returns 0, or -EINVAL after a line. */
static int
handler_load(struct borrower *borrower)
{
	const char *spec = borrower->options.handler;

	return spec ? handlers_load(&borrower->handlers, spec) : 0;
}

/* Whether it brings a handler that writes to packets. */
static bool
handler_writes(const struct borrower *borrower)
{
	const char *spec = borrower->options.handler;

	return spec && handlers_find(&borrower->handlers, spec)->writes_packets;
}

/* Introduces itself and gets the memory. Returns 0 or -errno after a line. */
static int
offer_take(struct borrower *borrower)
{
	const struct worker_hello hello = {
		.id = borrower->options.id,
		.flags = handler_writes(borrower) ? WORKER_HELLO_WRITES : 0,
	};
	int files[WORKER_FILE_COUNT];
	int rc = worker_hello_send(borrower->socket, &hello);

	if (rc < 0)
		return say(borrower, rc, "weir does not listen: %s", strerror(-rc));
	rc = worker_offer_receive(
		borrower->socket, borrower->options.id, &borrower->offer, files, borrower->reason);
	if (rc == 0)
		rc = mapping_open(&borrower->mapping, &borrower->offer, files, borrower->reason);
	return rc < 0 ? say(borrower, rc, "%s", borrower->reason) : 0;
}

static int
lanes_attach(struct borrower *borrower)
{
	borrower->worker =
		weir_worker_attach(&borrower->mapping, borrower->reason, sizeof(borrower->reason));
	if (!borrower->worker)
		return say(borrower, -errno, "weir's memory: %s",
			borrower->reason[0] ? borrower->reason : strerror(errno));
	if (weir_worker_get_id(borrower->worker) != borrower->options.id)
		return say(borrower, -EPROTO, "weir's memory is that of worker %u",
			weir_worker_get_id(borrower->worker));
	return 0;
}

/* ---- surroundings ---- */

/* As a thread in its place is called: of a start by /proc/self/exe the kernel makes "exe". */
static void
name_take(const struct borrower *borrower)
{
	char name[20]; /* for any id; the kernel takes 16 bytes, which ids in use fit */

	snprintf(name, sizeof(name), "weir-worker%u", borrower->options.id);
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* Runs where Weir wants it to, if it may. */
static int
cpu_bind(struct borrower *borrower)
{
	const struct worker_offer *offer = &borrower->offer;
	cpu_set_t cpus;

	if (!(offer->flags & WORKER_OFFER_BOUND) || offer->cpu >= CPU_SETSIZE)
		return 0;
	CPU_ZERO(&cpus);
	CPU_SET(offer->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		say(borrower, 0, "may not run on CPU %u: %s", offer->cpu, strerror(errno));
	return 0;
}

/*
 * A supervised worker does what Weir says and ignores who ends whole sessions; one that was
 * started by hand finishes its burst and leaves. Neither dies of a file that takes no more.
 */
static int
signals_arrange(struct borrower *borrower)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sigaddset(&set, ends[i]);
		if (!borrower->options.socket_path)
			signal(ends[i], SIG_IGN);
	}
	if (!borrower->options.socket_path)
		return 0;
	borrower->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (borrower->signals < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return say(borrower, -errno, "signals: %s", strerror(errno));
	return 0;
}

/* ---- the handler ---- */

static void
names_list(const struct worker_offer *offer, const char *names[WORKER_PORTS_MAX])
{
	for (uint32_t i = 0; i < WORKER_PORTS_MAX; i++)
		names[i] = offer->port_name[i][0] ? offer->port_name[i] : NULL;
}

static int
handler_start(struct borrower *borrower)
{
	const struct worker_offer *offer = &borrower->offer;
	const char *spec = borrower->options.handler ? borrower->options.handler : offer->handler;
	const struct handler *handler = handlers_find(&borrower->handlers, spec);
	const char *names[WORKER_PORTS_MAX];
	const struct handler_setup setup = {
		.worker = borrower->options.id,
		.incarnation = offer->incarnation,
		.n_ports = (uint16_t)offer->n_ports,
		.pair = offer->pair,
		.port_names = names,
		.seed = offer->seed,
		.tsc_hz = offer->tsc_hz,
	};
	char error[WORKER_REASON_BYTES] = "";
	int rc;

	names_list(offer, names);
	if (!handler)
		return say(
			borrower, -EINVAL, "--handler %s: this weir has none of that name", spec);
	rc = handler->open(&setup, handler_arguments(spec), &borrower->loop.handler_state, error,
		sizeof(error));
	borrower->handler_is_open = rc == 0;
	if (rc == 0 && handler->begin)
		rc = handler->begin(borrower->loop.handler_state, error, sizeof(error));
	borrower->loop.handler = handler;
	if (rc < 0)
		return say(borrower, -EINVAL, "--handler %s: allowed %s", spec, error);
	return 0;
}

/* Returns 0, or -errno after a line. */
static int
handler_end(struct borrower *borrower)
{
	char error[WORKER_REASON_BYTES] = "";

	if (!borrower->handler_is_open || !borrower->loop.handler->close)
		return 0;
	borrower->handler_is_open = false;
	if (borrower->loop.handler->close(borrower->loop.handler_state, error, sizeof(error)) == 0)
		return 0;
	return say(borrower, -EIO, "%s", error);
}

/* ---- the run ---- */

/* Whether somebody has sent bytes or hung up: after its offer Weir says nothing. */
static bool
weir_is_gone(const struct borrower *borrower)
{
	char byte;

	return recv(borrower->socket, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) >= 0 ||
	       (errno != EAGAIN && errno != EINTR);
}

/* At every beat of the loop. */
static bool
must_leave(void *context)
{
	struct borrower *borrower = context;
	struct signalfd_siginfo info;

	if (borrower->signals >= 0 && read(borrower->signals, &info, sizeof(info)) == sizeof(info))
		borrower->signal = (int)info.ssi_signo;
	return borrower->signal != 0 || weir_is_gone(borrower);
}

static int
rights_give_up(struct borrower *borrower)
{
	const struct worker_offer *offer = &borrower->offer;
	const struct sandbox sandbox = {
		.changes_user = (offer->flags & WORKER_OFFER_DROPS) && geteuid() == 0,
		.uid = offer->uid,
		.gid = offer->gid,
		.filters_calls = offer->flags & WORKER_OFFER_FILTERS,
		.dies_with_parent = !borrower->options.socket_path,
	};
	const int rc = sandbox_enter(&sandbox, borrower->reason, sizeof(borrower->reason));

	if (rc < 0)
		return say(borrower, rc, "cannot give up %s", borrower->reason);
	/* It may have gone before we asked to go with it. */
	return weir_is_gone(borrower) ? say(borrower, -ENOTCONN, "weir is gone") : 0;
}

/* Borrows packets until it is told to go. Returns 0, or -errno after a line. */
static int
work(struct borrower *borrower)
{
	borrower->loop.worker = borrower->worker;
	borrower->loop.burst = borrower->offer.burst;
	borrower->loop.yields = borrower->offer.flags & WORKER_OFFER_YIELDS;
	borrower->loop.beat_cycles = borrower->offer.beat_cycles;
	borrower->loop.must_leave = must_leave;
	borrower->loop.context = borrower;
	if (worker_loop_run(&borrower->loop))
		return 0;
	if (borrower->signal != 0)
		return say(borrower, -EINTR, "ended by signal %d", borrower->signal);
	return say(borrower, -ENOTCONN, "weir is gone");
}

static int (*const steps[])(struct borrower *borrower) = {
	handler_load,
	socket_open,
	offer_take,
	lanes_attach,
	cpu_bind,
	signals_arrange,
	handler_start,
	rights_give_up,
	work,
};

static int
worker_run(struct borrower *borrower)
{
	int rc = 0;

	name_take(borrower);
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		rc = steps[i](borrower);
	if (handler_end(borrower) < 0 && rc == 0)
		rc = -EIO;
	weir_worker_detach(borrower->worker);
	mapping_close(&borrower->mapping);
	return rc;
}

static enum exit_status
status_of(int rc)
{
	if (rc == 0)
		return EXIT_STATUS_OK;
	return rc == -EINVAL || rc == -EACCES || rc == -EPROTO ? EXIT_STATUS_REFUSED
							       : EXIT_STATUS_FAILED;
}

_Noreturn void
worker_main(int argc, char **argv)
{
	struct borrower *borrower = calloc(1, sizeof(*borrower));
	int rc;

	if (!borrower)
		_exit(EXIT_STATUS_FAILED);
	borrower->signals = -1;
	if (worker_options_parse(&borrower->options, argc, argv) < 0) {
		rc = -EINVAL;
	} else if (borrower->options.help) {
		worker_options_print_usage(stdout);
		rc = 0;
	} else {
		rc = worker_run(borrower);
	}
	free(borrower);
	fflush(stdout);
	/* What libraries do at exit may need calls that the filter forbids. */
	_exit(status_of(rc));
}
