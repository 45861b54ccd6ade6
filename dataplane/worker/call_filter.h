/* SPDX-License-Identifier: BSD-3-Clause */
/* The system calls that a worker process may make. */
#ifndef WEIR_DATAPLANE_WORKER_CALL_FILTER_H
#define WEIR_DATAPLANE_WORKER_CALL_FILTER_H

/*
 * Loads the filter, for good: what is not on its list fails with EPERM. Needs no_new_privs.
 * Returns 0 or -errno.
 */
int call_filter_load(void);

#endif
