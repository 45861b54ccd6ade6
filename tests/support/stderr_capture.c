/* SPDX-License-Identifier: BSD-3-Clause */
/* By file descriptor, so that what a library prints is caught as well. */
#include <unistd.h>

#include "test.h"

#include "stderr_capture.h"

void
stderr_capture_start(struct stderr_capture *capture)
{
	fflush(stderr);
	capture->file = tmpfile();
	assert_non_null(capture->file);
	capture->stderr_fd = dup(STDERR_FILENO);
	assert_true(capture->stderr_fd >= 0);
	assert_true(dup2(fileno(capture->file), STDERR_FILENO) >= 0);
}

void
stderr_capture_end(struct stderr_capture *capture, char *text, size_t n_bytes)
{
	size_t length;

	fflush(stderr);
	assert_true(dup2(capture->stderr_fd, STDERR_FILENO) >= 0);
	close(capture->stderr_fd);
	rewind(capture->file);
	length = fread(text, 1, n_bytes - 1, capture->file);
	text[length] = '\0';
	fclose(capture->file);
}
