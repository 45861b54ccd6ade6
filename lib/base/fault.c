/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault points, where they are built in. */
#include "fault.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const step_names[] = {
	[FAULT_ATTACH] = "attach",
	[FAULT_TAKE] = "take",
	[FAULT_HANDLER] = "handler",
	[FAULT_VERDICTS] = "verdicts",
	[FAULT_COMPLETE] = "complete",
};

struct fault_plan
fault_plan_read(void)
{
	const char *wanted = getenv("WEIR_FAULT");
	const char *colon = wanted ? strchr(wanted, ':') : NULL;

	for (uint32_t step = FAULT_ATTACH; colon && step <= FAULT_COMPLETE; step++) {
		const size_t length = strlen(step_names[step]);

		if ((size_t)(colon - wanted) == length &&
			strncmp(wanted, step_names[step], length) == 0)
			return (struct fault_plan) { .step = step,
				.left = (uint32_t)strtoul(colon + 1, NULL, 10) };
	}
	return (struct fault_plan) { 0 };
}

void
fault_reached(struct fault_plan *plan, enum fault_step step)
{
	if (plan->step != step)
		return;
	if (plan->left == 0)
		kill(getpid(), SIGKILL);
	plan->left--;
}
