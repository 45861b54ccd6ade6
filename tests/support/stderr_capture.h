/* SPDX-License-Identifier: BSD-3-Clause */
/* Catches what is printed on stderr, for tests of refusals. */
#ifndef WEIR_TESTS_STDERR_CAPTURE_H
#define WEIR_TESTS_STDERR_CAPTURE_H

#include <stddef.h>
#include <stdio.h>

struct stderr_capture {
	FILE *file;
	int stderr_fd; /* where stderr went before */
};

void stderr_capture_start(struct stderr_capture *capture);

/* Gives stderr back and copies what was printed meanwhile, cut to `n_bytes` and terminated. */
void stderr_capture_end(struct stderr_capture *capture, char *text, size_t n_bytes);

#endif
