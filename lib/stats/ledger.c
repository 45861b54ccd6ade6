/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger's arithmetic. Knows no dispatcher: whoever owns counters fills the terms. */
#include <weir/stats.h>

uint64_t
weir_ledger_dropped(const struct weir_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		sum += ledger->dropped[i];
	return sum;
}

int64_t
weir_ledger_gap(const struct weir_ledger *ledger)
{
	const uint64_t in = ledger->received + ledger->copies;
	const uint64_t out =
		ledger->completed + weir_ledger_dropped(ledger) + ledger->held + ledger->in_lanes;

	return (int64_t)(in - out);
}
