/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir why` against the library: the workers that it prints are those that a dispatcher names
 * which is driven by hand. And what it refuses.
 */
#include "test.h"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <weir/weir.h>

#include "stderr_capture.h"
#include "why.h"

#define PACKETS_MAX 2000
#define WORDS_MAX 16

/* What the command printed; the caller frees it. */
static char *
why_read(const char *const *words, int *status)
{
	const int out = dup(STDOUT_FILENO);
	char *argv[WORDS_MAX] = { NULL };
	char path[] = "/tmp/weir-why-XXXXXX";
	const int file = mkstemp(path);
	char *text;
	int argc = 0;

	assert_true(out >= 0 && file >= 0);
	unlink(path);
	while (words[argc]) {
		argv[argc] = strdup(words[argc]);
		argc++;
	}
	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	*status = why_main(argc, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	const off_t n_bytes = lseek(file, 0, SEEK_END);
	text = calloc(1, (size_t)n_bytes + 1);
	assert_int_equal(pread(file, text, (size_t)n_bytes, 0), n_bytes);
	close(file);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return text;
}

/* The workers in the order of the packets' lines. Returns how many. */
static uint32_t
workers_parse(const char *text, weir_worker_id *workers)
{
	static const char mark[] = " -> worker ";
	uint32_t n = 0;

	while ((text = strstr(text, mark))) {
		assert_true(n < PACKETS_MAX);
		text += strlen(mark);
		workers[n++] = (weir_worker_id)strtoul(text, NULL, 10);
	}
	return n;
}

static void
finish_nothing(void *context, void *const *packets, const struct weir_verdict *verdicts, uint32_t n,
	weir_worker_id worker)
{
	(void)context;
	(void)packets;
	(void)verdicts;
	(void)n;
	(void)worker;
}

/* A dispatcher by hand: every worker has done all it has before the next packet. */
struct hand {
	struct weir_pool *pool;
	struct weir_dispatcher *dispatcher;
	struct weir_flow_config flow;
};

static struct hand
hand_create(const char *strategy)
{
	struct weir_config config = weir_config_default();
	struct hand hand = { .flow = weir_flow_config_default() };

	config.n_workers = 5;
	config.strategy = strategy;
	config.order = WEIR_ORDER_FLOW;
	config.seed = 1;
	hand.pool = weir_pool_create(&config, NULL);
	assert_non_null(hand.pool);
	hand.dispatcher = weir_dispatcher_create(hand.pool, 0, finish_nothing, NULL);
	assert_non_null(hand.dispatcher);
	assert_int_equal(
		weir_hash_key_parse("000102030405060708090a0b0c0d0e0f", &hand.flow.hash_key), 0);
	return hand;
}

static weir_worker_id
hand_dispatch(struct hand *hand, const u_char *data, const struct pcap_pkthdr *header)
{
	const struct weir_verdict verdict = weir_verdict_consumed();
	struct weir_meta meta = { .length = header->len, .segment_length = header->caplen };
	void *packet = &meta;
	weir_worker_id worker;
	const struct weir_burst burst = {
		.packets = &packet, .meta = &meta, .n = 1, .workers = &worker
	};
	struct weir_packet taken;

	weir_flow_classify(&hand->flow, data, header->caplen, &meta);
	assert_int_equal(weir_dispatch(hand->dispatcher, &burst), 1);
	assert_int_equal(weir_take(weir_pool_worker(hand->pool, worker), &taken, 1), 1);
	weir_complete(weir_pool_worker(hand->pool, worker), &verdict, 1);
	return worker;
}

static void
hand_destroy(struct hand *hand)
{
	weir_harvest(hand->dispatcher);
	weir_dispatcher_destroy(hand->dispatcher);
	weir_pool_destroy(hand->pool);
}

/* Makes the capture. */
static void
traffic_write(const char *path)
{
	char line[512];

	snprintf(line, sizeof(line), "'%s' --packets 500 --flows 40 --seed 9 '%s' >/dev/null",
		getenv("WEIR_TRAFFIC"), path);
	assert_int_equal(system(line), 0);
}

static void
workers_are_those_that_the_library_names(void **state)
{
	static const char *const strategies[] = { "shallowest", "round-robin", "random",
		"rendezvous", "last" };
	char path[] = "/tmp/weir-why-XXXXXX.pcap";
	weir_worker_id workers[PACKETS_MAX];
	char error[PCAP_ERRBUF_SIZE];

	(void)state;
	close(mkstemps(path, 5));
	traffic_write(path);
	for (size_t s = 0; s < ARRAY_LENGTH(strategies); s++) {
		const char *const words[] = { path, "--workers", "5", "--strategy", strategies[s],
			"--service-ns", "0", NULL };
		struct hand hand = hand_create(strategies[s]);
		pcap_t *pcap = pcap_open_offline(path, error);
		struct pcap_pkthdr *header;
		const u_char *data;
		uint32_t n = 0;
		int status;
		char *text = why_read(words, &status);
		const uint32_t n_workers = workers_parse(text, workers);

		assert_int_equal(status, 0);
		assert_int_equal(n_workers, 500);
		assert_non_null(pcap);
		while (pcap_next_ex(pcap, &header, &data) == 1)
			assert_int_equal(hand_dispatch(&hand, data, header), workers[n++]);
		assert_int_equal(n, 500);
		pcap_close(pcap);
		hand_destroy(&hand);
		free(text);
	}
	unlink(path);
}

/* What a refused command line says. */
static void
assert_why_refused(const char *line, const char *expected)
{
	struct stderr_capture capture;
	char words[256], output[1024];
	char *argv[WORDS_MAX];
	char *rest = words;
	int argc = 0, status;

	snprintf(words, sizeof(words), "%s", line);
	while (line[0] && rest)
		argv[argc++] = strsep(&rest, " ");
	stderr_capture_start(&capture);
	status = why_main(argc, argv);
	stderr_capture_end(&capture, output, sizeof(output));
	assert_string_equal(output, expected);
	assert_int_equal(status, 2);
}

static void
what_makes_no_sense_is_refused_in_one_line(void **state)
{
	(void)state;
	assert_why_refused("", "weir: CAPTURE: allowed a file, or - for standard input\n");
	assert_why_refused("a b", "weir: b: one capture only, not a too\n");
	assert_why_refused(
		"a --rx-cores 2", "weir: --rx-cores: an option of weir, not of weir why\n");
	assert_why_refused("a --chunk=2", "weir: --chunk: an option of weir, not of weir why\n");
	assert_why_refused(
		"a --service 2", "weir: --service: no such option, did you mean --service-ns?\n");
	assert_why_refused("a -n", "weir: -n: no such option; weir why --help lists them\n");
	assert_why_refused("a --workers 0", "weir: --workers 0: allowed 1 to 256\n");
	assert_why_refused("a --summary=1", "weir: --summary 1: allowed no value\n");
	assert_why_refused(
		"a --sticky 5 --order none", "weir: --sticky 5: allowed 0 with --order none\n");
	assert_why_refused(
		"a --packets", "weir: --packets: needs a value, allowed 0 to 2^64 - 1\n");
	assert_why_refused("/absent", "weir: CAPTURE /absent: allowed a file that libpcap reads: "
				      "/absent: No such file or directory\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(workers_are_those_that_the_library_names),
		cmocka_unit_test(what_makes_no_sense_is_refused_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
