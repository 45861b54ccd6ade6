/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order matters: capabilities are needed to leave the bounding set and the groups, and go with
 * the user; a change of the user clears what the kernel was told about our parent; the filter comes
 * last, since it lets none of this pass.
 */
#include "sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"

/* More than a handler's files; poll(2) refuses longer lists than this. */
#define OPEN_FILES_MAX 16

/* Capabilities that a kernel can know: their sets have 64 bits. */
#define CAPABILITIES_MAX 64

void
sandbox_close_files(int fd)
{
	if (fd > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned int)fd - 1, 0);
	close_range(fd > STDERR_FILENO ? (unsigned int)fd + 1 : STDERR_FILENO + 1, ~0U, 0);
}

/* Without CAP_SETPCAP the set stays as it is: no_new_privs makes it worthless. */
static int
bounds_drop(const struct sandbox *sandbox)
{
	(void)sandbox;
	for (int i = 0; i < CAPABILITIES_MAX; i++) {
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0)
			continue;
		return errno == EINVAL || errno == EPERM ? 0 : -errno;
	}
	return 0;
}

static int
user_change(const struct sandbox *sandbox)
{
	if (!sandbox->changes_user)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(sandbox->gid, sandbox->gid, sandbox->gid) < 0 ||
		setresuid(sandbox->uid, sandbox->uid, sandbox->uid) < 0)
		return -errno;
	return 0;
}

static int
capabilities_drop(const struct sandbox *sandbox)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	(void)sandbox;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
		syscall(SYS_capset, &header, none) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* Nobody of our user reads our memory, traces us, or makes us write packets to a core file. */
static int
memory_close(const struct sandbox *sandbox)
{
	(void)sandbox;
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

static int
limits_set(const struct sandbox *sandbox)
{
	const struct rlimit none = { 0, 0 };
	const struct rlimit few = { OPEN_FILES_MAX, OPEN_FILES_MAX };

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
	/* Whoever leaves system calls unfiltered does it for what these would forbid. */
	if (!sandbox->filters_calls)
		return 0;
	if (setrlimit(RLIMIT_NPROC, &none) < 0 || setrlimit(RLIMIT_NOFILE, &few) < 0)
		return -errno;
	return 0;
}

static int
death_follow(const struct sandbox *sandbox)
{
	if (!sandbox->dies_with_parent)
		return 0;
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

static int
calls_filter(const struct sandbox *sandbox)
{
	return sandbox->filters_calls ? call_filter_load() : 0;
}

static const struct {
	const char *name;
	int (*take)(const struct sandbox *sandbox);
} steps[] = {
	{ "the bounding set of capabilities", bounds_drop },
	{ "its user and groups", user_change },
	{ "its capabilities", capabilities_drop },
	{ "the sight of its memory", memory_close },
	{ "its limits", limits_set },
	{ "the end with its parent", death_follow },
	{ "the filter of system calls", calls_filter },
};

int
sandbox_enter(const struct sandbox *sandbox, char *reason, size_t reason_bytes)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		const int rc = steps[i].take(sandbox);

		if (rc == 0)
			continue;
		snprintf(reason, reason_bytes, "%s: %s", steps[i].name, strerror(-rc));
		return rc;
	}
	return 0;
}
