/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker process and Weir say to each other: what each makes of messages that are none, of
 * other versions, too short, too long, with too few files or too many.
 */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mapping.h"
#include "protocol.h"

#define FILES_TOO_MANY 40

/* Both ends; descriptors that were open before, so that none is left over. */
struct wire {
	int weir;
	int worker;
	uint32_t n_open;
};

static uint32_t
descriptors_count(void)
{
	DIR *folder = opendir("/proc/self/fd");
	uint32_t n = 0;

	assert_non_null(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static void
wire_open(struct wire *wire)
{
	int pair[2];

	wire->n_open = descriptors_count();
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	wire->weir = pair[0];
	wire->worker = pair[1];
}

static void
wire_close(struct wire *wire)
{
	close(wire->weir);
	close(wire->worker);
	assert_int_equal(descriptors_count(), wire->n_open);
}

/* Sends any bytes, with `n_files` times /dev/null. */
static void
bytes_send(int socket_fd, const void *bytes, size_t n_bytes, uint32_t n_files)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FILES_TOO_MANY * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = n_bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int files[FILES_TOO_MANY];

	for (uint32_t i = 0; i < n_files; i++)
		files[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (n_files > 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(n_files * sizeof(int));
		CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(n_files * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), files, n_files * sizeof(int));
	}
	assert_int_equal(sendmsg(socket_fd, &message, 0), n_bytes);
	for (uint32_t i = 0; i < n_files; i++)
		close(files[i]);
}

/* ---- hello ---- */

static struct worker_hello
hello_sound(void)
{
	return (struct worker_hello) {
		.preamble = { WORKER_MAGIC, WORKER_PROTOCOL_VERSION, sizeof(struct worker_hello) },
		.id = 255,
	};
}

static void
hello_arrives_as_it_was_sent(void **state)
{
	const struct worker_hello sent = { .id = 7, .flags = WORKER_HELLO_WRITES };
	char reason[WORKER_REASON_BYTES];
	struct worker_hello hello;
	struct wire wire;

	(void)state;
	wire_open(&wire);
	assert_int_equal(worker_hello_receive(wire.weir, &hello, reason), -EAGAIN);
	assert_int_equal(worker_hello_send(wire.worker, &sent), 0);
	assert_int_equal(worker_hello_receive(wire.weir, &hello, reason), 0);
	assert_int_equal(hello.id, 7);
	assert_int_equal(hello.flags, WORKER_HELLO_WRITES);
	shutdown(wire.worker, SHUT_RDWR);
	assert_int_equal(worker_hello_receive(wire.weir, &hello, reason), -ENOTCONN);
	wire_close(&wire);
}

/* Sends `n_bytes` of it; the reason has `words` in it. */
static void
assert_hello_refused(const struct worker_hello *sent, size_t n_bytes, const char *words)
{
	char room[2 * sizeof(*sent)] = { 0 };
	char reason[WORKER_REASON_BYTES] = "";
	struct worker_hello hello;
	struct wire wire;

	memcpy(room, sent, sizeof(*sent));
	wire_open(&wire);
	bytes_send(wire.worker, room, n_bytes, 0);
	assert_int_equal(worker_hello_receive(wire.weir, &hello, reason), -EPROTO);
	if (!strstr(reason, words))
		fail_msg("'%s' is not in '%s'", words, reason);
	wire_close(&wire);
}

static void
hello_of_no_kind_is_refused_with_the_reason(void **state)
{
	struct worker_hello hello = hello_sound();

	(void)state;
	assert_hello_refused(&hello, 1, "does not speak the protocol");
	assert_hello_refused(&hello, sizeof(hello) - 1, "sent 23 bytes");
	assert_hello_refused(&hello, sizeof(hello) + 1, "sent 25 bytes");
	hello.preamble.magic++;
	assert_hello_refused(&hello, sizeof(hello), "does not speak the protocol");
	hello = hello_sound();
	hello.preamble.bytes++;
	assert_hello_refused(&hello, sizeof(hello), "call themselves 25");
	hello = hello_sound();
	hello.id = WEIR_WORKERS_MAX;
	assert_hello_refused(&hello, sizeof(hello), "no worker has id 256: 0 to 255");
	hello = hello_sound();
	hello.flags = 1u << 31;
	assert_hello_refused(&hello, sizeof(hello), "flags 80000000");
}

static void
another_version_is_refused_with_both_versions(void **state)
{
	struct worker_hello hello = hello_sound();

	(void)state;
	hello.preamble.version = 9;
	assert_hello_refused(&hello, sizeof(hello),
		"it speaks version 9 of the workers' protocol, this weir version 1");
	/* Whatever the length of its hello. */
	assert_hello_refused(&hello, sizeof(hello) + 8, "version 9");
}

static void
files_that_come_with_a_hello_are_not_opened(void **state)
{
	const struct worker_hello sent = hello_sound();
	char reason[WORKER_REASON_BYTES];
	struct worker_hello hello;
	struct wire wire;

	(void)state;
	wire_open(&wire);
	bytes_send(wire.worker, &sent, sizeof(sent), FILES_TOO_MANY);
	assert_int_equal(worker_hello_receive(wire.weir, &hello, reason), 0);
	assert_int_equal(descriptors_count(), wire.n_open + 2);
	wire_close(&wire);
}

static void
random_bytes_are_no_hello(void **state)
{
	struct test_random random = test_random_start("hellos");

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		struct worker_hello sent = hello_sound();
		char reason[WORKER_REASON_BYTES] = "";
		struct worker_hello hello;
		struct wire wire;

		/* A field, or a bit of one, that is none. */
		((uint8_t *)&sent)[test_random_below(&random, 16)] ^=
			(uint8_t)(1u << test_random_below(&random, 8));
		wire_open(&wire);
		bytes_send(wire.worker, &sent, 1 + test_random_below(&random, sizeof(sent)),
			test_random_below(&random, 3));
		assert_int_equal(worker_hello_receive(wire.weir, &hello, reason), -EPROTO);
		assert_true(reason[0] != '\0');
		wire_close(&wire);
	}
}

/* ---- offer ---- */

static void
offer_fill(struct worker_offer *offer)
{
	worker_offer_init(offer);
	offer->id = 3;
	offer->burst = 32;
	offer->tsc_hz = 1000000000;
	offer->beat_cycles = 5000000;
	for (uint32_t i = 0; i < WORKER_FILE_COUNT; i++)
		offer->file_bytes[i] = 4096;
	strcpy(offer->handler, "forward");
}

static void
offer_arrives_with_its_files(void **state)
{
	struct worker_offer sent, offer;
	char reason[WORKER_REASON_BYTES];
	int files[WORKER_FILE_COUNT];
	struct wire wire;

	(void)state;
	wire_open(&wire);
	offer_fill(&sent);
	strcpy(sent.port_name[31], "net_ring0");
	bytes_send(wire.weir, &sent, sizeof(sent), WORKER_FILE_COUNT);
	assert_int_equal(worker_offer_receive(wire.worker, 3, &offer, files, reason), 0);
	assert_memory_equal(&offer, &sent, sizeof(sent));
	for (uint32_t i = 0; i < WORKER_FILE_COUNT; i++) {
		assert_true(fcntl(files[i], F_GETFD) & FD_CLOEXEC);
		close(files[i]);
	}
	wire_close(&wire);
}

/* What comes is refused, and no file of it stays open. */
static void
assert_offer_refused(const void *bytes, size_t n_bytes, uint32_t n_files, int rc, const char *words)
{
	char reason[WORKER_REASON_BYTES] = "";
	int files[WORKER_FILE_COUNT];
	struct worker_offer offer;
	struct wire wire;

	wire_open(&wire);
	bytes_send(wire.weir, bytes, n_bytes, n_files);
	assert_int_equal(worker_offer_receive(wire.worker, 3, &offer, files, reason), rc);
	if (!strstr(reason, words))
		fail_msg("'%s' is not in '%s'", words, reason);
	wire_close(&wire);
}

static void
offer_with_other_than_three_files_is_refused_and_all_are_closed(void **state)
{
	const uint32_t numbers[] = { 0, 1, 2, 4, 16, 17, FILES_TOO_MANY };
	struct worker_offer offer;

	(void)state;
	offer_fill(&offer);
	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		assert_offer_refused(&offer, sizeof(offer), numbers[i], -EPROTO, "files, not 3");
}

static void
offer_of_no_kind_is_refused_and_its_files_are_closed(void **state)
{
	struct worker_offer room[2] = { 0 };
	struct worker_offer *offer = &room[0];

	(void)state;
	offer_fill(offer);
	assert_offer_refused(offer, 3, 3, -EPROTO, "does not speak");
	assert_offer_refused(offer, sizeof(*offer) - 1, 3, -EPROTO, "weir sent");
	assert_offer_refused(offer, sizeof(*offer) + 1, 3, -EPROTO, "weir sent");
	offer->preamble.version = 2;
	assert_offer_refused(offer, sizeof(*offer), 3, -EPROTO,
		"weir speaks version 2 of the workers' protocol, this worker version 1");
	offer_fill(offer);
	offer->id = 4;
	assert_offer_refused(offer, sizeof(*offer), 3, -EPROTO, "for worker 4");
}

static void
offer_that_says_what_cannot_be_is_refused(void **state)
{
	const struct {
		size_t offset;
		size_t n_bytes;
		int value;
	} faults[] = {
		{ offsetof(struct worker_offer, burst), 4, 0 },
		{ offsetof(struct worker_offer, burst), 4, 1 }, /* 0x01010101 */
		{ offsetof(struct worker_offer, tsc_hz), 8, 0 },
		{ offsetof(struct worker_offer, beat_cycles), 8, 0 },
		{ offsetof(struct worker_offer, n_ports), 4, 0x7f },
		{ offsetof(struct worker_offer, file_bytes), 8, 0 },
		{ offsetof(struct worker_offer, file_bytes) + 16, 8, 0xff },
		{ offsetof(struct worker_offer, handler), 1, 0 },
		{ offsetof(struct worker_offer, handler), WORKER_SPEC_BYTES, 'x' },
		{ offsetof(struct worker_offer, port_name), WORKER_PORT_NAME_BYTES, 'x' },
	};
	struct worker_offer offer;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(faults); i++) {
		offer_fill(&offer);
		memset((char *)&offer + faults[i].offset, faults[i].value, faults[i].n_bytes);
		assert_offer_refused(&offer, sizeof(offer), 3, -EPROTO, "contradicts itself");
	}
}

static void
refusal_is_told_in_its_own_words_whatever_its_version(void **state)
{
	char reason[WORKER_REASON_BYTES];
	int files[WORKER_FILE_COUNT];
	struct worker_offer offer;
	struct wire wire;

	(void)state;
	wire_open(&wire);
	worker_offer_refuse(wire.weir, "worker 3 is there already");
	assert_int_equal(worker_offer_receive(wire.worker, 3, &offer, files, reason), -EACCES);
	assert_string_equal(reason, "worker 3 is there already");
	wire_close(&wire);
	/* Of a later version, and longer or shorter than ours, with files that nobody wants. */
	worker_offer_init(&offer);
	offer.refused = 1;
	offer.preamble.version = 77;
	strcpy(offer.reason, "too old");
	assert_offer_refused(
		&offer, offsetof(struct worker_offer, file_bytes) + 4, 2, -EACCES, "too old");
	/* One without an end is none. */
	memset(offer.reason, 'x', sizeof(offer.reason));
	assert_offer_refused(&offer, sizeof(offer), 0, -EPROTO, "version 77");
}

static void
silence_and_a_closed_socket_are_told_apart(void **state)
{
	const struct timeval patience = { .tv_usec = 1000 };
	char reason[WORKER_REASON_BYTES];
	int files[WORKER_FILE_COUNT];
	struct worker_offer offer;
	struct wire wire;

	(void)state;
	wire_open(&wire);
	setsockopt(wire.worker, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(worker_offer_receive(wire.worker, 3, &offer, files, reason), -ETIMEDOUT);
	assert_string_equal(reason, "weir does not answer");
	shutdown(wire.weir, SHUT_RDWR);
	assert_int_equal(worker_offer_receive(wire.worker, 3, &offer, files, reason), -ENOTCONN);
	/* And whoever sends to nobody is not killed. */
	assert_int_equal(worker_hello_send(wire.worker, &(struct worker_hello) { 0 }), -EPIPE);
	wire_close(&wire);
}

/* ---- mapping ---- */

static int
file_make(size_t n_bytes, int seals)
{
	const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)n_bytes), 0);
	if (seals != 0)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void
files_that_could_shrink_or_are_too_short_are_not_mapped(void **state)
{
	const struct {
		size_t n_bytes;
		int seals;
		const char *words;
	} files_bad[] = {
		{ 4095, F_SEAL_SHRINK, "packets is shorter than the 4096 bytes" },
		{ 4096, F_SEAL_GROW, "packets can still shrink" },
	};
	const uint32_t n_open = descriptors_count();
	struct weir_worker_mapping mapping;
	char reason[WORKER_REASON_BYTES];
	struct worker_offer offer;

	(void)state;
	offer_fill(&offer);
	for (size_t i = 0; i < ARRAY_LENGTH(files_bad); i++) {
		const int files[WORKER_FILE_COUNT] = {
			file_make(4096, F_SEAL_SHRINK),
			file_make(4096, F_SEAL_SHRINK),
			file_make(files_bad[i].n_bytes, files_bad[i].seals),
		};

		assert_int_equal(mapping_open(&mapping, &offer, files, reason), -EPROTO);
		assert_non_null(strstr(reason, files_bad[i].words));
		assert_null(mapping.lanes);
		assert_null(mapping.own);
		assert_null(mapping.data);
		assert_int_equal(descriptors_count(), n_open);
	}
}

static void
lanes_can_only_be_read_and_the_rest_is_shared(void **state)
{
	const int files[WORKER_FILE_COUNT] = {
		file_make(4096, F_SEAL_SHRINK),
		file_make(8192, F_SEAL_SHRINK),
		file_make(4096, F_SEAL_SHRINK),
	};
	const int own = fcntl(files[WORKER_FILE_OWN], F_DUPFD_CLOEXEC, 0);
	const int lanes = fcntl(files[WORKER_FILE_LANES], F_DUPFD_CLOEXEC, 0);
	struct weir_worker_mapping mapping;
	char reason[WORKER_REASON_BYTES];
	struct worker_offer offer;
	char byte = 0;

	(void)state;
	offer_fill(&offer);
	assert_int_equal(fcntl(lanes, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	assert_int_equal(mapping_open(&mapping, &offer, files, reason), 0);
	((char *)mapping.own)[17] = 42;
	assert_int_equal(pread(own, &byte, 1, 17), 1);
	assert_int_equal(byte, 42);
	assert_int_equal(mapping.own_bytes, 4096);
	/* As the pool seals them: what is mapped read-only stays so. */
	assert_int_equal(mprotect((void *)(uintptr_t)mapping.lanes, mapping.lanes_bytes,
				 PROT_READ | PROT_WRITE),
		-1);
	assert_int_equal(errno, EACCES);
	mapping_close(&mapping);
	mapping_close(&mapping); /* a closed one is none */
	close(own);
	close(lanes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_arrives_as_it_was_sent),
		cmocka_unit_test(hello_of_no_kind_is_refused_with_the_reason),
		cmocka_unit_test(another_version_is_refused_with_both_versions),
		cmocka_unit_test(files_that_come_with_a_hello_are_not_opened),
		cmocka_unit_test(random_bytes_are_no_hello),
		cmocka_unit_test(offer_arrives_with_its_files),
		cmocka_unit_test(offer_with_other_than_three_files_is_refused_and_all_are_closed),
		cmocka_unit_test(offer_of_no_kind_is_refused_and_its_files_are_closed),
		cmocka_unit_test(offer_that_says_what_cannot_be_is_refused),
		cmocka_unit_test(refusal_is_told_in_its_own_words_whatever_its_version),
		cmocka_unit_test(silence_and_a_closed_socket_are_told_apart),
		cmocka_unit_test(files_that_could_shrink_or_are_too_short_are_not_mapped),
		cmocka_unit_test(lanes_can_only_be_read_and_the_rest_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
