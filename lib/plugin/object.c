/* SPDX-License-Identifier: BSD-3-Clause */
#include "object.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>

#include "child.h"

static int
header_check(const struct object_kind *kind, const struct object_header *header, char *reason,
	size_t n_bytes)
{
	if (header->magic != kind->magic)
		return reason_set(reason, n_bytes, ENOEXEC, "its symbol %s is not made by %s",
			kind->symbol, kind->macro);
	if (header->abi_version != kind->abi_version)
		return reason_set(reason, n_bytes, ENOEXEC,
			"is built for version %" PRIu32 " of the %s ABI, this weir has %" PRIu32,
			header->abi_version, kind->abi, kind->abi_version);
	return 0;
}

int
object_open(const struct object_kind *kind, const char *path, void **handle, const void **header,
	char *reason, size_t n_bytes)
{
	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*handle)
		return reason_set(reason, n_bytes, ENOEXEC, "%s", dlerror());
	*header = dlsym(*handle, kind->symbol);
	if (!*header)
		return reason_set(reason, n_bytes, ENOEXEC, "exports no %s: %s makes it",
			kind->symbol, kind->macro);
	return header_check(kind, *header, reason, n_bytes);
}

void
object_close(void *handle)
{
	if (handle)
		dlclose(handle);
}

int
object_check_sizes(const struct object_size *sizes, size_t n, char *reason, size_t n_bytes)
{
	for (size_t i = 0; i < n; i++) {
		if (sizes[i].theirs != sizes[i].ours)
			return reason_set(reason, n_bytes, ENOEXEC,
				"its struct %s has %" PRIu32
				" bytes, this weir's %zu: build it again",
				sizes[i].what, sizes[i].theirs, sizes[i].ours);
	}
	return 0;
}
