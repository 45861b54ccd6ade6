/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: a policy is one row here. */
#include "registry.h"

#include <errno.h>
#include <string.h>

static const struct weir_overflow_policy *const policies[] = {
	&overflow_drop_new, /* the default comes first */
	&overflow_drop_head,
	&overflow_reject,
};

#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

const struct weir_overflow_policy *
weir_overflow_at(unsigned int index)
{
	return index < N_POLICIES ? policies[index] : NULL;
}

const struct weir_overflow_policy *
weir_overflow_find(const char *name)
{
	for (unsigned int i = 0; i < N_POLICIES; i++) {
		if (strcmp(policies[i]->name, name) == 0)
			return policies[i];
	}
	errno = EINVAL;
	return NULL;
}
