/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report's file: whole or not there at all, never instead of a device or a link, and refused
 * before the run where it cannot be written after it.
 */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "outputs.h"
#include "report_fixture.h"

#define NOBODY 65534

static void
file_fill(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void
assert_file_is(const char *path, const char *text)
{
	char content[64] = { 0 };
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(content, 1, sizeof(content) - 1, file), strlen(text));
	fclose(file);
	assert_string_equal(content, text);
}

static void
assert_file_is_a_report(const char *path)
{
	json_t *report = json_load_file(path, 0, NULL);

	assert_non_null(report);
	assert_int_equal(json_integer_value(json_object_get(report, "completed")), 5000);
	json_decref(report);
}

/* Who reads the old report while it is replaced reads all of it. */
static void
old_report_is_replaced_and_not_overwritten(void **state)
{
	struct report_fixture *f = *state;
	char content[4] = { 0 };
	int fd;

	file_fill(f->path, "old");
	fd = open(f->path, O_RDONLY);
	assert_int_equal(report_write(f->path, &f->app, f->status), 0);
	assert_int_equal(read(fd, content, sizeof(content)), 3);
	assert_string_equal(content, "old");
	close(fd);
	assert_file_is_a_report(f->path);
}

static void
report_can_be_named_without_a_folder(void **state)
{
	struct report_fixture *f = *state;
	const int here = open(".", O_RDONLY | O_DIRECTORY);

	assert_true(here >= 0);
	assert_int_equal(chdir(f->folder), 0);
	assert_int_equal(report_probe("r.json"), 0);
	assert_int_equal(report_write("r.json", &f->app, f->status), 0);
	assert_int_equal(fchdir(here), 0);
	close(here);
	assert_file_is_a_report(f->path);
}

static void
report_has_the_mode_that_the_umask_allows(void **state)
{
	static const mode_t masks[] = { 0022, 0027, 0077, 0 };
	struct report_fixture *f = *state;
	struct stat status;

	for (size_t i = 0; i < ARRAY_LENGTH(masks); i++) {
		const mode_t before = umask(masks[i]);

		assert_int_equal(report_write(f->path, &f->app, f->status), 0);
		assert_int_equal(umask(before), masks[i]);
		assert_int_equal(stat(f->path, &status), 0);
		assert_int_equal(status.st_mode & 07777, 0644 & ~masks[i]);
	}
}

/* The fixture's end finds a temporary file that was left behind. */
static void
report_that_does_not_fit_leaves_the_old_one(void **state)
{
	struct report_fixture *f = *state;
	struct rlimit before;
	struct rlimit tight;

	file_fill(f->path, "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = 1000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	assert_int_equal(report_write(f->path, &f->app, f->status), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_file_is(f->path, "old");
}

static void
full_device_is_told(void **state)
{
	struct report_fixture *f = *state;

	assert_int_equal(report_probe("/dev/full"), 0);
	assert_int_equal(report_write("/dev/full", &f->app, f->status), -ENOSPC);
}

static void
device_stays_a_device(void **state)
{
	struct report_fixture *f = *state;
	struct stat status;

	assert_int_equal(report_probe("/dev/null"), 0);
	assert_int_equal(report_write("/dev/null", &f->app, f->status), 0);
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

static void
link_stays_a_link_and_its_file_gets_the_report(void **state)
{
	struct report_fixture *f = *state;
	char link[256];
	struct stat status;

	snprintf(link, sizeof(link), "%s/link", f->folder);
	file_fill(f->path, "old");
	assert_int_equal(symlink("r.json", link), 0);
	assert_int_equal(report_probe(link), 0);
	assert_file_is(f->path, "old");
	/* Longer than the report: nothing of it may be left behind. */
	assert_int_equal(truncate(f->path, 100000), 0);
	assert_int_equal(report_write(link, &f->app, f->status), 0);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	unlink(link);
	assert_file_is_a_report(f->path);
}

static void
pipe_gets_the_report(void **state)
{
	struct report_fixture *f = *state;
	char text[16384];
	json_t *report;
	ssize_t n;
	int fd;

	assert_int_equal(mkfifo(f->path, 0600), 0);
	fd = open(f->path, O_RDWR | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(report_probe(f->path), 0);
	assert_int_equal(report_write(f->path, &f->app, f->status), 0);
	n = read(fd, text, sizeof(text));
	close(fd);
	assert_true(n > 0);
	report = json_loadb(text, (size_t)n, 0, NULL);
	assert_non_null(report);
	json_decref(report);
}

/* What a child prints around its report, with stdout redirected to a file as by a shell. */
static void
redirected_stdout_keeps_what_is_around_the_report(void **state)
{
	struct report_fixture *f = *state;
	const pid_t child = fork();
	char text[16384];
	int status = 0;
	FILE *file;
	size_t n;

	assert_true(child >= 0);
	if (child == 0) {
		if (!freopen(f->path, "w", stdout))
			_exit(1);
		printf("table\n");
		status = report_probe("/proc/self/fd/1") |
			 report_write("/proc/self/fd/1", &f->app, f->status);
		printf("end\n");
		fflush(stdout);
		_exit(status != 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	file = fopen(f->path, "r");
	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	assert_memory_equal(text, "table\n{\n", 8);
	assert_string_equal(text + n - 7, "\n}\nend\n");
}

static void
probe_changes_nothing(void **state)
{
	struct report_fixture *f = *state;

	assert_int_equal(report_probe(f->path), 0);
	assert_int_equal(access(f->path, F_OK), -1);
	file_fill(f->path, "old");
	assert_int_equal(report_probe(f->path), 0);
	assert_file_is(f->path, "old");
}

static void
assert_refused(const struct report_fixture *f, const char *name, int result)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", f->folder, name);
	assert_int_equal(report_probe(path), result);
	assert_int_equal(report_write(path, &f->app, f->status), result);
}

static void
what_cannot_be_a_report_is_refused(void **state)
{
	struct report_fixture *f = *state;
	char name[PATH_MAX];

	assert_refused(f, "", -EISDIR);
	assert_refused(f, "/", -EISDIR);
	assert_refused(f, "/absent/r.json", -ENOENT);
	assert_refused(f, "/absent/", -ENOENT);
	file_fill(f->path, "old");
	assert_refused(f, "/r.json/", -ENOTDIR);
	assert_refused(f, "/r.json/r.json", -ENOTDIR);
	unlink(f->path);
	assert_int_equal(symlink("absent", f->path), 0);
	assert_refused(f, "/r.json", -ENOENT);
	memset(name, 'x', sizeof(name));
	name[0] = '/';
	name[300] = '\0';
	assert_refused(f, name, -ENAMETOOLONG);
	assert_int_equal(report_probe(""), -ENOENT);
	assert_int_equal(report_write("", &f->app, f->status), -ENOENT);
	/* Root may write there, by its permissions; no file can be made all the same. */
	assert_true(report_probe("/proc/r.json") < 0);
}

/* Root may write anywhere: as root, this runs as nobody. */
static void
what_is_not_ours_to_write_is_refused(void **state)
{
	struct report_fixture *f = *state;
	const bool is_root = geteuid() == 0;

	file_fill(f->path, "old");
	assert_int_equal(chmod(f->path, 0444), 0);
	assert_int_equal(chmod(f->folder, 0555), 0);
	if (is_root)
		assert_int_equal(seteuid(NOBODY), 0);
	assert_refused(f, "/r.json", -EACCES);
	assert_refused(f, "/new.json", -EACCES);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	/* A folder that is ours does not make its files so. */
	assert_int_equal(chmod(f->folder, 0777), 0);
	if (is_root)
		assert_int_equal(seteuid(NOBODY), 0);
	assert_refused(f, "/r.json", -EACCES);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_file_is(f->path, "old");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		REPORT_FIXTURE_TEST(old_report_is_replaced_and_not_overwritten),
		REPORT_FIXTURE_TEST(report_can_be_named_without_a_folder),
		REPORT_FIXTURE_TEST(report_has_the_mode_that_the_umask_allows),
		REPORT_FIXTURE_TEST(report_that_does_not_fit_leaves_the_old_one),
		REPORT_FIXTURE_TEST(full_device_is_told),
		REPORT_FIXTURE_TEST(device_stays_a_device),
		REPORT_FIXTURE_TEST(link_stays_a_link_and_its_file_gets_the_report),
		REPORT_FIXTURE_TEST(pipe_gets_the_report),
		REPORT_FIXTURE_TEST(redirected_stdout_keeps_what_is_around_the_report),
		REPORT_FIXTURE_TEST(probe_changes_nothing),
		REPORT_FIXTURE_TEST(what_cannot_be_a_report_is_refused),
		REPORT_FIXTURE_TEST(what_is_not_ours_to_write_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
