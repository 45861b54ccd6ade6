/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared objects that export one header: opened, and the header compared with what this Weir was
 * built with. Knows no particular header.
 */
#ifndef WEIR_PLUGIN_OBJECT_H
#define WEIR_PLUGIN_OBJECT_H

#include <stddef.h>
#include <stdint.h>

/* What one kind of plugin exports. */
struct object_kind {
	const char *symbol; /* the name of its header */
	const char *macro;  /* that makes the header */
	const char *abi;    /* "strategy": whose version it is */
	uint64_t magic;
	uint32_t abi_version;
};

/* With this every header begins, in every version. */
struct object_header {
	uint64_t magic;
	uint32_t abi_version;
};

/* A struct that both sides have in their headers: its size must be the same on both. */
struct object_size {
	const char *what;
	uint32_t theirs;
	size_t ours;
};

/*
 * Opens a shared object and finds its header, which is of this kind and version. Returns 0, or
 * -ENOEXEC with a line in `reason`. In both cases `handle` is to be closed, if it is not NULL.
 */
int object_open(const struct object_kind *kind, const char *path, void **handle,
	const void **header, char *reason, size_t n_bytes);

/* Accepts NULL. */
void object_close(void *handle);

/* Returns 0, or -ENOEXEC with a line that has both sizes of the first struct that differs. */
int object_check_sizes(const struct object_size *sizes, size_t n, char *reason, size_t n_bytes);

#endif
