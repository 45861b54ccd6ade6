/* SPDX-License-Identifier: BSD-3-Clause */
#include "bpf_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bpf.h>
#include <rte_errno.h>
#include <rte_log.h>

#include <weir/stats.h>

#include "bpf_helpers.h"
#include "child.h"

/* ---- as a strategy ---- */

/* What is prepared for a snapshot. */
struct bpf_prepared {
	struct bpf_program *program;
	struct bpf_table table; /* last: its slots follow */
};

static void *
bpf_prepare(const struct weir_strategy *strategy, const struct weir_snapshot *snapshot)
{
	struct bpf_prepared *prepared;
	uint32_t n_slots = 0;

	for (uint32_t i = 0; i < snapshot->n_routable; i++)
		n_slots += snapshot->weight[i];
	prepared = calloc(1, sizeof(*prepared) + n_slots * sizeof(prepared->table.slot[0]));
	if (!prepared || n_slots == 0) /* nobody is asked about an empty pool */
		return prepared;
	prepared->program = strategy->instance;
	prepared->table.by_slots = fastmod_wide_make(n_slots);
	n_slots = 0;
	for (uint32_t i = 0; i < snapshot->n_routable; i++)
		for (uint32_t w = 0; w < snapshot->weight[i]; w++)
			prepared->table.slot[n_slots++] = (uint16_t)i;
	return prepared;
}

struct bpf_program *
bpf_program_of_table(const void *table)
{
	return ((const struct bpf_prepared *)table)->program;
}

/*
 * All that the program may have written in the context is written anew, but for `unused`: to clear
 * that would cost as much as a small program.
 */
static void
frame_set_packet(struct bpf_frame *frame, const struct weir_meta *meta)
{
	const struct weir_pick_context *pick = frame->pick;
	struct weir_bpf_context *context = &frame->context;

	context->index = frame->index;
	context->hash = meta->hash;
	context->now_ns = pick->now_ns;
	context->seed = pick->seed;
	context->length = meta->length;
	context->n_routable = pick->n_routable;
	context->rotation = frame->rotation;
	context->stride = pick->stride;
	context->bucket = meta->bucket;
	context->port = meta->port;
	context->class_id = meta->class_id;
	context->reserved = 0;
}

/*
 * One call per packet is what a program for one packet costs: there is none for a burst, since
 * programs have no loops.
 */
static void
bpf_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	const struct bpf_prepared *prepared = ctx->table;
	const struct bpf_program *program = prepared->program;
	struct bpf_frame frame = { .pick = ctx,
		.table = &prepared->table,
		.index = ctx->index,
		.rotation = ctx->rotation };

	for (uint32_t i = 0; i < n_picks; i++) {
		uint64_t answer;

		frame_set_packet(&frame, &meta[i * ctx->stride]);
		if (program->native)
			answer = program->native(&frame.context);
		else
			answer = rte_bpf_exec(program->bpf, &frame.context);
		out[i] = answer < WEIR_PICK_NONE ? (uint16_t)answer : WEIR_PICK_NONE;
		if (answer < ctx->n_routable)
			weir_pick_count(ctx, (uint32_t)answer);
		frame.rotation = weir_pick_rotate(ctx, frame.rotation);
		frame.index += ctx->stride;
	}
}

static void
strategy_fill(struct bpf_program *program, const struct bpf_object *object)
{
	const bool may_be_none = strcmp(object->section, BPF_SECTION_PICK_OR_NONE) == 0;

	snprintf(program->help, sizeof(program->help), "eBPF, %u instructions, %s",
		object->n_instructions,
		program->native	     ? "compiled"
		: object->tests_bits ? "interpreted, for its bit tests"
				     : "interpreted");
	program->strategy = (struct weir_strategy) {
		.name = "bpf",
		.help = program->help,
		.flags = WEIR_STRATEGY_READS_DEPTH | WEIR_STRATEGY_READS_META |
			 WEIR_STRATEGY_READS_WEIGHT | (may_be_none ? WEIR_STRATEGY_FINDS_NONE : 0u),
		.none_reason = may_be_none ? WEIR_REASON_NO_ROUTE : 0,
		.instance = program,
		.prepare = bpf_prepare,
		.release = free,
		.pick_burst = bpf_pick_burst,
	};
}

/* ---- loading ---- */

/* rte_bpf's lines about the calls of helpers, and its last one, say nothing to a user. */
static bool
line_tells_why(const char *line, size_t length)
{
	static const char *const noise[] = { "EBPF_PSEUDO_CALL to external", "rte_bpf_elf_load(" };

	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (memmem(line, length, noise[i], strlen(noise[i])))
			return false;
	return length > 0;
}

/* The first line that tells why; `log` is what was logged, or NULL. */
static int
log_explain(const char *log, char *reason, size_t n_bytes)
{
	for (const char *line = log; line && *line; line += strspn(line, "\n")) {
		const size_t length = strcspn(line, "\n");

		if (line_tells_why(line, length))
			return reason_set(reason, n_bytes, EINVAL, "refused by rte_bpf: %.*s",
				(int)length, line);
		line += length;
	}
	return reason_set(
		reason, n_bytes, EINVAL, "refused by rte_bpf: %s", rte_strerror(rte_errno));
}

static struct rte_bpf *
bpf_load(const char *path, const char *section)
{
	struct rte_bpf_xsym symbols[BPF_HELPERS];
	const struct rte_bpf_prm parameters = {
		.xsym = symbols,
		.nb_xsym = BPF_HELPERS,
		.prog_arg = { .type = RTE_BPF_ARG_PTR, .size = sizeof(struct weir_bpf_context) },
	};

	bpf_helpers_fill(symbols);
	return rte_bpf_elf_load(&parameters, path, section);
}

int
bpf_program_open(struct bpf_program *program, const char *path, const struct bpf_object *object,
	bool native, char *reason, size_t n_bytes)
{
	struct rte_bpf_jit jit = { 0 };
	char *log = NULL;
	size_t log_bytes;
	FILE *stream = open_memstream(&log, &log_bytes);
	int rc = 0;

	*program = (struct bpf_program) { 0 };
	if (!stream)
		return reason_set(reason, n_bytes, ENOMEM, "no memory");
	rte_openlog_stream(stream);
	program->bpf = bpf_load(path, object->section);
	rte_openlog_stream(NULL);
	fclose(stream);
	if (!program->bpf)
		rc = log_explain(log, reason, n_bytes);
	else if (native && rte_bpf_get_jit(program->bpf, &jit) == 0)
		program->native = jit.func;
	free(log);
	if (rc == 0)
		strategy_fill(program, object);
	return rc;
}

void
bpf_program_close(struct bpf_program *program)
{
	rte_bpf_destroy(program->bpf);
	program->bpf = NULL;
}
