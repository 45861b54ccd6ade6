/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_user.h"

#include <pwd.h>
#include <stddef.h>
#include <unistd.h>

#include "options.h"

/* Of a weir that is root: in every Debian, and the owner of nothing. */
#define USER_DEFAULT "nobody"

int
worker_user_find(struct worker_user *user, const struct options *options)
{
	const char *name = options->worker_user;
	const struct passwd *entry;

	*user = (struct worker_user) { .uid = geteuid(), .gid = getegid() };
	if (options->worker_mode == WORKER_MODE_THREAD)
		return name ? options_refuse("--worker-user", name,
				      "only with --worker-mode process or attached")
			    : 0;
	if (!name && user->uid != 0)
		return 0;
	if (!name)
		name = USER_DEFAULT;
	entry = getpwnam(name);
	if (!entry || entry->pw_uid == 0)
		return options_refuse("--worker-user", name, "a user that exists, and not root");
	if (user->uid != 0 && entry->pw_uid != user->uid)
		return options_refuse("--worker-user", name,
			"with root only, or the user that runs weir: workers run as that one");
	*user = (struct worker_user) {
		.is_other = user->uid == 0,
		.uid = entry->pw_uid,
		.gid = entry->pw_gid,
	};
	return 0;
}
