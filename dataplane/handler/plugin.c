/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plugin: a handler of the user's own, from a shared object. One more call per burst than a
 * built-in one; the rx core checks its verdicts as it checks everybody's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir/handler.h>

#include "child.h"
#include "handler.h"
#include "plugin_file.h"
#include "plugin_trial.h"

#define PLUGIN_USAGE "plugin:FILE.so[:ARGUMENTS]"

/* Of one worker. */
struct plugin {
	const struct weir_handler *handler; /* of `file`: what each burst needs */
	void *inner;			    /* the handler's own state */
	struct plugin_file file;
};

/* Whatever a plugin returns for a failure is one. */
static int
rc_settle(int rc)
{
	return rc > 0 ? -EINVAL : rc;
}

/* The error of a callback that failed: never empty. */
static int
error_settle(int rc, char *error, size_t error_bytes)
{
	rc = rc_settle(rc);
	if (rc < 0 && error[0] == '\0')
		reason_set(error, error_bytes, -rc, "%s", strerror(-rc));
	return rc;
}

static int
inner_open(struct plugin *plugin, const struct handler_setup *setup, const char *arguments,
	char *error, size_t error_bytes)
{
	const struct weir_handler_setup inner_setup = {
		.seed = setup->seed,
		.tsc_hz = setup->tsc_hz,
		.pair = setup->pair,
		.incarnation = setup->incarnation,
		.n_ports = setup->n_ports,
		.worker = setup->worker,
	};
	int rc;

	if (!plugin->handler->open)
		return arguments ? reason_set(error, error_bytes, EINVAL, "no arguments, not '%s'",
					   arguments)
				 : 0;
	error[0] = '\0';
	rc = plugin->handler->open(&inner_setup, arguments, &plugin->inner, error, error_bytes);
	return error_settle(rc, error, error_bytes);
}

static int
file_refuse(const char *text, const char *reason, int rc, char *error, size_t error_bytes)
{
	return reason_set(error, error_bytes, -rc, PLUGIN_USAGE " with a plugin, not '%s' (%s)",
		text ? text : "", reason);
}

/* The file has been tried before; not by this process, if that is a worker's. */
static int
plugin_open(const struct handler_setup *setup, const char *arguments, void **state, char *error,
	size_t error_bytes)
{
	char reason[HANDLER_REASON_BYTES] = "";
	struct plugin_words words = { 0 };
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	int rc = plugin ? plugin_words_find(&words, arguments, reason, sizeof(reason)) : -ENOMEM;

	if (rc == 0)
		rc = plugin_file_open(&plugin->file, words.path, reason, sizeof(reason));
	if (rc < 0) {
		file_refuse(arguments, reason, rc, error, error_bytes);
	} else {
		plugin->handler = plugin->file.handler;
		rc = inner_open(plugin, setup, words.arguments, error, error_bytes);
		if (rc < 0)
			plugin_file_close(&plugin->file);
	}
	free(words.path);
	if (rc < 0)
		free(plugin);
	else
		*state = plugin;
	return rc;
}

static int
plugin_begin(void *state, char *error, size_t error_bytes)
{
	struct plugin *plugin = state;

	if (!plugin->handler->begin)
		return 0;
	error[0] = '\0';
	return error_settle(
		plugin->handler->begin(plugin->inner, error, error_bytes), error, error_bytes);
}

static void
plugin_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct plugin *plugin = state;

	plugin->handler->process(plugin->inner, packets, n, verdicts);
}

static int
plugin_close(void *state, char *error, size_t error_bytes)
{
	struct plugin *plugin = state;
	int rc = 0;

	error[0] = '\0';
	if (plugin->handler->close)
		rc = error_settle(plugin->handler->close(plugin->inner, error, error_bytes), error,
			error_bytes);
	plugin_file_close(&plugin->file);
	free(plugin);
	return rc;
}

static int
plugin_try(void *context, char *reason, size_t n_bytes)
{
	const struct plugin_words *words = context;
	struct plugin_file file = { 0 };
	int rc = plugin_file_open(&file, words->path, reason, n_bytes);

	/* Not closed: this process ends at once, and what plugins do then is their own affair. */
	return rc < 0 ? rc : plugin_trial_run(file.handler, words->arguments, reason, n_bytes);
}

/* Opens what has passed the trial: it stays open, so that workers run this very code. */
static int
code_open(const char *path, struct handler *loaded, void **code, char *reason, size_t n_bytes)
{
	struct plugin_file *file = calloc(1, sizeof(*file));
	int rc;

	if (!file)
		return reason_set(reason, n_bytes, ENOMEM, "no memory");
	rc = plugin_file_open(file, path, reason, n_bytes);
	if (rc < 0) {
		free(file);
		return rc;
	}
	loaded->help = file->handler->help;
	loaded->is_sink = file->handler->flags & WEIR_HANDLER_SINK;
	loaded->writes_packets = file->handler->flags & WEIR_HANDLER_WRITES;
	loaded->restartable = file->handler->flags & WEIR_HANDLER_RESTARTABLE;
	*code = file;
	return 0;
}

static int
plugin_load(
	const char *arguments, struct handler *loaded, void **code, char *reason, size_t n_bytes)
{
	struct plugin_words words = { 0 };
	int rc = plugin_words_find(&words, arguments, reason, n_bytes);

	if (rc == -EINVAL)
		return reason_set(reason, n_bytes, EINVAL, "allowed " PLUGIN_USAGE " with a file");
	if (rc == 0)
		rc = child_try(plugin_try, &words, reason, n_bytes);
	if (rc == 0)
		rc = code_open(words.path, loaded, code, reason, n_bytes);
	free(words.path);
	return rc;
}

static void
plugin_unload(void *code)
{
	plugin_file_close(code);
	free(code);
}

/* What the flags of the file are is not known here: the row says what does no harm. */
const struct handler handler_plugin = {
	.name = "plugin",
	.usage = PLUGIN_USAGE,
	.help = "a handler of your own, a shared object: runs with all of Weir's rights",
	.writes_packets = true,
	.load = plugin_load,
	.unload = plugin_unload,
	.open = plugin_open,
	.begin = plugin_begin,
	.process = plugin_process,
	.close = plugin_close,
};
