/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer that ends where an unreadable page begins. */
#include "guard_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

void
guard_page_create(struct guard_page *guard, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t usable = (bytes + page - 1) / page * page;

	guard->memory = mmap(
		NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(guard->memory, MAP_FAILED);
	guard->bytes = usable;
	guard->end = guard->memory + usable;
	assert_int_equal(mprotect(guard->end, page, PROT_NONE), 0);
}

void
guard_page_destroy(struct guard_page *guard)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	assert_int_equal(munmap(guard->memory, guard->bytes + page), 0);
}

const uint8_t *
guard_page_copy(struct guard_page *guard, const uint8_t *data, size_t length)
{
	assert_true(length <= guard->bytes);
	return memcpy(guard->end - length, data, length);
}
