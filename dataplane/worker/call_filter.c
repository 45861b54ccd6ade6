/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allow-list: the worker's own loop, the handlers of Weir, and what a C library does by itself
 * (memory, locks, clocks, the way out). A handler keeps the files that it has opened before. No
 * call that opens, connects, starts, traces or maps a file is here, nor one that makes code.
 */
#include "call_filter.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whatever their arguments. */
static const int calls_allowed[] = {
	/* The way out. */
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	/* Waiting. */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(futex),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(nanosleep),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(sched_yield),
	/* Files that are open. */
	SCMP_SYS(close),
	SCMP_SYS(fdatasync),
	SCMP_SYS(fsync),
	SCMP_SYS(ftruncate),
	SCMP_SYS(lseek),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(recvfrom),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	/* Memory that there is. */
	SCMP_SYS(brk),
	SCMP_SYS(munmap),
	/* Who and where. */
	SCMP_SYS(getcpu),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(gettid),
	SCMP_SYS(sched_getaffinity),
};

/* Advice that changes nothing for others: MADV_REMOVE would punch holes into what is shared. */
static const int advice_allowed[] = {
	MADV_NORMAL,
	MADV_WILLNEED,
	MADV_DONTNEED,
	MADV_FREE,
	MADV_HUGEPAGE,
	MADV_NOHUGEPAGE,
};

/* Memory of its own, and none that code could be put into. Returns 0 or -errno. */
static int
memory_allow(scmp_filter_ctx filter)
{
	int rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2,
		SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
		SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));

	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mremap), 0);
	for (size_t i = 0; rc == 0 && i < sizeof(advice_allowed) / sizeof(advice_allowed[0]); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
			SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)advice_allowed[i], 0));
	return rc;
}

static int
rules_add(scmp_filter_ctx filter)
{
	int rc = memory_allow(filter);

	/* abort(3) sends itself a signal. Nobody else gets one. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
			SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
	for (size_t i = 0; rc == 0 && i < sizeof(calls_allowed) / sizeof(calls_allowed[0]); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls_allowed[i], 0);
	return rc;
}

int
call_filter_load(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc;

	if (!filter)
		return -ENOMEM;
	rc = rules_add(filter);
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}
