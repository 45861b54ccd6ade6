/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared objects: opened, checked and tried in a child process, then opened and checked here. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <weir/plugin.h>

#include "child.h"
#include "file.h"
#include "loaded.h"
#include "trial.h"

/* Refuses a size that is not this Weir's. */
static int
size_check(const char *what, uint32_t theirs, size_t ours, char *reason, size_t n_bytes)
{
	if (theirs == ours)
		return 0;
	return reason_set(reason, n_bytes, ENOEXEC,
		"its struct %s has %" PRIu32 " bytes, this weir's %zu: build it again", what,
		theirs, ours);
}

static int
sizes_check(const struct weir_strategy_plugin *plugin, char *reason, size_t n_bytes)
{
	int rc = size_check(
		"weir_meta", plugin->meta_bytes, sizeof(struct weir_meta), reason, n_bytes);

	if (rc == 0)
		rc = size_check("weir_pick_context", plugin->pick_context_bytes,
			sizeof(struct weir_pick_context), reason, n_bytes);
	if (rc == 0)
		rc = size_check("weir_snapshot", plugin->snapshot_bytes,
			sizeof(struct weir_snapshot), reason, n_bytes);
	if (rc == 0)
		rc = size_check("weir_strategy", plugin->strategy_bytes,
			sizeof(struct weir_strategy), reason, n_bytes);
	return rc;
}

static int
plugin_check(const struct weir_strategy_plugin *plugin, char *reason, size_t n_bytes)
{
	int rc;

	if (plugin->magic != WEIR_STRATEGY_MAGIC)
		return reason_set(reason, n_bytes, ENOEXEC,
			"its symbol " WEIR_STRATEGY_PLUGIN_SYMBOL
			" is not made by WEIR_STRATEGY_PLUGIN");
	if (plugin->abi_version != WEIR_STRATEGY_ABI_VERSION)
		return reason_set(reason, n_bytes, ENOEXEC,
			"is built for version %" PRIu32 " of the strategy ABI, this weir has %d",
			plugin->abi_version, WEIR_STRATEGY_ABI_VERSION);
	rc = sizes_check(plugin, reason, n_bytes);
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
	const struct weir_strategy_plugin *plugin;
	int rc;

	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*handle)
		return reason_set(reason, n_bytes, ENOEXEC, "%s", dlerror());
	plugin = dlsym(*handle, WEIR_STRATEGY_PLUGIN_SYMBOL);
	if (!plugin)
		return reason_set(reason, n_bytes, ENOEXEC,
			"exports no " WEIR_STRATEGY_PLUGIN_SYMBOL
			": WEIR_STRATEGY_PLUGIN makes it");
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

static void
handle_close(void *handle)
{
	dlclose(handle);
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
		if (handle)
			dlclose(handle);
		return rc;
	}
	*loaded = loaded_create(strategy, name, handle_close, handle);
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
