/* SPDX-License-Identifier: BSD-3-Clause */
/* The restart budget: a ring of the last restarts, so that the window slides exactly. */
#include <assert.h>

#include <weir/health.h>

struct weir_restart_budget
weir_restart_budget_make(uint32_t n, uint64_t window_ns)
{
	assert(n <= WEIR_RESTARTS_MAX);
	return (struct weir_restart_budget) { .n = n, .window_ns = window_ns };
}

static bool
restart_counts(const struct weir_restart_budget *budget, uint32_t index, uint64_t now_ns)
{
	const uint64_t at_ns = budget->at_ns[(budget->oldest + index) % budget->n];

	return now_ns - at_ns <= budget->window_ns;
}

uint32_t
weir_restart_budget_used(const struct weir_restart_budget *budget, uint64_t now_ns)
{
	uint32_t expired = 0;

	while (expired < budget->n_kept && !restart_counts(budget, expired, now_ns))
		expired++;
	return budget->n_kept - expired;
}

bool
weir_restart_budget_take(struct weir_restart_budget *budget, uint64_t now_ns)
{
	const uint32_t used = weir_restart_budget_used(budget, now_ns);

	if (used >= budget->n)
		return false;
	budget->oldest = (budget->oldest + budget->n_kept - used) % budget->n;
	budget->at_ns[(budget->oldest + used) % budget->n] = now_ns;
	budget->n_kept = used + 1;
	return true;
}
