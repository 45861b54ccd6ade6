/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler that forwards and has a fault, which its argument names. All but `poison` show once, in
 * the first incarnation of worker 0, in the middle of a burst.
 *   segv	   a store to nowhere
 *   exit	   ends the process, as if all were well
 *   hang	   does not come back
 *   scribble	   from then on, fills all the memory that it may write with random bytes
 *   poison	   a store to nowhere at packet 20 of each flow 7, whoever has it
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weir/handler.h>

#include "stamp.h"

/* Packets before the fault shows. */
#define GOOD_PKTS 500
#define POISON_FLOW 7
#define POISON_SEQUENCE 20
#define PORTS_MAX 256
#define MAPPINGS_MAX 4

enum fault { FAULT_SEGV, FAULT_EXIT, FAULT_HANG, FAULT_SCRIBBLE, FAULT_POISON, FAULT_COUNT };

static const char *const fault_names[FAULT_COUNT] = { "segv", "exit", "hang", "scribble",
	"poison" };

struct mapping {
	uint64_t *words;
	size_t n;
};

struct faulty {
	enum fault fault;
	bool is_armed;
	uint64_t random;
	uint64_t n_packets;
	uint8_t pair[PORTS_MAX];
	struct mapping mappings[MAPPINGS_MAX];
	uint32_t n_mappings;
};

/* All shared memory that can be written: while the file that tells of it can still be opened. */
static void
mappings_find(struct faulty *faulty)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t from;
		uint64_t to;

		if (!strstr(line, " rw-s ") || !strstr(line, "/memfd:") ||
			sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2 ||
			faulty->n_mappings == MAPPINGS_MAX)
			continue;
		faulty->mappings[faulty->n_mappings++] = (struct mapping) {
			.words = (uint64_t *)(uintptr_t)from,
			.n = (to - from) / sizeof(uint64_t),
		};
	}
	if (maps)
		fclose(maps);
}

static int
faulty_open(const struct weir_handler_setup *setup, const char *arguments, void **state,
	char *error, size_t error_bytes)
{
	struct faulty *faulty;
	unsigned int fault = 0;

	while (fault < FAULT_COUNT && (!arguments || strcmp(arguments, fault_names[fault]) != 0))
		fault++;
	if (fault == FAULT_COUNT) {
		snprintf(error, error_bytes, "a fault, not '%s'", arguments ? arguments : "");
		return -EINVAL;
	}
	faulty = calloc(1, sizeof(*faulty));
	if (!faulty)
		return -ENOMEM;
	faulty->fault = (enum fault)fault;
	faulty->is_armed =
		!setup->is_trial &&
		(fault == FAULT_POISON || (setup->worker == 0 && setup->incarnation == 0));
	faulty->random = setup->seed | 1;
	memcpy(faulty->pair, setup->pair, setup->n_ports < PORTS_MAX ? setup->n_ports : PORTS_MAX);
	if (faulty->is_armed && fault == FAULT_SCRIBBLE)
		mappings_find(faulty);
	*state = faulty;
	return 0;
}

/* xorshift. */
static uint64_t
random_next(struct faulty *faulty)
{
	faulty->random ^= faulty->random << 13;
	faulty->random ^= faulty->random >> 7;
	faulty->random ^= faulty->random << 17;
	return faulty->random;
}

static void
scribble(struct faulty *faulty)
{
	for (uint32_t i = 0; i < faulty->n_mappings; i++) {
		for (size_t word = 0; word < faulty->mappings[i].n; word++)
			faulty->mappings[i].words[word] = random_next(faulty);
	}
}

static bool
is_poison(const struct weir_packet *packet)
{
	struct stamp stamp;

	return stamp_find(packet->data, packet->meta.segment_length, &stamp) &&
	       stamp.flow == POISON_FLOW && stamp.sequence == POISON_SEQUENCE;
}

static void
store_to_nowhere(void)
{
	uint32_t *nowhere = (uint32_t *)(uintptr_t)8;

	__asm__ volatile("movl $1, (%0)" : : "r"(nowhere) : "memory");
}

static void
fault_show(struct faulty *faulty)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	switch (faulty->fault) {
	case FAULT_EXIT:
		_exit(0);
	case FAULT_HANG:
		for (;;)
			nanosleep(&moment, NULL);
	case FAULT_SCRIBBLE:
		scribble(faulty);
		break;
	default:
		store_to_nowhere();
	}
}

static void
faulty_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct faulty *faulty = state;

	for (uint32_t i = 0; i < n; i++) {
		const bool is_due = faulty->fault == FAULT_POISON ? is_poison(&packets[i])
								  : faulty->n_packets >= GOOD_PKTS;

		if (faulty->is_armed && is_due)
			fault_show(faulty);
		verdicts[i] = weir_verdict_tx(&packets[i], faulty->pair[packets[i].meta.port]);
		faulty->n_packets++;
	}
}

static int
faulty_close(void *state, char *error, size_t error_bytes)
{
	(void)error;
	(void)error_bytes;
	free(state);
	return 0;
}

static const struct weir_handler faulty = {
	.name = "faulty",
	.help = "one of the tests', with a fault",
	.flags = WEIR_HANDLER_RESTARTABLE,
	.open = faulty_open,
	.process = faulty_process,
	.close = faulty_close,
};

WEIR_HANDLER_PLUGIN(faulty);
