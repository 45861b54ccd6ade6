/* SPDX-License-Identifier: BSD-3-Clause */
#include "bpf_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_program.h"
#include "child.h"
#include "file.h"
#include "loaded.h"
#include "trial.h"

struct bpf_trial {
	const char *path;
	struct bpf_object object;
};

/* The verifier takes exponential time on branches; and even the file was not ours to trust. */
static int
object_try(void *context, char *reason, size_t n_bytes)
{
	struct bpf_trial *trial = context;
	struct bpf_program program;
	int rc = bpf_program_open(&program, trial->path, &trial->object, false, reason, n_bytes);

	return rc < 0 ? rc : strategy_try(&program.strategy, reason, n_bytes);
}

/* Picks both ways, and crashes if they differ: a trial's child process ends so. */
static void
both_pick_burst(struct weir_pick_context *ctx, const struct weir_meta *meta, uint32_t n_picks,
	uint16_t *out)
{
	struct bpf_program *program = bpf_program_of_table(ctx->table);
	uint64_t (*const native)(void *context) = program->native;
	uint32_t depth[WEIR_WORKERS_MAX], room[WEIR_WORKERS_MAX];
	uint16_t interpreted[WEIR_BURST_MAX];

	memcpy(depth, ctx->depth, ctx->n_routable * sizeof(depth[0]));
	memcpy(room, ctx->room, ctx->n_routable * sizeof(room[0]));
	program->native = NULL;
	program->strategy.pick_burst(ctx, meta, n_picks, interpreted);
	memcpy(ctx->depth, depth, ctx->n_routable * sizeof(depth[0]));
	memcpy(ctx->room, room, ctx->n_routable * sizeof(room[0]));
	program->native = native;
	program->strategy.pick_burst(ctx, meta, n_picks, out);
	if (memcmp(interpreted, out, n_picks * sizeof(out[0])) != 0)
		abort();
}

static int
native_try(void *context, char *reason, size_t n_bytes)
{
	struct bpf_trial *trial = context;
	struct bpf_program program;
	struct weir_strategy both;
	int rc = bpf_program_open(&program, trial->path, &trial->object, true, reason, n_bytes);

	if (rc < 0)
		return rc;
	if (!program.native)
		return reason_set(reason, n_bytes, ENOTSUP, "no compiler here");
	both = program.strategy;
	both.pick_burst = both_pick_burst;
	return strategy_try(&both, reason, n_bytes);
}

static void
program_destroy(void *memory)
{
	bpf_program_close(memory);
	free(memory);
}

/* Loads what has passed the trial. */
static int
program_load(struct bpf_trial *trial, const char *name, bool native, struct weir_strategy **loaded,
	char *reason, size_t n_bytes)
{
	struct bpf_program *program = calloc(1, sizeof(*program));
	int rc;

	if (!program)
		return reason_set(reason, n_bytes, ENOMEM, "no memory");
	rc = bpf_program_open(program, trial->path, &trial->object, native, reason, n_bytes);
	if (rc < 0) {
		program_destroy(program);
		return rc;
	}
	*loaded = loaded_create(&program->strategy, name, program_destroy, program);
	return *loaded ? 0 : reason_set(reason, n_bytes, ENOMEM, "no memory");
}

static int
object_load(const char *path, const char *name, struct weir_strategy **loaded, char *reason,
	size_t n_bytes)
{
	struct bpf_trial trial = { .path = path };
	bool native = false;
	int rc = bpf_object_read(&trial.object, path, reason, n_bytes);

	if (rc == 0)
		rc = child_try(object_try, &trial, reason, n_bytes);
	if (rc < 0)
		return rc;
	if (!trial.object.tests_bits)
		native = child_try(native_try, &trial, NULL, 0) == 0;
	return program_load(&trial, name, native, loaded, reason, n_bytes);
}

struct weir_strategy *
bpf_strategy_load(const char *file, const char *name, char *reason, size_t n_bytes)
{
	struct weir_strategy *loaded = NULL;
	char *path;
	int rc = code_file_find(file, &path, reason, n_bytes);

	if (rc == 0)
		rc = object_load(path, name, &loaded, reason, n_bytes);
	free(path);
	errno = -rc;
	return loaded;
}
