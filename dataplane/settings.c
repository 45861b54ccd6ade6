/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "option_row.h"
#include "outputs.h"
#include "pool_options.h"
#include "rule_set.h"

/* What a change puts in place, and takes along when its time is over. */
struct generation {
	struct rule_set set; /* the pool's tag: first */
	struct options options;
};

static const char *const setting_options[SETTING_COUNT] = {
	[SETTING_STRATEGY] = "--strategy",
	[SETTING_OVERFLOW] = "--overflow",
	[SETTING_WEIGHTS] = "--weights",
	[SETTING_CONFIG] = "--config",
};

/* Rules, and what they need, go once no rx core goes by them. */
static void
generation_release(void *tag)
{
	struct generation *generation = tag;

	options_free(&generation->options);
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

static void
words_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
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

/* How many flow buckets have another owner. */
static uint32_t
owners_differ(const weir_worker_id *a, const weir_worker_id *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < WEIR_BUCKETS; i++)
		n += a[i] != b[i];
	return n;
}

/* Says what share of flows a change moves. */
static void
moves_print(const struct app *app, const struct weir_change *change, FILE *out)
{
	weir_worker_id *owners = calloc(2 * WEIR_BUCKETS, sizeof(*owners));
	struct weir_prospect prospect = { .added = WEIR_WORKER_NONE, .removed = WEIR_WORKER_NONE };
	int rc_now, rc_then;

	if (!owners)
		return;
	rc_now = weir_pool_owners(app->pool, &prospect, owners);
	prospect.change = change;
	rc_then = weir_pool_owners(app->pool, &prospect, owners + WEIR_BUCKETS);
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

/* Makes the change that `generation` holds, or only tells of it. Returns 0 or -errno, after a line
 * if that is -EINVAL. */
static int
generation_apply(struct app *app, struct generation *generation, bool is_trial, FILE *out)
{
	const struct options *next = &generation->options;
	struct weir_class classes[WEIR_RULES_MAX] = { 0 };
	struct weir_config_error error;
	struct weir_change change;
	int rc = fixed_check(&app->options, next);

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
	moves_print(app, &change, out);
	if (is_trial)
		return 0;
	/* What the pool gives up may be what telemetry's threads look at. */
	telemetry_lock();
	rc = weir_pool_change(app->pool, &change, &error);
	if (rc == 0)
		options_adopt(app, next);
	telemetry_unlock();
	return rc;
}

/* Parses the words as at a start, and applies what comes of it. */
static int
words_apply(struct app *app, int n_words, char **words, bool is_trial, FILE *out)
{
	struct generation *generation = calloc(1, sizeof(*generation));
	int rc;

	if (!generation)
		return -ENOMEM;
	rc = options_parse(&generation->options, n_words, words);
	if (rc == 0)
		rc = generation_apply(app, generation, is_trial, out);
	if (rc < 0 || is_trial)
		generation_release(generation);
	return rc;
}

/* Remembers what was set, for the changes to come. */
static void
value_keep(struct settings *settings, enum setting setting, char *value)
{
	settings->n_changes++;
	if (setting == SETTING_COUNT)
		return;
	free(settings->value[setting]);
	settings->value[setting] = value;
}

/* The words with the new value in its place, parsed and applied. */
static int
settings_apply(struct app *app, enum setting setting, const char *value, bool is_trial, FILE *out)
{
	const char *values[SETTING_COUNT];
	char **words = NULL;
	int n;

	for (uint32_t s = 0; s < SETTING_COUNT; s++)
		values[s] = s == setting ? value : app->settings.value[s];
	n = words_make(&app->settings, values, &words);
	if (n >= 0)
		n = words_apply(app, n, words, is_trial, out);
	words_free(words);
	return n;
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
	char *kept = value ? strdup(value) : NULL;
	char *refusal = NULL;
	size_t refusal_bytes;
	FILE *refusals = open_memstream(&refusal, &refusal_bytes);
	char *effect = NULL;
	size_t effect_bytes;
	FILE *effects = open_memstream(&effect, &effect_bytes);
	int rc = -ENOMEM;

	if (refusals && effects && (kept || !value)) {
		options_refusals_redirect(refusals);
		rc = settings_apply(app, setting, kept, is_trial, effects);
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
	if (rc == 0 && !is_trial)
		value_keep(&app->settings, setting, kept);
	else
		free(kept);
	free(refusal);
	free(effect);
	return rc == 0;
}

void
settings_free(struct settings *settings)
{
	for (uint32_t s = 0; s < SETTING_COUNT; s++)
		free(settings->value[s]);
	options_free(&settings->first);
	*settings = (struct settings) { 0 };
}
