/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom worker processes run as: --worker-user. Knows no process. */
#ifndef WEIR_DATAPLANE_WORKER_USER_H
#define WEIR_DATAPLANE_WORKER_USER_H

#include <stdbool.h>
#include <sys/types.h>

struct options;

struct worker_user {
	bool is_other; /* than this process's: workers must change to it */
	uid_t uid;
	gid_t gid;
};

/*
 * Finds the user. Returns 0, or -EINVAL after a refusal: there is no such user, it is root, or only
 * root could give workers to it.
 */
int worker_user_find(struct worker_user *user, const struct options *options);

#endif
