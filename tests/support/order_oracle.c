/* SPDX-License-Identifier: BSD-3-Clause */
#include "order_oracle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int
order_oracle_init(struct order_oracle *oracle)
{
	*oracle = (struct order_oracle) {
		.newest = calloc(ORDER_KEYS, sizeof(*oracle->newest)),
		.last_worker = calloc(ORDER_KEYS, sizeof(*oracle->last_worker)),
	};
	if (oracle->newest && oracle->last_worker)
		return 0;
	order_oracle_fini(oracle);
	return -ENOMEM;
}

void
order_oracle_fini(struct order_oracle *oracle)
{
	free(oracle->newest);
	free(oracle->last_worker);
	*oracle = (struct order_oracle) { 0 };
}

static void
inversion_note(struct order_oracle *oracle, uint16_t key, const struct order_end *late)
{
	if (oracle->n_inversions++ > 0)
		return;
	oracle->key = key;
	oracle->late = *late;
	oracle->before = oracle->newest[key];
}

void
order_oracle_end(struct order_oracle *oracle, uint16_t key, uint64_t number, uint16_t worker)
{
	const struct order_end end = { .number = number, .worker = worker };
	struct order_end *newest = &oracle->newest[key];

	oracle->n_ended++;
	oracle->n_moves += newest->number > 0 && oracle->last_worker[key] != worker;
	oracle->last_worker[key] = worker;
	if (number <= newest->number)
		inversion_note(oracle, key, &end);
	else
		*newest = end;
}

void
order_oracle_say(const struct order_oracle *oracle, char *words, size_t size)
{
	const int n = snprintf(words, size, "%" PRIu64 " inversions in %" PRIu64 " packets",
		oracle->n_inversions, oracle->n_ended);

	if (oracle->n_inversions == 0 || n < 0 || (size_t)n >= size)
		return;
	snprintf(words + n, size - (size_t)n,
		"; the first, in bucket %u: packet %" PRIu64
		" came back from worker %u after packet "
		"%" PRIu64 " from worker %u",
		oracle->key, oracle->late.number, oracle->late.worker, oracle->before.number,
		oracle->before.worker);
}
