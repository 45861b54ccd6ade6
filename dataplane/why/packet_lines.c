/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet_lines.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS 100
#define INDENT "     "
/* With more workers than this, equal depths in a row are counted. */
#define DEPTHS_SINGLY_MAX 16

/* What a layer's detail begins with if its next word tells instances of the layer apart. */
static const char *const id_words[] = { "id", "vni", "teid", "session", "label", "spi" };

/* Whether the detail is `word` and more; `*id` is then what follows. */
static bool
detail_begins(const char *detail, const char *word, const char **id)
{
	const size_t length = strlen(word);

	*id = detail + length + 1;
	return strncmp(detail, word, length) == 0 && detail[length] == ' ';
}

/* `vlan 7`, `vxlan 42`, `tcp`, `ipv4 (cut)`. */
static void
layer_format(const struct weir_flow_trace_layer *layer, char *text, size_t n_bytes)
{
	const char *id;

	if (detail_begins(layer->detail, "cut:", &id)) {
		snprintf(text, n_bytes, "%s (cut)", layer->name);
		return;
	}
	for (size_t i = 0; i < sizeof(id_words) / sizeof(id_words[0]); i++) {
		if (!detail_begins(layer->detail, id_words[i], &id))
			continue;
		snprintf(text, n_bytes, "%s %.*s", layer->name, (int)strcspn(id, " ,"), id);
		return;
	}
	snprintf(text, n_bytes, "%s", layer->name);
}

static void
layers_print(FILE *out, const struct weir_flow_trace *trace, size_t at)
{
	char text[64];

	for (uint32_t i = 0; i < trace->n_layers; i++) {
		layer_format(&trace->layer[i], text, sizeof(text));
		if (at + 3 + strlen(text) > COLUMNS) {
			fprintf(out, "\n%s", INDENT);
			at = strlen(INDENT);
		}
		fprintf(out, "%s%s", i ? " / " : " ", text);
		at += 3 + strlen(text);
	}
	if (trace->n_omitted > 0)
		fprintf(out, " / and %" PRIu32 " more", trace->n_omitted);
	fputc('\n', out);
}

static void
flow_print(FILE *out, const struct weir_flow_key *key)
{
	char text[WEIR_FLOW_KEY_TEXT_BYTES];

	weir_flow_key_format(key, text, sizeof(text));
	fprintf(out, "%s%s", INDENT, text);
	if (key->reason != WEIR_FLOW_PORTS)
		fprintf(out, " (fallback: %s)", weir_flow_reason_name(key->reason));
	fputc('\n', out);
}

/* The rule that the packet matched, and what that does with it. */
static void
rule_print(FILE *out, const struct weir_rules *rules, uint32_t class_id)
{
	if (class_id == 0)
		fprintf(out, "%sno rule\n", INDENT);
	else
		fprintf(out, "%srule %u: %s => %s\n", INDENT, class_id,
			weir_rules_expression(rules, class_id), weir_rules_action(rules, class_id));
}

static void
route_print(FILE *out, const struct weir_explanation *why)
{
	switch (why->route) {
	case WEIR_ROUTE_ASKS:
		fprintf(out, "asked (message %" PRIu64 ")", why->index);
		break;
	case WEIR_ROUTE_PINNED:
		fprintf(out, "followed its pin to %u (%u out)", why->pinned, why->lane_out);
		break;
	case WEIR_ROUTE_STICKY:
		fprintf(out, "stuck to %u", why->pinned);
		break;
	case WEIR_ROUTE_HELD_BEHIND:
		fprintf(out, "held behind %u", why->bucket_held);
		break;
	case WEIR_ROUTE_HELD_UNROUTABLE:
	case WEIR_ROUTE_HELD_OTHER_OWNER:
		fprintf(out, "held until %u has done %u", why->pinned, why->bucket_out);
		break;
	case WEIR_ROUTE_HELD_AWAITED:
		fprintf(out, "held until a worker is there");
		break;
	case WEIR_ROUTE_REFUSED:
		fprintf(out, "refused while packets are held");
		break;
	case WEIR_ROUTE_DROPPED:
		fprintf(out, "dropped by its class");
		break;
	case WEIR_ROUTE_DIVERTED:
		fprintf(out, "diverted by its class");
		break;
	case WEIR_ROUTE_ALL:
		fprintf(out, "to all workers");
		break;
	default:
		fprintf(out, "lost: no worker is routable");
	}
}

/* Positions from `i` on with the same depth. */
static uint32_t
depth_run(const struct weir_explanation *why, uint32_t i)
{
	uint32_t n = 1;

	while (why->n_routable > DEPTHS_SINGLY_MAX && i + n < why->n_routable &&
		why->depth[i + n] == why->depth[i])
		n++;
	return n;
}

/* Depths of the routable workers: all are, here, so that a place in the list is a worker's id. */
static void
depths_print(FILE *out, const struct weir_explanation *why)
{
	uint32_t n;

	fprintf(out, "; depths [");
	for (uint32_t i = 0; i < why->n_routable; i += n) {
		n = depth_run(why, i);
		fprintf(out, "%s%u", i ? " " : "", why->depth[i]);
		if (n > 1)
			fprintf(out, "*%u", n);
	}
	fprintf(out, "]");
}

static void
outcome_print(FILE *out, const struct replay_outcome *outcome)
{
	if (outcome->worker != WEIR_WORKER_NONE)
		fprintf(out, " -> worker %u", outcome->worker);
	if (outcome->evicted)
		fprintf(out, ", full: took the oldest one's place");
	else if (outcome->dropped >= 0)
		fprintf(out, ", dropped: %s", weir_reason_name((unsigned int)outcome->dropped));
	if (outcome->refused)
		fprintf(out, ", full: waited");
	fputc('\n', out);
}

void
packet_lines_print(FILE *out, const struct packet_story *story)
{
	const struct weir_meta *meta = story->meta;
	const int used = fprintf(out,
		"#%" PRIu64 " %" PRIu64 ".%09" PRIu64 " s, %" PRIu32 " bytes:", story->number,
		story->time_ns / 1000000000, story->time_ns % 1000000000, meta->length);

	layers_print(out, story->trace, used > 0 ? (size_t)used : 0);
	flow_print(out, &story->trace->key);
	if (story->rules)
		rule_print(out, story->rules, meta->class_id);
	fprintf(out, "%sbucket %u, hash %016" PRIx64 "; ", INDENT, meta->bucket, meta->hash);
	if (story->outcome->urgent)
		fprintf(out, "urgent, ");
	route_print(out, &story->outcome->why);
	depths_print(out, &story->outcome->why);
	outcome_print(out, story->outcome);
}
