/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler to copy from, with a state: counts each flow's packets and bytes, forwards them, and at
 * the end writes what were the ten busiest flows of worker N to FILE.N. Its successor, if that was
 * ended or died, writes to FILE.N.1, and so on.
 *   cc -O2 -shared -fPIC top_flows.c $(pkg-config --cflags weir) -o top_flows.so
 *   weir ... -- --handler plugin:top_flows.so:FILE
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/handler.h>

enum { TABLE_SLOTS = 4096, PROBES_MAX = 8, TOP_FLOWS = 10, PORTS_MAX = 256 };
enum { NAME_LENGTH_MAX = 490, PATH_BYTES = 512 };

struct flow {
	uint64_t hash;
	uint64_t packets; /* 0: the slot is free */
	uint64_t bytes;
};

/* Of one worker. The table never grows: flows that find no place in it are the rest. */
struct top_flows {
	uint8_t pair[PORTS_MAX];
	FILE *file; /* NULL in a trial */
	char path[PATH_BYTES];
	struct flow rest;
	struct flow table[TABLE_SLOTS];
};

/* Names and opens the file. What it holds stays there until the run begins. Returns 0 or -1. */
static int
file_open(struct top_flows *top, const struct weir_handler_setup *setup, const char *name)
{
	const unsigned int worker = setup->worker;

	if (setup->incarnation == 0)
		snprintf(top->path, sizeof(top->path), "%s.%u", name, worker);
	else
		snprintf(top->path, sizeof(top->path), "%s.%u.%" PRIu32, name, worker,
			setup->incarnation);
	top->file = fopen(top->path, "a");
	return top->file ? 0 : -1;
}

static int
top_flows_open(const struct weir_handler_setup *setup, const char *arguments, void **state,
	char *error, size_t error_bytes)
{
	struct top_flows *top;

	if (!arguments || !arguments[0] || strlen(arguments) > NAME_LENGTH_MAX) {
		snprintf(error, error_bytes, "a file, not '%s'", arguments ? arguments : "");
		return -EINVAL;
	}
	top = calloc(1, sizeof(*top));
	if (!top) {
		snprintf(error, error_bytes, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	memcpy(top->pair, setup->pair, setup->n_ports < PORTS_MAX ? setup->n_ports : PORTS_MAX);
	if (!setup->is_trial && file_open(top, setup, arguments) < 0) {
		snprintf(error, error_bytes, "a file that can be written, not '%s' (%s)", arguments,
			strerror(errno));
		free(top);
		return -EINVAL;
	}
	*state = top;
	return 0;
}

static int
top_flows_begin(void *state, char *error, size_t error_bytes)
{
	struct top_flows *top = state;

	if (!top->file)
		return 0;
	top->file = freopen(top->path, "w", top->file);
	if (top->file)
		return 0;
	snprintf(error, error_bytes, "a file that can be written, not '%s'", top->path);
	return -EINVAL;
}

/* The flow's slot, a free one if it is new; what counts the rest if there is none. */
static struct flow *
flow_find(struct top_flows *top, uint64_t hash)
{
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct flow *flow = &top->table[(hash + i) % TABLE_SLOTS];

		if (flow->packets == 0 || flow->hash == hash)
			return flow;
	}
	return &top->rest;
}

static void
top_flows_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct top_flows *top = state;

	for (uint32_t i = 0; i < n; i++) {
		const struct weir_meta *meta = &packets[i].meta;
		struct flow *flow = flow_find(top, meta->hash);

		flow->hash = meta->hash;
		flow->packets++;
		flow->bytes += meta->length;
		verdicts[i] = weir_verdict_tx(&packets[i], top->pair[meta->port]);
	}
}

static int
busier_first(const void *left, const void *right)
{
	const struct flow *a = left;
	const struct flow *b = right;

	if (a->packets != b->packets)
		return a->packets > b->packets ? -1 : 1;
	return (a->hash > b->hash) - (a->hash < b->hash);
}

static void
flows_write(struct top_flows *top)
{
	qsort(top->table, TABLE_SLOTS, sizeof(top->table[0]), busier_first);
	fprintf(top->file, "# flow packets bytes\n");
	for (uint32_t i = 0; i < TABLE_SLOTS && top->table[i].packets > 0; i++) {
		const struct flow *flow = &top->table[i];

		if (i < TOP_FLOWS) {
			fprintf(top->file, "%016" PRIx64 " %" PRIu64 " %" PRIu64 "\n", flow->hash,
				flow->packets, flow->bytes);
		} else {
			top->rest.packets += flow->packets;
			top->rest.bytes += flow->bytes;
		}
	}
	fprintf(top->file, "rest %" PRIu64 " %" PRIu64 "\n", top->rest.packets, top->rest.bytes);
}

static int
top_flows_close(void *state, char *error, size_t error_bytes)
{
	struct top_flows *top = state;
	int failed = 0;

	if (top->file) {
		flows_write(top);
		failed = ferror(top->file);
		failed |= fclose(top->file);
	}
	if (failed)
		snprintf(error, error_bytes, "%s: cannot be written", top->path);
	free(top);
	return failed ? -EIO : 0;
}

/* Not WEIR_HANDLER_RESTARTABLE: a packet that came again would be counted twice. */
static const struct weir_handler top_flows = {
	.name = "top-flows",
	.help = "counts flows, forwards, and writes the ten busiest to FILE.WORKER",
	.open = top_flows_open,
	.begin = top_flows_begin,
	.process = top_flows_process,
	.close = top_flows_close,
};

WEIR_HANDLER_PLUGIN(top_flows);
