/* SPDX-License-Identifier: BSD-3-Clause */
/* Entropy and the largest share of bucket use over a window. Control's arithmetic. */
#include <weir/polarisation.h>

#include <math.h>

/* Entropy by Shannon, "A mathematical theory of communication" (1948): -sum p log2 p. */
static double
entropy_term(uint64_t part, uint64_t whole)
{
	const double p = (double)part / (double)whole;

	return part > 0 ? -p * log2(p) : 0;
}

/* Notes the window's total and its most used group; returns that group's packets. */
static uint64_t
window_sum(struct weir_polarisation *window, const struct weir_bucket_use *before,
	const struct weir_bucket_use *now)
{
	uint64_t top = 0;

	for (uint32_t i = 0; i < WEIR_BUCKET_GROUPS; i++) {
		const uint64_t packets = now->all[i] - before->all[i];

		window->packets += packets;
		if (packets <= top)
			continue;
		top = packets;
		window->top_group = i;
	}
	return top;
}

struct weir_polarisation
weir_polarisation_judge(
	const struct weir_bucket_use *before, const struct weir_bucket_use *now, uint32_t n_workers)
{
	struct weir_polarisation window = { 0 };
	const uint64_t top = window_sum(&window, before, now);
	const uint64_t fallback =
		now->fallback[window.top_group] - before->fallback[window.top_group];

	if (window.packets == 0)
		return window;
	for (uint32_t i = 0; i < WEIR_BUCKET_GROUPS; i++)
		window.entropy_bits += entropy_term(now->all[i] - before->all[i], window.packets);
	window.top_share = (double)top / (double)window.packets;
	window.alarm = n_workers > 1 && window.packets >= WEIR_POLARISATION_PKTS_MIN &&
		       top * n_workers > window.packets && fallback * 2 >= top;
	return window;
}
