/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * burn: holds the CPU for so many TSC cycles per packet, then forwards. Cycles that the kernel
 * gives to another thread meanwhile count as well: the TSC does not stop.
 */
#include "cycles.h"
#include "work.h"

static void
cycles_spin(uint64_t cycles)
{
	const uint64_t start = cycles_now();

	while (cycles_now() - start < cycles)
		;
}

static void
burn_process(
	void *state, const struct weir_packet *packets, uint32_t n, struct weir_verdict *verdicts)
{
	struct work *work = state;

	for (uint32_t i = 0; i < n; i++) {
		cycles_spin(work_draw(work));
		verdicts[i] = pairing_verdict(&work->pairing, &packets[i]);
	}
}

const struct handler handler_burn = {
	.name = "burn",
	.usage = "burn:LAW",
	.help = "spins LAW cycles per packet, then forwards; LAW is " LAW_GRAMMAR,
	.restartable = true,
	.open = work_open,
	.process = burn_process,
	.close = work_close,
};
