/* SPDX-License-Identifier: BSD-3-Clause */
#include "config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ini.h>

#include "option_row.h"

#define FILE_BYTES_MAX (1u << 20)
#define SECTION_OPTIONS "weir"
#define SECTION_RULES "rules"
#define KEY_RULE "rule"

/* A file on its way through libinih, which asks for lines and answers with keys and values. */
struct config_parse {
	const char *path;
	const char *text; /* the whole file, NUL-terminated */
	const char *next; /* of `text`: the line that is read next */
	uint32_t line;	  /* number of the line that was read last */
	bool is_indented; /* that line */
	bool failed;	  /* after a refusal: nothing is taken any more */
	bool was_rule;	  /* the entry before */
	struct options *options;
	config_entry_fn take; /* NULL: to look for malformed lines only */
	void *context;
};

/* ---- the file ---- */

static int
file_refuse(const char *path, const char *why)
{
	return options_refuse("--config", path, "a file that can be read: %s", why);
}

/* Reads to the end, at most so many bytes. Returns how many they are, or -errno. */
static ssize_t
bytes_read(int fd, char *bytes, size_t n_max)
{
	size_t n = 0;

	while (n < n_max) {
		const ssize_t got = read(fd, bytes + n, n_max - n);

		if (got == 0)
			break;
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)n;
}

/*
 * Opens a file. A pipe is waited for; what calls itself a regular file is not: a leased one, or one
 * of the kernel's that has no end (/proc/kmsg), would keep control for as long as it likes.
 */
static int
file_open(const char *path)
{
	struct stat found;
	const bool is_regular = stat(path, &found) == 0 && S_ISREG(found.st_mode);

	return open(path, O_RDONLY | O_CLOEXEC | (is_regular ? O_NONBLOCK : 0));
}

/* The text of a file, whatever it is: a pipe can be read once only. NULL after a refusal. */
static char *
file_text(const char *path)
{
	const int fd = file_open(path);
	char *text = malloc(FILE_BYTES_MAX + 1);
	ssize_t n;

	if (fd < 0 || !text) {
		file_refuse(path, strerror(errno));
		free(text);
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	n = bytes_read(fd, text, FILE_BYTES_MAX);
	close(fd);
	if (n >= 0 && n < FILE_BYTES_MAX && !memchr(text, '\0', (size_t)n)) {
		text[n] = '\0';
		return text;
	}
	file_refuse(path, n < 0		       ? strerror((int)-n)
			  : n < FILE_BYTES_MAX ? "it has a zero byte, so it is no text"
					       : "it is longer than 1 MiB");
	free(text);
	return NULL;
}

/* ---- lines: what libinih asks for ---- */

/*
 * The next line, as fgets would; NULL at the end, and once anything was refused. libinih cuts a
 * line that is longer than its room: here it is refused.
 */
static char *
line_read(char *line, int n_bytes, void *context)
{
	struct config_parse *parse = context;
	const size_t length = strcspn(parse->next, "\n");

	if (parse->failed || !*parse->next)
		return NULL;
	parse->line++;
	if (length + 2 > (size_t)n_bytes) {
		options_refuse_line("%s:%u: allowed at most %d bytes a line; a rule may go on in "
				    "the next, indented",
			parse->path, parse->line, n_bytes - 2);
		parse->failed = true;
		return NULL;
	}
	memcpy(line, parse->next, length);
	line[length] = '\n';
	line[length + 1] = '\0';
	parse->is_indented = line[0] == ' ' || line[0] == '\t';
	parse->next += length + (parse->next[length] == '\n');
	return line;
}

/* ---- entries: what libinih answers ---- */

static int
entry_refuse(struct config_parse *parse, const char *what, const char *allowed)
{
	options_refuse_line("%s:%u: %s: allowed %s", parse->path, parse->line, what, allowed);
	parse->failed = true;
	return 0;
}

/* Whether an indented line goes on with a rule: libinih takes it for more of any entry. */
static bool
entry_continues(const struct config_parse *parse, const char *key)
{
	return parse->is_indented && parse->was_rule && strcmp(key, KEY_RULE) == 0;
}

/* libinih's handler: not 0 means well. */
static int
entry_take(void *context, const char *section, const char *key, const char *value)
{
	struct config_parse *parse = context;
	struct config_entry entry = { .path = parse->path, .line = parse->line };

	if (!parse->take)
		return 1;
	if (parse->failed)
		return 0;
	entry.in_rules = strcmp(section, SECTION_RULES) == 0;
	if (!entry.in_rules && strcmp(section, SECTION_OPTIONS) != 0)
		return entry_refuse(parse, *section ? section : key,
			*section ? "sections [weir] and [rules]"
				 : "keys in [weir] and [rules] only");
	if (entry.in_rules && strcmp(key, KEY_RULE) != 0)
		return entry_refuse(parse, key, "only the key rule in [rules]");
	entry.continues = entry.in_rules && entry_continues(parse, key);
	if (parse->is_indented && !entry.continues)
		return entry_refuse(parse, value, "indented lines only to go on with a rule");
	parse->was_rule = entry.in_rules;
	entry.key = options_keep(parse->options, key);
	entry.value = options_keep(parse->options, value);
	if (entry.key && entry.value && parse->take(parse->context, &entry) == 0)
		return 1;
	parse->failed = true;
	return 0;
}

/* Goes through the text once. Returns 0 or -EINVAL after a refusal. */
static int
text_parse(struct config_parse *parse)
{
	int rc;

	parse->next = parse->text;
	parse->line = 0;
	parse->was_rule = false;
	rc = ini_parse_stream(line_read, parse, entry_take, parse);
	if (parse->failed)
		return -EINVAL;
	if (rc > 0)
		return options_refuse_line(
			"%s:%d: allowed [SECTION], KEY = VALUE and comments behind ; or #",
			parse->path, rc);
	return rc < 0 ? -ENOMEM : 0;
}

/* The text that is there already, or else that of the file; kept in the options. */
static const char *
text_keep(const char *path, struct options *options)
{
	char *text;

	if (options->config_text)
		return options->config_text;
	text = file_text(path);
	if (text)
		options->config_text = options_keep(options, text);
	free(text);
	return options->config_text;
}

int
config_file_read(const char *path, struct options *options, config_entry_fn take, void *context)
{
	struct config_parse parse = { .path = path, .options = options, .context = context };
	int rc;

	parse.text = text_keep(path, options);
	if (!parse.text)
		return -EINVAL;
	/* Twice: libinih goes on behind a malformed line and tells of the first at the end. */
	rc = text_parse(&parse);
	parse.take = take;
	if (rc == 0)
		rc = text_parse(&parse);
	return rc;
}
