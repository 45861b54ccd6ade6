/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir/handler.h>

#include "child.h"
#include "file.h"
#include "object.h"
#include "words.h"

#define FLAGS_KNOWN (WEIR_HANDLER_SINK | WEIR_HANDLER_WRITES | WEIR_HANDLER_RESTARTABLE)

static const struct object_kind handler_kind = {
	.symbol = WEIR_HANDLER_PLUGIN_SYMBOL,
	.macro = "WEIR_HANDLER_PLUGIN",
	.abi = "handler",
	.magic = WEIR_HANDLER_MAGIC,
	.abi_version = WEIR_HANDLER_ABI_VERSION,
};
static_assert(
	offsetof(struct weir_handler_plugin, magic) == offsetof(struct object_header, magic) &&
		offsetof(struct weir_handler_plugin, abi_version) ==
			offsetof(struct object_header, abi_version),
	"both are read before the version is known");

int
plugin_words_find(struct plugin_words *words, const char *text, char *reason, size_t n_bytes)
{
	const size_t length = text ? strcspn(text, ":") : 0;
	char *file;
	int rc;

	if (length == 0)
		return reason_set(reason, n_bytes, EINVAL, "names no file");
	file = strndup(text, length);
	if (!file)
		return reason_set(reason, n_bytes, ENOMEM, "no memory");
	words->arguments = text[length] == ':' ? text + length + 1 : NULL;
	rc = code_file_find(file, &words->path, reason, n_bytes);
	free(file);
	return rc;
}

static int
members_check(const struct weir_handler *handler, char *reason, size_t n_bytes)
{
	int rc = words_check(handler->name, handler->help, reason, n_bytes);

	if (rc < 0)
		return rc;
	if (handler->flags & ~(uint32_t)FLAGS_KNOWN)
		return reason_set(reason, n_bytes, EINVAL, "its flags have unknown bits: 0x%x",
			handler->flags & ~(uint32_t)FLAGS_KNOWN);
	if (!handler->process)
		return reason_set(reason, n_bytes, EINVAL, "has no process");
	if (!handler->open && (handler->begin || handler->close))
		return reason_set(reason, n_bytes, EINVAL, "has %s without open",
			handler->begin ? "begin" : "close");
	return 0;
}

static int
header_check(const struct weir_handler_plugin *plugin, char *reason, size_t n_bytes)
{
	const struct object_size sizes[] = {
		{ "weir_packet", plugin->packet_bytes, sizeof(struct weir_packet) },
		{ "weir_verdict", plugin->verdict_bytes, sizeof(struct weir_verdict) },
		{ "weir_handler_setup", plugin->setup_bytes, sizeof(struct weir_handler_setup) },
		{ "weir_handler", plugin->handler_bytes, sizeof(struct weir_handler) },
	};
	int rc = object_check_sizes(sizes, sizeof(sizes) / sizeof(sizes[0]), reason, n_bytes);

	if (rc < 0)
		return rc;
	if (!plugin->handler)
		return reason_set(reason, n_bytes, EINVAL, "exports no handler");
	return members_check(plugin->handler, reason, n_bytes);
}

int
plugin_file_open(struct plugin_file *file, const char *path, char *reason, size_t n_bytes)
{
	const struct weir_handler_plugin *plugin;
	const void *header;
	int rc = object_open(&handler_kind, path, &file->object, &header, reason, n_bytes);

	if (rc == 0) {
		plugin = header;
		file->handler = plugin->handler;
		rc = header_check(plugin, reason, n_bytes);
	}
	if (rc < 0)
		plugin_file_close(file);
	return rc;
}

void
plugin_file_close(struct plugin_file *file)
{
	object_close(file->object);
	*file = (struct plugin_file) { 0 };
}
