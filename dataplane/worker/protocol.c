/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Files that are taken out of a message so that they can be closed: more than any offer has. */
#define FILES_MAX 16

static int reason_give(char *reason, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int
reason_give(char *reason, int rc, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, WORKER_REASON_BYTES, format, arguments);
	va_end(arguments);
	return rc;
}

/*
 * Checks the begin of a message of `n` bytes, which should have `bytes`. `speaker` and `listener`
 * are for the reason. Returns 0 or -EPROTO.
 */
static int
preamble_check(const struct worker_preamble *preamble, size_t n, size_t bytes, const char *speaker,
	const char *listener, char *reason)
{
	if (n < sizeof(*preamble) || preamble->magic != WORKER_MAGIC)
		return reason_give(reason, -EPROTO,
			"%s does not speak the protocol of Weir's workers", speaker);
	if (preamble->version != WORKER_PROTOCOL_VERSION)
		return reason_give(reason, -EPROTO,
			"%s speaks version %" PRIu32 " of the workers' protocol, %s version %d",
			speaker, preamble->version, listener, WORKER_PROTOCOL_VERSION);
	if (n != bytes || preamble->bytes != bytes)
		return reason_give(reason, -EPROTO,
			"%s sent %zu bytes that call themselves %" PRIu32 ", not %zu", speaker, n,
			preamble->bytes, bytes);
	return 0;
}

static void
preamble_fill(struct worker_preamble *preamble, size_t bytes)
{
	*preamble = (struct worker_preamble) {
		.magic = WORKER_MAGIC,
		.version = WORKER_PROTOCOL_VERSION,
		.bytes = (uint32_t)bytes,
	};
}

/* Sends one message whole; nobody who has gone away costs us a SIGPIPE. Returns 0 or -errno. */
static int
message_send(int socket_fd, const struct msghdr *message, size_t bytes)
{
	const ssize_t n = sendmsg(socket_fd, message, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EMSGSIZE;
}

int
worker_hello_send(int socket_fd, const struct worker_hello *hello)
{
	struct worker_hello filled = *hello;
	struct iovec part = { .iov_base = &filled, .iov_len = sizeof(filled) };
	const struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	preamble_fill(&filled.preamble, sizeof(filled));
	return message_send(socket_fd, &message, sizeof(filled));
}

int
worker_hello_receive(int socket_fd, struct worker_hello *hello, char reason[WORKER_REASON_BYTES])
{
	struct iovec part = { .iov_base = hello, .iov_len = sizeof(*hello) };
	/* Without room for control data, the kernel drops files that somebody sends. */
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	*hello = (struct worker_hello) { 0 };
	/* With MSG_TRUNC the length is the message's, not that of what found room. */
	n = recvmsg(socket_fd, &message, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : -ENOTCONN;
	if (n == 0)
		return -ENOTCONN;
	if (preamble_check(&hello->preamble, (size_t)n, sizeof(*hello), "it", "this weir", reason) <
		0)
		return -EPROTO;
	if (hello->id >= WEIR_WORKERS_MAX)
		return reason_give(reason, -EPROTO, "no worker has id %" PRIu32 ": 0 to %d",
			hello->id, WEIR_WORKERS_MAX - 1);
	if (hello->flags & ~(uint32_t)WORKER_HELLO_WRITES)
		return reason_give(reason, -EPROTO, "it asks for what is unknown: flags %" PRIx32,
			hello->flags);
	return 0;
}

void
worker_offer_init(struct worker_offer *offer)
{
	*offer = (struct worker_offer) { 0 };
	preamble_fill(&offer->preamble, sizeof(*offer));
}

int
worker_offer_send(
	int socket_fd, const struct worker_offer *offer, const int files[WORKER_FILE_COUNT])
{
	union {
		struct cmsghdr header; /* for its alignment */
		char bytes[CMSG_SPACE(WORKER_FILE_COUNT * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)offer, .iov_len = sizeof(*offer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (files) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(WORKER_FILE_COUNT * sizeof(int));
		memcpy(CMSG_DATA(header), files, WORKER_FILE_COUNT * sizeof(int));
	}
	return message_send(socket_fd, &message, sizeof(*offer));
}

void
worker_offer_refuse(int socket_fd, const char *reason)
{
	struct worker_offer offer;

	worker_offer_init(&offer);
	offer.refused = 1;
	snprintf(offer.reason, sizeof(offer.reason), "%s", reason);
	(void)worker_offer_send(socket_fd, &offer, NULL);
}

/* Takes all files out of a message. Returns how many; those beyond FILES_MAX the kernel closed. */
static uint32_t
files_take(struct msghdr *message, int files[FILES_MAX])
{
	uint32_t n = 0;

	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
		header = CMSG_NXTHDR(message, header)) {
		const size_t n_here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
			n_here > FILES_MAX - n)
			continue;
		memcpy(&files[n], CMSG_DATA(header), n_here * sizeof(int));
		n += (uint32_t)n_here;
	}
	return n;
}

static void
files_close(const int *files, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		close(files[i]);
}

/* Receives one message with its files. Returns its length or -errno. */
static ssize_t
offer_read(int socket_fd, struct worker_offer *offer, int files[FILES_MAX], uint32_t *n_files)
{
	union {
		struct cmsghdr header; /* for its alignment */
		char bytes[CMSG_SPACE(FILES_MAX * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = offer, .iov_len = sizeof(*offer) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n;

	*n_files = 0;
	*offer = (struct worker_offer) { 0 };
	n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
	if (n < 0)
		return -errno;
	*n_files = files_take(&message, files);
	return n;
}

static bool
text_ends(const char *text, size_t n_bytes)
{
	return memchr(text, '\0', n_bytes) != NULL;
}

/* Whether all that an offer says can be gone by. */
static bool
offer_is_sound(const struct worker_offer *offer)
{
	for (uint32_t i = 0; i < WORKER_FILE_COUNT; i++)
		if (offer->file_bytes[i] == 0 || offer->file_bytes[i] > SIZE_MAX / 2)
			return false;
	for (uint32_t i = 0; i < WORKER_PORTS_MAX; i++)
		if (!text_ends(offer->port_name[i], sizeof(offer->port_name[i])))
			return false;
	return offer->tsc_hz > 0 && offer->beat_cycles > 0 && offer->burst > 0 &&
	       offer->burst <= WEIR_BURST_MAX && offer->n_ports <= WORKER_PORTS_MAX &&
	       offer->handler[0] != '\0' && text_ends(offer->handler, sizeof(offer->handler));
}

/* Returns 0, -EACCES or -EPROTO, the last two with the reason. */
static int
offer_check(const struct worker_offer *offer, size_t n, weir_worker_id id, uint32_t n_files,
	char *reason)
{
	/* A refusal can be read whatever the version: what it says is better than what we could. */
	if (n >= offsetof(struct worker_offer, file_bytes) &&
		offer->preamble.magic == WORKER_MAGIC && offer->refused == 1 &&
		text_ends(offer->reason, sizeof(offer->reason)))
		return reason_give(reason, -EACCES, "%s", offer->reason);
	if (preamble_check(&offer->preamble, n, sizeof(*offer), "weir", "this worker", reason) < 0)
		return -EPROTO;
	if (n_files != WORKER_FILE_COUNT)
		return reason_give(reason, -EPROTO,
			"weir sent %" PRIu32 " files, not %d, with its offer", n_files,
			WORKER_FILE_COUNT);
	if (offer->id != id)
		return reason_give(
			reason, -EPROTO, "weir's offer is for worker %" PRIu32, offer->id);
	if (!offer_is_sound(offer))
		return reason_give(reason, -EPROTO, "weir's offer contradicts itself");
	return 0;
}

int
worker_offer_receive(int socket_fd, weir_worker_id id, struct worker_offer *offer,
	int files[WORKER_FILE_COUNT], char reason[WORKER_REASON_BYTES])
{
	int received[FILES_MAX];
	uint32_t n_files;
	const ssize_t n = offer_read(socket_fd, offer, received, &n_files);
	int rc;

	if (n == -EAGAIN)
		return reason_give(reason, -ETIMEDOUT, "weir does not answer");
	if (n <= 0)
		return reason_give(reason, -ENOTCONN, "weir is gone");
	rc = offer_check(offer, (size_t)n, id, n_files, reason);
	if (rc < 0)
		files_close(received, n_files);
	else
		memcpy(files, received, WORKER_FILE_COUNT * sizeof(files[0]));
	return rc;
}
