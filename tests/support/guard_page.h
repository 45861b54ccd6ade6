/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer that ends where an unreadable page begins: one byte read past the end of a packet is a
 * crash in every build, with or without a sanitizer.
 */
#ifndef WEIR_TESTS_GUARD_PAGE_H
#define WEIR_TESTS_GUARD_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct guard_page {
	uint8_t *memory;
	uint8_t *end; /* first byte that cannot be read */
	size_t bytes; /* that can */
};

/* Maps at least `bytes` in front of the unreadable page; the test fails if it cannot. */
void guard_page_create(struct guard_page *guard, size_t bytes);

void guard_page_destroy(struct guard_page *guard);

/* Copies `length` bytes so that the copy ends at the unreadable page; returns the copy. */
const uint8_t *guard_page_copy(struct guard_page *guard, const uint8_t *data, size_t length);

#endif
