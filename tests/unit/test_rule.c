/* SPDX-License-Identifier: BSD-3-Clause */
/* lib/rule: the text of rules, which classes it makes, and where and why it is refused. */
#include "test.h"

#include <weir/weir.h>

/* The class of a single rule, which must be accepted. */
static struct weir_class
class_of(const char *text)
{
	struct weir_rule_error error;
	struct weir_rules *rules = weir_rules_create(&text, 1, NULL, 0, &error);
	struct weir_class class;

	if (!rules)
		print_error("%s: column %u: %s\n", text, error.column, error.message);
	assert_non_null(rules);
	assert_int_equal(weir_rules_count(rules), 1);
	class = weir_rules_classes(rules)[0];
	weir_rules_destroy(rules);
	return class;
}

/* Asserts that a rule is refused at a column, in one line that has `words`. */
static void
assert_refused(const char *text, uint32_t column, const char *words)
{
	struct weir_rule_error error = { 0 };

	errno = 0;
	assert_null(weir_rules_create(&text, 1, NULL, 0, &error));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(error.rule, 1);
	if (error.column != column || !strstr(error.message, words))
		print_error("%s: column %u: %s\n", text, error.column, error.message);
	assert_int_equal(error.column, column);
	assert_non_null(strstr(error.message, words));
	assert_null(strchr(error.message, '\n'));
	assert_null(weir_rules_create(&text, 1, NULL, 0, NULL));
}

static void
no_rules_are_rules_too(void **state)
{
	struct weir_rules *rules = weir_rules_create(NULL, 0, NULL, 0, NULL);

	(void)state;
	assert_non_null(rules);
	assert_int_equal(weir_rules_count(rules), 0);
	weir_rules_destroy(rules);
	weir_rules_destroy(NULL);
}

static void
each_word_of_an_action_sets_its_part_of_the_class(void **state)
{
	struct weir_class class = class_of("udp => drop");

	(void)state;
	assert_int_equal(class.action, WEIR_ACTION_DROP);
	assert_int_equal(class_of("udp => kernel").action, WEIR_ACTION_DIVERT);
	class = class_of("udp => rendezvous");
	assert_int_equal(class.action, WEIR_ACTION_ROUTE);
	assert_string_equal(class.strategy, "rendezvous");
	assert_null(class.fallback);
	class = class_of("udp => last,first");
	assert_string_equal(class.strategy, "last");
	assert_string_equal(class.fallback, "first");
	class = class_of("udp => police:1000");
	assert_null(class.strategy);
	assert_int_equal(class.police_pps, 1000);
	assert_int_equal(class.police_burst, 0);
	class = class_of("udp => police:1000000000:2147483647");
	assert_int_equal(class.police_pps, WEIR_POLICE_PPS_MAX);
	assert_int_equal(class.police_burst, INT32_MAX);
	assert_int_equal(class_of("udp => serial").admission, WEIR_ADMIT_SERIAL);
	assert_int_equal(class_of("udp => discard-later").admission, WEIR_ADMIT_DISCARD_LATER);
	assert_int_equal(class_of("udp => cover-early").admission, WEIR_ADMIT_COVER_EARLY);
	assert_int_equal(class_of("udp => retry:1").retries, 1);
	assert_int_equal(class_of("udp => retry:255").retries, 255);
	assert_string_equal(class_of("udp => overflow:reject").overflow, "reject");
	assert_null(class_of("udp => serial").overflow);
	assert_true(class_of("udp => urgent").urgent);
	assert_null(class_of("udp => urgent").strategy);
	assert_false(class_of("udp => first").urgent);
}

static void
words_combine_in_any_order(void **state)
{
	const struct weir_class class =
		class_of("tcp\t=>  overflow:reject retry:2 \tpolice:7:9 cover-early round-robin ");

	(void)state;
	assert_string_equal(class.strategy, "round-robin");
	assert_string_equal(class.overflow, "reject");
	assert_int_equal(class.retries, 2);
	assert_int_equal(class.police_pps, 7);
	assert_int_equal(class.police_burst, 9);
	assert_int_equal(class.admission, WEIR_ADMIT_COVER_EARLY);
	assert_false(class.urgent);
	assert_int_equal(class_of("tcp => police:5 kernel").police_pps, 5);
	assert_string_equal(class_of("tcp => urgent retry:2 last").strategy, "last");
	assert_int_equal(class_of("tcp => urgent retry:2 last").retries, 2);
	assert_true(class_of("tcp => cover-early first urgent police:9").urgent);
}

static void
both_sides_are_told_without_the_blanks_around_them(void **state)
{
	static const char *const texts[] = { "  udp port 53  =>  first  serial ", "=> drop" };
	struct weir_rules *rules = weir_rules_create(texts, 2, NULL, 0, NULL);

	(void)state;
	assert_non_null(rules);
	assert_string_equal(weir_rules_expression(rules, 1), "udp port 53");
	assert_string_equal(weir_rules_action(rules, 1), "first  serial");
	assert_string_equal(weir_rules_expression(rules, 2), "");
	assert_string_equal(weir_rules_action(rules, 2), "drop");
	weir_rules_destroy(rules);
}

static void
strategies_of_the_callers_own_are_names_too(void **state)
{
	static const struct weir_strategy own = { .name = "custom:x.so",
		.flags = WEIR_STRATEGY_ALL_TARGETS };
	static const struct weir_strategy *const strategies[] = { &own };
	const char *text = "udp => custom:x.so";
	struct weir_rule_error error;
	struct weir_rules *rules = weir_rules_create(&text, 1, strategies, 1, NULL);

	(void)state;
	assert_non_null(rules);
	assert_ptr_equal(weir_rules_classes(rules)[0].strategy, own.name);
	weir_rules_destroy(rules);
	assert_refused(text, 8, "allowed drop, kernel");
	text = "udp => nothing";
	assert_null(weir_rules_create(&text, 1, strategies, 1, &error));
	assert_non_null(strstr(error.message, "custom:x.so"));
	/* Every worker gets a copy: none is left to try. */
	text = "udp => custom:x.so retry:1";
	assert_null(weir_rules_create(&text, 1, strategies, 1, &error));
	assert_int_equal(error.column, 20);
	assert_non_null(strstr(error.message, "retry:1: not with custom:x.so"));
}

static void
words_that_are_none_are_refused_where_they_stand(void **state)
{
	(void)state;
	assert_refused("udp => drap", 8, "drap: allowed drop, kernel, police:PPS[:BURST]");
	assert_refused("udp => first,drap", 14, "drap: allowed");
	assert_refused("udp => first,", 14, "no action: allowed");
	assert_refused("udp => ,first", 8, "allowed");
	assert_refused("udp => first, last", 14, "allowed");
	assert_refused("udp => serial firs", 15, "firs: allowed");
	assert_refused("udp => DROP", 8, "allowed");
	assert_refused("udp => ", 8, "no action: allowed");
	assert_refused("udp =>", 7, "no action: allowed");
}

static void
numbers_out_of_range_are_refused(void **state)
{
	static const char *const police[] = { "police:", "police:0", "police:-1", "police:+1",
		"police:1k", "police:0x10", "police:1000000001", "police:18446744073709551617",
		"police:1:", "police:1:0", "police:1:2147483648", "police:1:2:3", "police::1" };
	static const char *const retry[] = { "retry:", "retry:0", "retry:256", "retry:x",
		"retry:4294967297", "retry:1:1" };
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(police); i++) {
		snprintf(text, sizeof(text), "udp => serial %s", police[i]);
		assert_refused(text, 15, "allowed police:PPS[:BURST], PPS 1 to 1000000000");
	}
	for (size_t i = 0; i < ARRAY_LENGTH(retry); i++) {
		snprintf(text, sizeof(text), "udp => %s", retry[i]);
		assert_refused(text, 8, "allowed retry:N, N 1 to 255");
	}
	assert_refused("udp => overflow:nowhere", 8, "POLICY one of drop-new");
	assert_refused("udp => overflow:", 8, "POLICY one of drop-new");
}

static void
words_that_contradict_are_refused(void **state)
{
	(void)state;
	assert_refused("udp => drop retry:2", 13, "retry:2: not with drop: allowed no other word");
	assert_refused("udp => retry:2 drop", 8, "retry:2: not with drop");
	assert_refused("udp => drop police:5", 13, "not with drop");
	assert_refused("udp => drop serial", 13, "not with drop");
	assert_refused("udp => drop overflow:reject", 13, "not with drop");
	assert_refused("udp => kernel retry:2", 15, "not with kernel: allowed police:PPS");
	assert_refused("udp => kernel cover-early", 15, "not with kernel");
	assert_refused("udp => kernel urgent", 15, "urgent: not with kernel");
	assert_refused("udp => urgent drop", 8, "urgent: not with drop: allowed no other word");
	assert_refused("udp => urgent serial urgent", 22, "allowed once, and not besides urgent");
	assert_refused("udp => kernel overflow:reject", 15, "not with kernel");
	assert_refused("udp => kernel first", 15, "first: allowed once, and not besides kernel");
	assert_refused("udp => drop kernel", 13, "kernel: allowed once, and not besides drop");
	assert_refused("udp => first first", 14, "allowed once");
	assert_refused("udp => serial cover-early", 15, "allowed once, and not besides serial");
	assert_refused("udp => retry:1 retry:1", 16, "allowed once");
	assert_refused("udp => police:1 police:2", 17, "allowed once");
}

static void
the_last_arrow_that_stands_alone_parts_a_rule(void **state)
{
	(void)state;
	assert_refused("udp", 1, "allowed EXPRESSION => ACTION");
	assert_refused("", 1, "allowed EXPRESSION => ACTION");
	assert_refused("udp=>drop", 1, "allowed EXPRESSION => ACTION");
	assert_refused("udp =>drop", 1, "allowed EXPRESSION => ACTION");
	assert_refused("udp => drop => drop", 5, "syntax error");
	assert_int_equal(class_of("len >= 100 => drop").action, WEIR_ACTION_DROP);
}

static void
a_bad_expression_is_refused_with_libpcaps_message_and_the_place(void **state)
{
	(void)state;
	assert_refused("udp prot 53 => drop", 5, "syntax error");
	assert_refused(" udp and => drop", 9, "syntax error");
	assert_refused("(udp => drop", 5, "syntax error");
	assert_refused("udp) => drop", 4, "syntax error");
	assert_refused("host 1.2.3.4 and (udp or tcp dst) or ip => drop", 33, "syntax error");
	assert_refused("tcp[ => drop", 5, "syntax error");
	assert_refused("ip[0] @ 3 = 2 => drop", 7, "syntax error");
	assert_refused("arp or tcp and port 70000 => drop", 21, "70000");
	assert_refused("udp and port nosuchport => drop", 14, "unknown port 'nosuchport'");
	assert_refused("net 10.0.0.0/33 => drop", 5, "mask length");
	assert_refused("ip or net 10.0.0.1/8 => drop", 11, "non-network bits");
	assert_refused("ip or vlan 5000 => drop", 12, "5000");
	assert_refused("ip and arp => drop", 1, "rejects all packets");
}

static void
an_error_names_the_number_of_its_rule(void **state)
{
	static const char *const texts[] = { "udp => drop", "tcp => drop", "frob frob => drop" };
	struct weir_rule_error error;

	(void)state;
	assert_null(weir_rules_create(texts, 3, NULL, 0, &error));
	assert_int_equal(error.rule, 3);
}

static void
sixty_three_rules_are_taken_and_no_more(void **state)
{
	const char *texts[WEIR_RULES_MAX + 1];
	struct weir_rule_error error;
	struct weir_rules *rules;

	(void)state;
	assert_int_equal(WEIR_RULES_MAX, 63);
	for (uint32_t i = 0; i < ARRAY_LENGTH(texts); i++)
		texts[i] = "udp => drop";
	rules = weir_rules_create(texts, WEIR_RULES_MAX, NULL, 0, NULL);
	assert_non_null(rules);
	assert_int_equal(weir_rules_count(rules), WEIR_RULES_MAX);
	weir_rules_destroy(rules);
	assert_null(weir_rules_create(texts, WEIR_RULES_MAX + 1, NULL, 0, &error));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(error.rule, 64);
	assert_string_equal(error.message, "allowed at most 63 rules");
}

/* An action behind so many blanks that the text has `length` bytes. */
static char *
long_text(size_t length)
{
	char *text = malloc(length + 1);

	assert_non_null(text);
	memset(text, ' ', length);
	memcpy(text, "udp =>", 6);
	memcpy(text + length - 4, "drop", 5);
	return text;
}

static void
long_texts_are_refused_not_cut(void **state)
{
	char *text = long_text(WEIR_RULE_TEXT_MAX);

	(void)state;
	assert_int_equal(class_of(text).action, WEIR_ACTION_DROP);
	free(text);
	text = long_text(WEIR_RULE_TEXT_MAX + 1);
	assert_refused(text, 1, "allowed at most 4095 bytes");
	free(text);
}

static void
words_of_any_length_are_refused_in_one_line(void **state)
{
	char text[WEIR_RULE_TEXT_MAX + 1];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "udp => ", 7);
	assert_refused(text, 8, "xxx...: allowed drop");
	memset(text, '(', sizeof(text) - 9);
	memcpy(text + sizeof(text) - 9, " => drop", 9);
	assert_refused(text, 4088, "error");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_rules_are_rules_too),
		cmocka_unit_test(each_word_of_an_action_sets_its_part_of_the_class),
		cmocka_unit_test(words_combine_in_any_order),
		cmocka_unit_test(both_sides_are_told_without_the_blanks_around_them),
		cmocka_unit_test(strategies_of_the_callers_own_are_names_too),
		cmocka_unit_test(words_that_are_none_are_refused_where_they_stand),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(words_that_contradict_are_refused),
		cmocka_unit_test(the_last_arrow_that_stands_alone_parts_a_rule),
		cmocka_unit_test(a_bad_expression_is_refused_with_libpcaps_message_and_the_place),
		cmocka_unit_test(an_error_names_the_number_of_its_rule),
		cmocka_unit_test(sixty_three_rules_are_taken_and_no_more),
		cmocka_unit_test(long_texts_are_refused_not_cut),
		cmocka_unit_test(words_of_any_length_are_refused_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
