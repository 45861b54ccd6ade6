/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared objects: opened, checked and tried in a child process, then opened and checked here. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include <weir/plugin.h>

#include "child.h"
#include "file.h"
#include "loaded.h"
#include "object.h"
#include "trial.h"

static const struct object_kind strategy_kind = {
	.symbol = WEIR_STRATEGY_PLUGIN_SYMBOL,
	.macro = "WEIR_STRATEGY_PLUGIN",
	.abi = "strategy",
	.magic = WEIR_STRATEGY_MAGIC,
	.abi_version = WEIR_STRATEGY_ABI_VERSION,
};
static_assert(
	offsetof(struct weir_strategy_plugin, magic) == offsetof(struct object_header, magic) &&
		offsetof(struct weir_strategy_plugin, abi_version) ==
			offsetof(struct object_header, abi_version),
	"both are read before the version is known");

static int
plugin_check(const struct weir_strategy_plugin *plugin, char *reason, size_t n_bytes)
{
	const struct object_size sizes[] = {
		{ "weir_meta", plugin->meta_bytes, sizeof(struct weir_meta) },
		{ "weir_pick_context", plugin->pick_context_bytes,
			sizeof(struct weir_pick_context) },
		{ "weir_snapshot", plugin->snapshot_bytes, sizeof(struct weir_snapshot) },
		{ "weir_strategy", plugin->strategy_bytes, sizeof(struct weir_strategy) },
	};
	int rc = object_check_sizes(sizes, sizeof(sizes) / sizeof(sizes[0]), reason, n_bytes);

	if (rc < 0)
		return rc;
	if (!plugin->strategy)
		return reason_set(reason, n_bytes, EINVAL, "exports no strategy");
	return strategy_check(plugin->strategy, reason, n_bytes);
}

/* Opens a shared object and checks what it exports. `handle` is to be closed, if it is not NULL. */
static int
plugin_open(const char *path, void **handle, const struct weir_strategy **strategy, char *reason,
	size_t n_bytes)
{
	const void *header;
	const struct weir_strategy_plugin *plugin;
	int rc = object_open(&strategy_kind, path, handle, &header, reason, n_bytes);

	if (rc < 0)
		return rc;
	plugin = header;
	rc = plugin_check(plugin, reason, n_bytes);
	if (rc == 0)
		*strategy = plugin->strategy;
	return rc;
}

static int
plugin_try(void *path, char *reason, size_t n_bytes)
{
	const struct weir_strategy *strategy = NULL;
	void *handle;
	int rc = plugin_open(path, &handle, &strategy, reason, n_bytes);

	/* Not closed: this process ends at once, and what plugins do then is their own affair. */
	return rc < 0 ? rc : strategy_try(strategy, reason, n_bytes);
}

/* Loads what has passed the trial. */
static int
plugin_load(const char *path, const char *name, struct weir_strategy **loaded, char *reason,
	size_t n_bytes)
{
	const struct weir_strategy *strategy = NULL;
	void *handle;
	int rc = plugin_open(path, &handle, &strategy, reason, n_bytes);

	if (rc < 0) {
		object_close(handle);
		return rc;
	}
	*loaded = loaded_create(strategy, name, object_close, handle);
	return *loaded ? 0 : reason_set(reason, n_bytes, ENOMEM, "no memory");
}

struct weir_strategy *
weir_strategy_load(const char *file, const char *name, char *reason, size_t n_bytes)
{
	struct weir_strategy *loaded = NULL;
	char *path;
	int rc = code_file_find(file, &path, reason, n_bytes);

	if (rc == 0)
		rc = child_try(plugin_try, path, reason, n_bytes);
	if (rc == 0)
		rc = plugin_load(path, name, &loaded, reason, n_bytes);
	free(path);
	errno = -rc;
	return loaded;
}
