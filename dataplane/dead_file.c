/* SPDX-License-Identifier: BSD-3-Clause */
#include "dead_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "dead_packets.h"
#include "pcapng.h"
#include "rx_core.h"

/* Written together, and lost together where the disk is full. */
#define BATCH_PKTS 64

int
dead_file_open(struct dead_file *dead_file, const char *path)
{
	/* Not waiting for the reader of a pipe that has none: that is refused. */
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFL, O_WRONLY);
	*dead_file = (struct dead_file) { .path = path, .file = fdopen(fd, "w") };
	if (dead_file->file)
		return 0;
	close(fd);
	return -ENOMEM;
}

/* Writes whole blocks into the stream. Returns whether it takes them. */
static bool
block_write(struct dead_file *dead_file, const struct pcapng_block *block)
{
	return fwrite(block->bytes, 1, block->n_bytes, dead_file->file) == block->n_bytes;
}

int
dead_file_begin(struct dead_file *dead_file)
{
	struct pcapng_block header;

	/* What is no regular file has no length to cut. */
	if (ftruncate(fileno(dead_file->file), 0) < 0 && errno != EINVAL)
		return -errno;
	pcapng_make_header(&header, "weir " WEIR_VERSION, DEAD_SNAP_BYTES);
	if (!block_write(dead_file, &header) || fflush(dead_file->file) != 0)
		return -errno;
	dead_file->good_bytes = header.n_bytes;
	return 0;
}

static void
comment_write(
	char *text, size_t n_bytes, const struct rx_core *rx_core, const struct dead_packet *dead)
{
	char worker[8] = "none";
	char port[8] = "none";

	if (dead->worker != WEIR_WORKER_NONE)
		snprintf(worker, sizeof(worker), "%u", dead->worker);
	if (dead->port != RTE_MBUF_PORT_INVALID)
		snprintf(port, sizeof(port), "%u", dead->port);
	snprintf(text, n_bytes, "reason=%s worker=%s rx_core=%u port=%s",
		weir_reason_name(dead->reason), worker, rx_core->id, port);
}

/* Puts one packet into the stream. Returns the bytes that the file grows by, 0 if it failed. */
static uint32_t
packet_write(
	struct dead_file *dead_file, const struct rx_core *rx_core, const struct dead_packet *dead)
{
	char comment[PCAPNG_COMMENT_BYTES_MAX];
	const struct pcapng_packet packet = {
		.time_ns = rx_core_time_ns(rx_core, dead->tsc),
		.length = dead->length,
		.n_bytes = dead->n_bytes,
		.bytes = dead->bytes,
		.comment = comment,
	};
	struct pcapng_block block;

	comment_write(comment, sizeof(comment), rx_core, dead);
	pcapng_make_packet(&block, &packet);
	return block_write(dead_file, &block) ? block.n_bytes : 0;
}

/* Ends the file behind the last good batch: no reader meets half a packet. */
static void
file_fail(struct dead_file *dead_file, int error)
{
	dead_file->error = error != 0 ? error : EIO;
	fprintf(stderr, "weir: --dead-packets %s: %s; no more of them are stored\n",
		dead_file->path, strerror(dead_file->error));
	__fpurge(dead_file->file);
	/* What is no regular file has no length to restore. */
	if (ftruncate(fileno(dead_file->file), dead_file->good_bytes) < 0)
		return;
}

/* The ring is emptied whatever becomes of the packets. Returns how many were there. */
static uint32_t
batch_write(struct dead_file *dead_file, const struct rx_core *rx_core, off_t *n_bytes, bool *good)
{
	const struct dead_packet *dead;
	uint32_t n = 0;

	while (n < BATCH_PKTS && (dead = dead_ring_peek(rx_core->dead))) {
		if (*good) {
			const uint32_t written = packet_write(dead_file, rx_core, dead);

			*good = written > 0;
			*n_bytes += written;
		}
		dead_ring_pop(rx_core->dead);
		n++;
	}
	return n;
}

/* Returns how many packets there were. */
static uint32_t
batch_drain(struct dead_file *dead_file, const struct rx_core *rx_core)
{
	bool good = dead_file->error == 0;
	off_t n_bytes = 0;
	uint32_t n;

	errno = 0;
	n = batch_write(dead_file, rx_core, &n_bytes, &good);
	if (n == 0)
		return 0;
	if (dead_file->error == 0 && (!good || fflush(dead_file->file) != 0)) {
		file_fail(dead_file, errno);
		good = false;
	}
	if (good)
		dead_file->good_bytes += n_bytes;
	counter_add(good ? &dead_file->written : &dead_file->lost, n);
	return n;
}

void
dead_file_drain(struct dead_file *dead_file, const struct rx_core *rx_core)
{
	uint32_t n = 0;
	uint32_t last;

	if (!rx_core->dead)
		return;
	/* A flood of losses must not keep control here: the rest is for the next time. */
	do {
		last = batch_drain(dead_file, rx_core);
		n += last;
	} while (last == BATCH_PKTS && n < DEAD_RING_PKTS);
}

int
dead_file_close(struct dead_file *dead_file)
{
	int error = dead_file->error;

	if (!dead_file->file)
		return 0;
	/* File systems may report a full disk only here. */
	if (fclose(dead_file->file) != 0 && error == 0) {
		error = errno;
		fprintf(stderr, "weir: --dead-packets %s: %s\n", dead_file->path, strerror(error));
	}
	dead_file->file = NULL;
	return -error;
}
