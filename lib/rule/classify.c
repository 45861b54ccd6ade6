/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rule a packet matches: rule by rule over the burst, so that one program is run many times
 * in a row.
 */
#include <assert.h>
#include <stdbool.h>

#include "rule.h"

/* Runs one rule over the packets that are left. Returns how many are left after it. */
static uint32_t
rule_run(const struct bpf_insn *program, uint8_t class_id, void *const *data,
	struct weir_meta *meta, uint16_t *left, uint32_t n_left)
{
	uint32_t n_kept = 0;

	for (uint32_t k = 0; k < n_left; k++) {
		const uint16_t i = left[k];
		const bool matches =
			bpf_filter(program, data[i], meta[i].length, meta[i].segment_length) != 0;

		meta[i].class_id = matches ? class_id : 0;
		left[n_kept] = i;
		n_kept += !matches;
	}
	return n_kept;
}

void
weir_rules_classify(
	const struct weir_rules *rules, void *const *data, struct weir_meta *meta, uint32_t n)
{
	uint16_t left[WEIR_BURST_MAX];
	uint32_t n_left = n;

	assert(n <= WEIR_BURST_MAX);
	for (uint32_t i = 0; i < n; i++) {
		meta[i].class_id = 0;
		left[i] = (uint16_t)i;
	}
	for (uint32_t r = 0; n_left > 0 && r < rules->n; r++)
		n_left = rule_run(rules->rule[r].program.bf_insns, (uint8_t)(r + 1), data, meta,
			left, n_left);
}
