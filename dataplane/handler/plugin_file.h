/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared objects that export a handler: FILE.so[:ARGUMENTS] taken apart, the file opened, and what
 * it exports checked. Runs nothing of it but its constructors.
 */
#ifndef WEIR_DATAPLANE_HANDLER_PLUGIN_FILE_H
#define WEIR_DATAPLANE_HANDLER_PLUGIN_FILE_H

#include <stddef.h>

struct weir_handler;

/* FILE.so[:ARGUMENTS] as words. */
struct plugin_words {
	char *path;	       /* absolute, of a file that may be loaded. Owned */
	const char *arguments; /* behind the colon, in the text that was taken apart; or NULL */
};

/* An open file. */
struct plugin_file {
	void *object; /* owned */
	const struct weir_handler *handler;
};

/*
 * Takes apart what follows "plugin:", NULL if nothing does, and finds the file. Returns 0, with
 * `words->path` to be freed; or -EINVAL (no file is named), -EACCES or -ENOMEM with a line in
 * `reason`.
 */
int plugin_words_find(struct plugin_words *words, const char *text, char *reason, size_t n_bytes);

/*
 * Opens the file of words that were found, and checks its header and the handler's members.
 * Returns 0; or -ENOEXEC, or -EINVAL, with a line in `reason` and nothing open.
 */
int plugin_file_open(struct plugin_file *file, const char *path, char *reason, size_t n_bytes);

void plugin_file_close(struct plugin_file *file);

#endif
