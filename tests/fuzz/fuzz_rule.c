/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: any text is a rule or is refused in one line at a place within it, and any
 * bytes get the class of a rule or none without a read outside of them. The first byte tells text
 * (even) from packet (odd). Texts go to the reader of rules alone: libpcap's compiler asks the
 * resolver.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weir/strategy.h>

#include "rule.h"

/* Unlike assert, there in release builds too. */
static void
require(int holds)
{
	if (!holds)
		abort();
}

static void
require_part(const struct text_part *part, const char *text)
{
	require(part->begin >= text && part->begin + part->length <= text + strlen(text));
}

static void
require_class(const struct weir_class *class)
{
	require(class->action <= WEIR_ACTION_DIVERT);
	require(class->admission < WEIR_ADMISSION_COUNT);
	require(class->retries < WEIR_WORKERS_MAX);
	require(class->police_pps <= WEIR_POLICE_PPS_MAX && class->police_burst <= INT32_MAX);
	require(class->police_pps > 0 || class->police_burst == 0);
	require(!class->strategy || weir_strategy_find(class->strategy));
	require(!class->fallback || (class->strategy && weir_strategy_find(class->fallback)));
}

static void
text_read(const uint8_t *data, size_t length)
{
	const struct rule_names names = { NULL, 0 };
	struct weir_rule_error error = { 0 };
	struct text_part expression, action;
	struct weir_class class;
	char *text = malloc(length + 1);

	require(text != NULL);
	memcpy(text, data, length);
	text[length] = '\0';
	if (rule_text_read(text, &names, &expression, &action, &class, &error) == 0) {
		require_part(&expression, text);
		require_part(&action, text);
		require_class(&class);
	} else {
		require(error.column >= 1 && error.column <= strlen(text) + 1);
		require(memchr(error.message, 0, sizeof(error.message)) != NULL);
		require(error.message[0] != '\0');
	}
	free(text);
}

static const char *const texts[] = {
	"tcp[tcpflags] & tcp-syn != 0 => drop",
	"vlan and vlan and udp port 53 => kernel",
	"ip[ip[8:4]:4] = 0xffffffff => first",
	"ip6 protochain 17 => last",
	"mpls and mpls and ip host 10.0.0.1 => random",
	"ether[ether[12:2]:4] != 0 => police:10",
	"len > 1500 => serial",
};

#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

/* Compiled once: that costs more than a thousand packets. */
static struct weir_rules *rules;

static void
packet_classify(const uint8_t *data, size_t length)
{
	struct weir_meta meta = { .length = (uint32_t)length, .segment_length = (uint32_t)length };
	/* An allocation of the exact size, so that the sanitizer sees a read past the end. */
	void *frame = malloc(length);

	if (!rules)
		rules = weir_rules_create(texts, N_TEXTS, NULL, 0, NULL);
	require(rules != NULL && (frame != NULL || length == 0));
	if (length > 0)
		memcpy(frame, data, length);
	weir_rules_classify(rules, &frame, &meta, 1);
	require(meta.class_id <= N_TEXTS);
	free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length < 1)
		return -1;
	if (data[0] & 1)
		packet_classify(data + 1, length - 1);
	else
		text_read(data + 1, length - 1);
	return 0;
}
