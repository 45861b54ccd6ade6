/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "option_row.h"
#include "outputs.h"
#include "pool_options.h"
#include "rule_set.h"

/* What a change puts in place, and takes along when its time is over. */
struct generation {
	struct rule_set set;	/* the pool's tag: first */
	struct options options; /* whose texts lie in `words`, some of them */
	char **words;
};

/* What is asked for. */
struct request {
	enum setting setting;
	const char *value;
	bool is_trial;
	FILE *out; /* what it does */
};

static const char *const setting_options[SETTING_COUNT] = {
	[SETTING_STRATEGY] = "--strategy",
	[SETTING_OVERFLOW] = "--overflow",
	[SETTING_WEIGHTS] = "--weights",
	[SETTING_CONFIG] = "--config",
};

static void
words_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

/* Rules, and what they need, go once no rx core goes by them. */
static void
generation_release(void *tag)
{
	struct generation *generation = tag;

	options_free(&generation->options);
	words_free(generation->words);
	free(generation);
}

/* ---- the words ---- */

/* Whether the word is `option`, or `option`=VALUE; `takes` gets the words that it takes then. */
static bool
word_is(const char *word, const char *option, int *takes)
{
	const size_t length = strlen(option);

	if (strncmp(word, option, length) != 0 || (word[length] != '\0' && word[length] != '='))
		return false;
	*takes = word[length] == '=' ? 1 : 2;
	return true;
}

/* Whether what was set stands for the option that begins at words[i]. */
static bool
word_is_replaced(const struct settings *settings, const char *const *value, int i, int *takes)
{
	for (uint32_t s = 0; s < SETTING_COUNT; s++) {
		if (value[s] && word_is(settings->words[i], setting_options[s], takes))
			return true;
	}
	return false;
}

/*
 * The words with the values in the place of theirs, each "--option=value". Returns their number, or
 * -ENOMEM; words_free undoes it.
 */
static int
words_make(const struct settings *settings, const char *const *value, char ***words)
{
	char **made = calloc((size_t)settings->n_words + SETTING_COUNT + 1, sizeof(*made));
	int n = 0;

	if (!made)
		return -ENOMEM;
	*words = made;
	for (int i = 0, takes = 1; i < settings->n_words; i += takes) {
		takes = 1;
		if (word_is_replaced(settings, value, i, &takes))
			continue;
		made[n] = strdup(settings->words[i]);
		if (!made[n++])
			return -ENOMEM;
	}
	for (uint32_t s = 0; s < SETTING_COUNT; s++) {
		if (!value[s])
			continue;
		if (asprintf(&made[n], "%s=%s", setting_options[s], value[s]) < 0) {
			made[n] = NULL;
			return -ENOMEM;
		}
		n++;
	}
	return n;
}

/* ---- what is different ---- */

/* Whether a row of the table is one that may differ: a setting, or a rule of the file. */
static bool
row_is_changeable(const struct option_row *row)
{
	if (strcmp(row->name, "rule") == 0)
		return true;
	for (uint32_t s = 0; s < SETTING_COUNT; s++) {
		if (strcmp(row->name, setting_options[s] + strlen("--")) == 0)
			return true;
	}
	return false;
}

/* Refuses what a running Weir cannot change. Returns 0 or -EINVAL after a refusal. */
static int
fixed_check(const struct options *now, const struct options *next)
{
	const struct option_row *row;

	for (unsigned int i = 0; (row = option_row_at(i)); i++) {
		if (row_is_changeable(row) || !row->type->differs ||
			!row->type->differs(row, now, next))
			continue;
		return options_refuse_line(
			"--%s: allowed only as at the start: this takes a restart", row->name);
	}
	return 0;
}

static bool
copies(const struct strategies *strategies, const char *name)
{
	const struct weir_strategy *strategy = name ? strategies_find(strategies, name) : NULL;

	return strategy && (strategy->flags & WEIR_STRATEGY_ALL_TARGETS);
}

/* Whether packets can go to several workers by these options. */
static bool
options_copy(const struct options *options)
{
	const uint32_t n = options->rules ? weir_rules_count(options->rules) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (copies(&options->strategies, weir_rules_classes(options->rules)[i].strategy))
			return true;
	}
	return copies(&options->strategies, options->strategy);
}

/* What copies packets, and the buffers for it, was made ready at the start or is not there. */
static int
copies_check(const struct app *app, const struct options *next)
{
	if (!options_copy(next) || options_copy(&app->settings.first))
		return 0;
	return options_refuse_line("broadcast, shard-broadcast: allowed only where one of them was "
				   "there at the start: this takes a restart");
}

/* How many flow buckets have another owner. */
static uint32_t
owners_differ(const weir_worker_id *a, const weir_worker_id *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WEIR_BUCKETS; i++)
		n += a[i] != b[i];
	return n;
}

void
settings_print_moves(const struct app *app, const struct weir_prospect *prospect, FILE *out)
{
	static const struct weir_prospect now = { .added = WEIR_WORKER_NONE,
		.removed = WEIR_WORKER_NONE };
	weir_worker_id *owners = calloc(2 * WEIR_BUCKETS, sizeof(*owners));
	int rc_now, rc_then;

	if (!owners)
		return;
	rc_now = weir_pool_owners(app->pool, &now, owners);
	rc_then = weir_pool_owners(app->pool, prospect, owners + WEIR_BUCKETS);
	if (rc_now == 0 && rc_then == 0) {
		const uint32_t n = owners_differ(owners, owners + WEIR_BUCKETS);

		fprintf(out, "flows: %" PRIu32 " of %d buckets (%.1f %%) get another worker\n", n,
			WEIR_BUCKETS, 100.0 * n / WEIR_BUCKETS);
	} else if (rc_then == 0) {
		fputs("flows: each gets an owner, and goes to it once it is idle\n", out);
	} else {
		fputs("flows: any may move whenever it is idle, none has an owner\n", out);
	}
	free(owners);
}

/* ---- the change ---- */

/* Takes what may differ over. */
static void
options_adopt(struct app *app, const struct options *next)
{
	struct options *options = &app->options;

	options->strategy = next->strategy;
	options->fallback = next->fallback;
	options->overflow = next->overflow;
	memcpy(options->weights, next->weights, sizeof(options->weights));
	options->n_weights = next->n_weights;
	options->weights_text = next->weights_text;
	memcpy(options->rule_text, next->rule_text, sizeof(options->rule_text));
	memcpy(options->rule_path, next->rule_path, sizeof(options->rule_path));
	memcpy(options->rule_line, next->rule_line, sizeof(options->rule_line));
	options->n_rules = next->n_rules;
	options->rules = next->rules;
	options->config = next->config;
	options->strategies = next->strategies;
}

/* Makes the change that `generation` holds, or only tells of it. Returns 0, -EINVAL after a
 * refusal, or another -errno. */
static int
generation_apply(struct app *app, struct generation *generation, const struct request *request)
{
	const struct options *next = &generation->options;
	struct weir_class classes[WEIR_RULES_MAX] = { 0 };
	struct weir_config_error error;
	struct weir_change change;
	int rc = fixed_check(&app->options, next);

	if (rc == 0)
		rc = copies_check(app, next);
	if (rc < 0)
		return rc;
	pool_options_change(next, app->ports.exception_id, classes, &change);
	generation->set = (struct rule_set) { next->rules, pool_options_urgent(next) };
	change.tag = &generation->set;
	change.tag_release = generation_release;
	rc = weir_pool_check_change(app->pool, &change, &error);
	if (rc == -EINVAL)
		pool_options_refuse(next, &error);
	if (rc < 0)
		return rc;
	settings_print_moves(app,
		&(struct weir_prospect) { &change, WEIR_WORKER_NONE, WEIR_WORKER_NONE },
		request->out);
	if (request->is_trial)
		return 0;
	/* What the pool gives up may be what telemetry's threads look at. */
	telemetry_lock();
	rc = weir_pool_change(app->pool, &change, &error);
	if (rc == 0)
		options_adopt(app, next);
	telemetry_unlock();
	return rc;
}

/* ---- the file ---- */

static bool
reads_file(const struct request *request)
{
	return request->setting == SETTING_CONFIG || request->setting == SETTING_COUNT;
}

/* What the file said when it was read last; NULL: there is none. */
static const char *
text_of_file(const struct app *app)
{
	return app->settings.config_text ? app->settings.config_text
					 : app->settings.first.config_text;
}

/* Control never waits for what a pipe may say one day. */
static int
file_check(const struct app *app, const struct request *request)
{
	const char *kept = request->setting == SETTING_COUNT ? app->options.config
							     : app->settings.first.config;
	const char *path = request->value ? request->value : kept;
	struct stat status;

	if (!path)
		return options_refuse_line("--config: allowed only if there was one at the start");
	if (stat(path, &status) < 0)
		return options_refuse(
			"--config", path, "a file that can be read: %s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return options_refuse("--config", path, "a regular file, while Weir runs");
	return 0;
}

/* ---- all together ---- */

/*
 * Parses the words, with `values` in them, as at a start, and applies what comes of it; `text` gets
 * the file's.
 */
static int
values_apply(struct app *app, const char *const *values, const struct request *request, char **text)
{
	struct generation *generation = calloc(1, sizeof(*generation));
	int rc;

	if (!generation)
		return -ENOMEM;
	rc = words_make(&app->settings, values, &generation->words);
	if (rc >= 0)
		rc = options_parse_text(&generation->options, rc, generation->words,
			reads_file(request) ? NULL : text_of_file(app));
	if (rc == 0 && reads_file(request)) {
		*text = strdup(generation->options.config_text);
		rc = *text ? 0 : -ENOMEM;
	}
	if (rc == 0)
		rc = generation_apply(app, generation, request);
	if (rc < 0 || request->is_trial)
		generation_release(generation);
	return rc;
}

/* Remembers what was set, for the changes to come. */
static void
request_keep(struct settings *settings, enum setting setting, char *value, char *text)
{
	if (text) {
		free(settings->config_text);
		settings->config_text = text;
	}
	if (setting == SETTING_COUNT)
		return;
	free(settings->value[setting]);
	settings->value[setting] = value;
}

/* The words with the new value in its place, parsed, applied and, unless it was a trial, kept. */
static int
request_apply(struct app *app, const struct request *request)
{
	char *value = request->value ? strdup(request->value) : NULL;
	const char *values[SETTING_COUNT];
	char *text = NULL;
	int rc = reads_file(request) ? file_check(app, request) : 0;

	if (request->value && !value)
		rc = -ENOMEM;
	for (uint32_t s = 0; s < SETTING_COUNT; s++)
		values[s] = s == request->setting ? value : app->settings.value[s];
	if (rc == 0)
		rc = values_apply(app, values, request, &text);
	if (rc == 0 && !request->is_trial) {
		request_keep(&app->settings, request->setting, value, text);
		return 0;
	}
	free(value);
	free(text);
	return rc;
}

/* The reason, as it was written for stderr: "weir: ...". */
static void
reason_print(char *text, int rc, FILE *out)
{
	static const char prefix[] = "weir: ";
	const bool has_prefix = strncmp(text, prefix, strlen(prefix)) == 0;
	const char *line = text + (has_prefix ? strlen(prefix) : 0);

	text[strcspn(text, "\n")] = '\0';
	fputs(*line ? line : strerror(-rc), out);
}

bool
settings_change(struct app *app, enum setting setting, const char *value, bool is_trial, FILE *out)
{
	char *refusal = NULL;
	char *effect = NULL;
	size_t refusal_bytes, effect_bytes;
	FILE *refusals = open_memstream(&refusal, &refusal_bytes);
	FILE *effects = open_memstream(&effect, &effect_bytes);
	const bool takes_back = value && strcmp(value, SETTING_TAKE_BACK) == 0;
	const struct request request = { setting, takes_back ? NULL : value, is_trial, effects };
	int rc = -ENOMEM;

	if (refusals && effects) {
		options_refusals_redirect(refusals);
		rc = request_apply(app, &request);
		options_refusals_redirect(NULL);
	}
	if (refusals)
		fclose(refusals);
	if (effects)
		fclose(effects);
	if (rc == 0)
		fputs(effect, out);
	else
		reason_print(refusal ? refusal : (char[]) { "" }, rc, out);
	free(refusal);
	free(effect);
	return rc == 0;
}

void
settings_free(struct settings *settings)
{
	for (uint32_t s = 0; s < SETTING_COUNT; s++)
		free(settings->value[s]);
	free(settings->config_text);
	options_free(&settings->first);
	*settings = (struct settings) { 0 };
}
