/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the row of verb_list.c that a request begins with, and calls its function. A function
 * writes lines and returns true, or writes a reason and returns false.
 */
#include "verbs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "control_path.h"
#include "option_values.h"
#include "outputs.h"
#include "settings.h"
#include "verb_list.h"

/* More than any verb has. */
#define WORDS_MAX 8

/* Of a stranger's word, in a refusal. */
#define ECHO_BYTES_MAX 64

struct request {
	char text[CONTROL_REQUEST_BYTES_MAX + 1]; /* words, each terminated */
	uint32_t n_words;
	const char *word[WORDS_MAX];
};

/* What an order does to the workers that flows can have. */
enum order_effect {
	ORDER_ADDS,
	ORDER_REMOVES,
};

/* What a verb is for the function that several share. */
struct verb_action {
	bool (*answer)(
		struct app *app, const struct verb_action *action, const char *argument, FILE *out);
	/* Of orders to a worker. */
	int (*order)(struct app *app, weir_worker_id id, char *reason, size_t reason_bytes);
	enum order_effect effect;
	/* Of settings. */
	enum setting setting;
	bool is_trial;
};

static bool
help_answer(struct app *app, const struct verb_action *action, const char *argument, FILE *out)
{
	(void)app;
	(void)action;
	(void)argument;
	verb_list_print(out);
	return true;
}

static bool
status_answer(struct app *app, const struct verb_action *action, const char *argument, FILE *out)
{
	char *text = report_text(app, &app->status);

	(void)action;
	(void)argument;
	if (text)
		fprintf(out, "%s\n", text);
	else
		fputs("no memory", out);
	free(text);
	return text != NULL;
}

static bool
workers_answer(struct app *app, const struct verb_action *action, const char *argument, FILE *out)
{
	(void)action;
	(void)argument;
	fprintf(out, "%3s %-7s %-11s %-22s %11s %7s %5s %7s %12s %12s %6s\n", "id", "kind", "state",
		"flags", "incarnation", "crashes", "cpu", "depth", "lent", "completed", "busy");
	for (uint32_t id = 0; id < app->n_workers; id++) {
		const struct status_worker *worker = &app->status.worker[id];
		char flags[STATUS_FLAGS_BYTES];

		status_worker_flags(worker, flags);
		fprintf(out,
			"%3" PRIu32 " %-7s %-11s %-22s %11" PRIu32 " %7" PRIu64 " %5" PRIu32
			" %7" PRIu32 " %12" PRIu64 " %12" PRIu64 " %5.1f%%\n",
			id, status_worker_kind(worker), weir_slot_phase_name(worker->phase),
			flags[0] ? flags : "-", worker->incarnation, worker->crashes, worker->cpu,
			worker->depth, worker->lent, worker->completed, 100 * worker->busy_ratio);
	}
	return true;
}

/*
 * Says what share of flows the order moves: it is asked before the order is given, and told after.
 * Returns the text, to be freed; NULL without memory.
 */
static char *
order_foresee(const struct app *app, const struct verb_action *action, weir_worker_id id)
{
	struct weir_prospect prospect = { .added = WEIR_WORKER_NONE, .removed = WEIR_WORKER_NONE };
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	if (!out)
		return NULL;
	*(action->effect == ORDER_ADDS ? &prospect.added : &prospect.removed) = id;
	settings_print_moves(app, &prospect, out);
	fclose(out);
	return text;
}

static void
order_print(const struct app *app, weir_worker_id id, const char *moves, FILE *out)
{
	const struct worker_slot *slot = &app->supervisor.slot[id];
	const bool is_paused = slot->is_paused && slot->life.phase == WEIR_SLOT_READY;

	fprintf(out, "worker %u is %s\n%s", id,
		is_paused ? "paused" : weir_slot_phase_name(slot->life.phase), moves ? moves : "");
}

static bool
order_answer(struct app *app, const struct verb_action *action, const char *argument, FILE *out)
{
	char reason[SUPERVISOR_REASON_BYTES];
	uint64_t id;
	char *moves;
	bool granted;

	if (option_parse_number(argument, &id) < 0 || id >= WEIR_WORKERS_MAX) {
		fprintf(out, "ID %.*s: a worker's number, 0 to %u", ECHO_BYTES_MAX, argument,
			app->n_workers - 1);
		return false;
	}
	moves = order_foresee(app, action, (weir_worker_id)id);
	granted = action->order(app, (weir_worker_id)id, reason, sizeof(reason)) == 0;
	if (granted)
		order_print(app, (weir_worker_id)id, moves, out);
	else
		fputs(reason, out);
	free(moves);
	return granted;
}

static bool
setting_answer(struct app *app, const struct verb_action *action, const char *argument, FILE *out)
{
	return settings_change(app, action->setting, argument, action->is_trial, out);
}

static bool
stop_answer(struct app *app, const struct verb_action *action, const char *argument, FILE *out)
{
	(void)action;
	(void)argument;
	app->stop_asked = true;
	fputs("the run ends\n", out);
	return true;
}

#define SETTING(setting_, is_trial_)                                                     \
	{                                                                                \
		.answer = setting_answer, .setting = (setting_), .is_trial = (is_trial_) \
	}
#define ORDER(order_, effect_)                                                 \
	{                                                                      \
		.answer = order_answer, .order = (order_), .effect = (effect_) \
	}

static const struct verb_action verb_actions[VERB_COUNT] = {
	[VERB_HELP] = { .answer = help_answer },
	[VERB_STATUS] = { .answer = status_answer },
	[VERB_WORKERS] = { .answer = workers_answer },
	[VERB_SET_STRATEGY] = SETTING(SETTING_STRATEGY, false),
	[VERB_SET_OVERFLOW] = SETTING(SETTING_OVERFLOW, false),
	[VERB_SET_WEIGHTS] = SETTING(SETTING_WEIGHTS, false),
	[VERB_SET_CONFIG] = SETTING(SETTING_CONFIG, false),
	[VERB_RELOAD] = SETTING(SETTING_COUNT, false),
	[VERB_TRY_STRATEGY] = SETTING(SETTING_STRATEGY, true),
	[VERB_TRY_OVERFLOW] = SETTING(SETTING_OVERFLOW, true),
	[VERB_TRY_WEIGHTS] = SETTING(SETTING_WEIGHTS, true),
	[VERB_TRY_CONFIG] = SETTING(SETTING_CONFIG, true),
	[VERB_DRAIN] = ORDER(supervisor_drain, ORDER_REMOVES),
	[VERB_KILL] = ORDER(supervisor_kill, ORDER_REMOVES),
	[VERB_PAUSE] = ORDER(supervisor_pause, ORDER_REMOVES),
	[VERB_RESUME] = ORDER(supervisor_resume, ORDER_ADDS),
	[VERB_ADD] = ORDER(supervisor_add, ORDER_ADDS),
	[VERB_REMOVE] = ORDER(supervisor_remove, ORDER_REMOVES),
	[VERB_STOP] = { .answer = stop_answer },
};

/* Splits a request into words. Returns NULL, or what is wrong with it. */
static const char *
request_parse(struct request *request, const char *bytes, size_t n_bytes)
{
	char *save;
	char *word;

	request->n_words = 0;
	if (n_bytes > CONTROL_REQUEST_BYTES_MAX)
		return CONTROL_REQUEST_TOO_LONG;
	if (n_bytes > 0 && bytes[n_bytes - 1] == '\n')
		n_bytes--;
	for (size_t i = 0; i < n_bytes; i++) {
		if (bytes[i] < ' ' || bytes[i] > '~')
			return "a request is one line of ASCII words";
	}
	memcpy(request->text, bytes, n_bytes);
	request->text[n_bytes] = '\0';
	for (word = strtok_r(request->text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (request->n_words == WORDS_MAX)
			return "no request has so many words";
		request->word[request->n_words++] = word;
	}
	return request->n_words > 0 ? NULL : "an empty request: help tells what can be asked";
}

/* The number of words that a request and a verb share if it begins with all of the verb's, or 0. */
static uint32_t
verb_match(const struct request *request, const char *words)
{
	uint32_t n = 0;

	while (*words) {
		const size_t length = strcspn(words, " ");

		if (n == request->n_words || strlen(request->word[n]) != length ||
			memcmp(request->word[n], words, length) != 0)
			return 0;
		n++;
		words += length + (words[length] == ' ');
	}
	return n;
}

/* Carries a request out: writes what becomes of it. Returns whether it was granted. */
static bool
request_serve(struct app *app, const struct request *request, FILE *out)
{
	for (unsigned int i = 0; i < VERB_COUNT; i++) {
		const struct verb_row *row = verb_row_of(i);
		const uint32_t n = verb_match(request, row->words);
		const uint32_t n_wanted = n + (row->argument ? 1 : 0);

		if (n == 0)
			continue;
		if (request->n_words == n_wanted)
			return verb_actions[i].answer(app, &verb_actions[i],
				row->argument ? request->word[n] : NULL, out);
		fprintf(out, "the request is: %s%s%s", row->words, row->argument ? " " : "",
			row->argument ? row->argument : "");
		return false;
	}
	fprintf(out, "unknown request: %.*s; help tells what can be asked", ECHO_BYTES_MAX,
		request->word[0]);
	return false;
}

/* "error: " and the reason, or "ok" and the lines. Frees the body. NULL without memory. */
static char *
reply_make(bool granted, char *body, size_t body_bytes, size_t *reply_bytes)
{
	const char *head = granted ? "ok\n" : "error: ";
	const char *tail = granted ? "" : "\n";
	const size_t n_bytes = strlen(head) + body_bytes + strlen(tail);
	char *reply = malloc(n_bytes + 1);

	if (reply)
		*reply_bytes = (size_t)snprintf(reply, n_bytes + 1, "%s%s%s", head, body, tail);
	free(body);
	return reply;
}

char *
verbs_answer(struct app *app, const char *request, size_t n_bytes, size_t *reply_bytes)
{
	struct request parsed;
	const char *wrong = request_parse(&parsed, request, n_bytes);
	char *body = NULL;
	size_t body_bytes = 0;
	FILE *out = open_memstream(&body, &body_bytes);
	bool granted = false;

	if (!out)
		return NULL;
	if (wrong)
		fputs(wrong, out);
	else
		granted = request_serve(app, &parsed, out);
	if (fclose(out) != 0) {
		free(body);
		return NULL;
	}
	if (body_bytes > VERBS_REPLY_BYTES_MAX) {
		snprintf(body, body_bytes, "the reply is longer than %u bytes",
			VERBS_REPLY_BYTES_MAX);
		body_bytes = strlen(body);
		granted = false;
	}
	return reply_make(granted, body, body_bytes, reply_bytes);
}
