/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules: `EXPRESSION => ACTION`, in order, the first that matches wins. Expressions are those of
 * pcap-filter(7), compiled by libpcap; what a rule does becomes a struct weir_class. The number of
 * the rule that a packet matched is its class.
 */
#ifndef WEIR_RULE_H
#define WEIR_RULE_H

#include <stdint.h>

#include <weir/packet.h>
#include <weir/pool.h>

struct weir_strategy;

/** Most rules: each has a class of its own, class 0 is of what none of them matches. */
#define WEIR_RULES_MAX (WEIR_CLASSES_MAX - 1)
/** Longest text of a rule, bytes without the terminating zero. */
#define WEIR_RULE_TEXT_MAX 4095
/** Room for a rule's own words in a message. */
#define WEIR_RULE_MESSAGE_BYTES 640

/** Compiled rules: immutable, so that any number of threads classify by them. Opaque. */
struct weir_rules;

/** Why rules were refused. */
struct weir_rule_error {
	uint32_t rule;	 /**< number of the rule, from 1 */
	uint32_t column; /**< in its text, bytes from 1: where the offending part begins, as well as
			      that can be told; libpcap itself does not say */
	char message[WEIR_RULE_MESSAGE_BYTES]; /**< one line: libpcap's own, or what is allowed */
};

/**
 * Reads and compiles rules for Ethernet packets.
 *
 * An action is words separated by blanks, at least one, each kind at most once:
 *  - where to: `NAME[,FALLBACK]` (a strategy), `drop` or `kernel` (WEIR_ACTION_DIVERT; the caller
 *    sets divert_port); without one of these the pool's own strategy
 *  - `police:PPS[:BURST]`
 *  - `serial`, `discard-later` or `cover-early`
 *  - `retry:N`
 *  - `overflow:POLICY`
 *  - `urgent`; not with `drop` or `kernel`
 *
 * An empty expression matches every packet. Names of hosts, networks, ports and protocols are
 * looked up by the C library's resolver here and never again.
 *
 * @param texts	       `n` of them, NUL-terminated; copied
 * @param n	       0 .. WEIR_RULES_MAX
 * @param strategies   that names may mean besides the registered ones, `n_strategies` of them; must
 *		       live as long as what is made of the classes. NULL if n_strategies is 0
 * @param error	       may be NULL
 * @return NULL with errno EINVAL (`error` filled) or ENOMEM. Any thread.
 */
WEIR_API struct weir_rules *weir_rules_create(const char *const *texts, uint32_t n,
	const struct weir_strategy *const *strategies, uint32_t n_strategies,
	struct weir_rule_error *error);

/** Frees rules. No thread may be in a call on them. NULL is allowed. */
WEIR_API void weir_rules_destroy(struct weir_rules *rules);

/** How many there are. Any thread. */
WEIR_API uint32_t weir_rules_count(const struct weir_rules *rules);

/**
 * What they do: for weir_config.classes, weir_rules_count() of them, that of class 1 first. Lives
 * as long as the rules. Any thread.
 */
WEIR_API const struct weir_class *weir_rules_classes(const struct weir_rules *rules);

/** The left side of the rule of a class, 1 .. weir_rules_count() (asserted). Any thread. */
WEIR_API const char *weir_rules_expression(const struct weir_rules *rules, uint32_t class_id);

/** The right side of the rule of a class, 1 .. weir_rules_count() (asserted). Any thread. */
WEIR_API const char *weir_rules_action(const struct weir_rules *rules, uint32_t class_id);

/**
 * Sets class_id of each packet: the number of the first rule that matches, 0 if none does. Reads
 * meta[i].segment_length bytes at data[i] and no more: of a chain the first segment, and an
 * expression that asks for what lies beyond does not match. `len` is meta[i].length.
 * @param n 0 .. WEIR_BURST_MAX (asserted)
 * Any thread. No allocation, lock or system call.
 */
WEIR_API void weir_rules_classify(
	const struct weir_rules *rules, void *const *data, struct weir_meta *meta, uint32_t n);

#endif
