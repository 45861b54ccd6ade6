/* SPDX-License-Identifier: BSD-3-Clause */
/* weir: the program. Start-up is a table of stages; each has its undoing, run in reverse. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_version.h>

#include "app.h"
#include "control.h"
#include "eal_arguments.h"
#include "launch.h"
#include "mbuf_pool.h"
#include "option_handlers.h"
#include "outputs.h"
#include "pool_options.h"
#include "why.h"
#include "worker_main.h"

static struct app app;

/* Refused: -EINVAL, after a line. Failed: any other negative errno. */
struct stage {
	const char *name;
	bool explains; /* prints a better line than its name for each of its failures */
	int (*start)(struct app *app);
	void (*stop)(
		struct app *app); /* accepts what a failed start has left; NULL: nothing to do */
};

static int
seed_draw(uint64_t *seed)
{
	return getrandom(seed, sizeof(*seed), 0) == (ssize_t)sizeof(*seed) ? 0 : -errno;
}

/*
 * Draws what the user did not fix. The seed is printed and reported; the hash key never is, since
 * who knows it can make all flows meet in one bucket. To repeat a run, give --hash-key and --seed.
 */
static int
secrets_start(struct app *weir)
{
	struct options *options = &weir->options;
	int rc = 0;

	if (!options->seed_given)
		rc = seed_draw(&options->seed);
	if (rc == 0 && !options->hash_key_given)
		rc = weir_hash_key_random(&options->flow.hash_key);
	return rc;
}

static int
report_start(struct app *weir)
{
	int rc = weir->options.report ? report_probe(weir->options.report) : 0;

	if (rc < 0)
		return options_refuse("--report", weir->options.report,
			"a file that can be written: %s", strerror(-rc));
	return 0;
}

static int
dead_file_start(struct app *weir)
{
	const char *path = weir->options.dead_packets;
	const int rc = path ? dead_file_open(&weir->dead_file, path) : 0;

	if (rc < 0)
		return options_refuse(
			"--dead-packets", path, "a file that can be written: %s", strerror(-rc));
	return 0;
}

static void
dead_file_stop(struct app *weir)
{
	if (dead_file_close(&weir->dead_file) < 0)
		weir->sinks_failed = true;
}

static int
dead_file_start_writing(struct app *weir)
{
	const int rc = weir->dead_file.file ? dead_file_begin(&weir->dead_file) : 0;

	if (rc < 0)
		return options_refuse("--dead-packets", weir->options.dead_packets,
			"a file that can be written: %s", strerror(-rc));
	return 0;
}

static int
ports_start_configure(struct app *weir)
{
	return ports_configure(&weir->ports, &weir->options);
}

static void
ports_stop(struct app *weir)
{
	ports_close(&weir->ports);
}

/* Packets that one rx core can keep. */
static uint32_t
kept_pkts(const struct app *weir)
{
	const uint32_t holds = pool_options_dispatchers(&weir->options) * HOLD_SIZE_PKTS;

	return holds + weir->ports.n * TX_FIFO_PKTS;
}

static int
mbuf_pool_start(struct app *weir)
{
	int rc = mbuf_pool_create(&weir->mbuf_pool, &weir->packet_memory, &weir->options,
		&weir->ports, kept_pkts(weir));

	if (rc == 0)
		rc = copied_pool_create(&weir->copied_pool, &weir->options, &weir->ports);
	return rc;
}

static void
mbuf_pool_stop(struct app *weir)
{
	/* The ports go first: their queues hold buffers of the pool. */
	ports_close(&weir->ports);
	rte_mempool_free(weir->copied_pool);
	rte_mempool_free(weir->mbuf_pool);
	packet_memory_close(&weir->packet_memory);
	weir->copied_pool = NULL;
	weir->mbuf_pool = NULL;
}

/* Handlers that write get copies of their own, out of the mbuf pool: no lane holds more for that.
 */
static int
clone_pool_start(struct app *weir)
{
	if (!weir_pool_fans_out(weir->pool) || options_write_packets(&weir->options))
		return 0;
	return clone_pool_create(&weir->clone_pool, &weir->options, &weir->ports, kept_pkts(weir));
}

static void
clone_pool_stop(struct app *weir)
{
	/* The ports go first: their queues hold clones. */
	ports_close(&weir->ports);
	rte_mempool_free(weir->clone_pool);
	weir->clone_pool = NULL;
}

static int
ports_start_traffic(struct app *weir)
{
	int rc = ports_start(&weir->ports, &weir->options, weir->mbuf_pool, weir->copied_pool);

	if (rc == 0)
		ports_wait_link(&weir->ports, &weir->options);
	return rc;
}

static void
telemetry_end(struct app *weir)
{
	(void)weir;
	telemetry_stop();
}

/* A run ends its loops itself; this is for a start that failed half-way. */
static void
loops_end(struct app *weir)
{
	if (!weir->at_rest)
		control_drain(weir);
}

static const struct stage stages[] = {
	{ "what control waits for", false, watch_open, watch_close },
	{ "the control socket", false, control_socket_start, control_socket_stop },
	{ "the random numbers", false, secrets_start, NULL },
	{ "the report", false, report_start, NULL },
	{ "the dead packets", false, dead_file_start, dead_file_stop },
	{ "the ports", true, ports_start_configure, ports_stop },
	{ "the mbuf pool", true, mbuf_pool_start, mbuf_pool_stop },
	{ "the worker pool", true, launch_pool, unlaunch_pool },
	{ "the clones", true, clone_pool_start, clone_pool_stop },
	{ "the worker processes", true, worker_processes_arrange, NULL },
	{ "the workers", false, supervisor_open, supervisor_close },
	{ "the attach socket", true, attach_start, attach_stop },
	{ "the rx cores", false, launch_rx_cores, unlaunch_rx_cores },
	{ "the traffic", true, ports_start_traffic, NULL },
	{ "the handlers", false, supervisor_begin, NULL },
	{ "the dead packets' file", false, dead_file_start_writing, NULL },
	{ "the loops", false, launch_loops, loops_end },
	{ "telemetry", false, telemetry_start, telemetry_end },
};

#define N_STAGES (sizeof(stages) / sizeof(stages[0]))

static void
stage_say_failed(const struct stage *stage, int rc)
{
	if (rc != -EINVAL && !stage->explains)
		fprintf(stderr, "weir: cannot start %s: %s\n", stage->name, strerror(-rc));
}

/* Starts every stage; on a failure undoes those before it. Returns 0 or -errno, after a line. */
static int
stages_start(struct app *weir)
{
	for (size_t i = 0; i < N_STAGES; i++) {
		const int rc = stages[i].start(weir);

		if (rc == 0)
			continue;
		stage_say_failed(&stages[i], rc);
		for (size_t j = i + 1; j-- > 0;) {
			if (stages[j].stop)
				stages[j].stop(weir);
		}
		return rc;
	}
	return 0;
}

static void
stages_stop(struct app *weir)
{
	for (size_t i = N_STAGES; i-- > 0;) {
		if (stages[i].stop)
			stages[i].stop(weir);
	}
}

static void
intro_print(const struct app *weir)
{
	const struct options *options = &weir->options;

	if (options->quiet)
		return;
	printf("weir %s: %u rx core%s, %u workers, strategy %s%s%s, %u rules, order %s, overflow "
	       "%s, seed %" PRIu64 "\n",
		WEIR_VERSION, options->rx_cores, options->rx_cores == 1 ? "" : "s",
		options->workers, options->strategy, options->fallback ? "," : "",
		options->fallback ? options->fallback : "", options->n_rules, options->order,
		options->overflow, options->seed);
	strategies_print(&options->strategies, stdout);
	handlers_print_loaded(&options->handlers_loaded, stdout);
	fflush(stdout);
}

/* The last words of a run. Returns whether all of them could be said. */
static bool
run_conclude(struct app *weir)
{
	int rc = 0;

	if (!weir->options.quiet)
		table_print(stdout, weir, NULL, &weir->status);
	if (weir->options.report)
		rc = report_write(weir->options.report, weir, &weir->status);
	if (rc < 0)
		fprintf(stderr, "weir: --report %s: %s\n", weir->options.report, strerror(-rc));
	strategies_print_strays(&weir->options.strategies, stderr);
	if (!weir->status.ledger_ok)
		fprintf(stderr, "weir: the ledger does not balance: gap of %" PRId64 " packets\n",
			weir_ledger_gap(&weir->status.ledger));
	return rc == 0;
}

/* A stuck worker still uses the memory that a tidy end would take away. */
static _Noreturn void
run_abandon(struct app *weir, bool concluded)
{
	supervisor_close(weir);
	dead_file_stop(weir);
	control_socket_stop(weir);
	attach_stop(weir);
	/* Not every stream: a stuck sink holds the lock of its own. */
	fflush(stdout);
	fflush(stderr);
	_exit(status_exit(&weir->status, concluded && !weir->sinks_failed));
}

/* Runs a configured Weir to its end. Returns the exit status. */
static int
weir_run(struct app *weir)
{
	bool concluded;
	int rc = stages_start(weir);

	if (rc < 0)
		return rc == -EINVAL ? EXIT_STATUS_REFUSED : EXIT_STATUS_FAILED;
	intro_print(weir);
	control_run(weir);
	control_drain(weir);
	concluded = run_conclude(weir);
	if (weir->n_stuck > 0)
		run_abandon(weir, concluded);
	stages_stop(weir);
	return status_exit(&weir->status, concluded && !weir->sinks_failed);
}

/*
 * A failure of rte_eal_init, which leaves no errno for some: that of the lock that another process
 * has on this file prefix is one. Returns -errno, after a line.
 */
static int
eal_fail(int eal_errno)
{
	if (eal_errno > 0)
		fprintf(stderr,
			"weir: EAL does not start: %s (without hugepages: --no-huge -m 256)\n",
			rte_strerror(eal_errno));
	else
		fprintf(stderr, "weir: EAL does not start: see its messages; another weir may be "
				"running with this file prefix: give each its own --file-prefix\n");
	return eal_errno > 0 ? -eal_errno : -EIO;
}

/*
 * Takes EAL's lcores. EAL checks its own options: what it refuses is refused here too.
 * Returns 0, -EINVAL after a refusal, or another -errno after a line.
 */
static int
eal_start(struct app *weir, struct eal_arguments *arguments)
{
	char lcores[TOPOLOGY_LCORES_BYTES];
	cpu_set_t allowed;
	int eal_errno;
	int rc = topology_read_cpus(&allowed);

	if (rc == 0)
		rc = topology_check_worker_cpus(&weir->options, &allowed);
	if (rc < 0)
		return rc;
	topology_choose_lcores(&weir->topology, &weir->options, &allowed);
	topology_format_lcores(&weir->topology, lcores, sizeof(lcores));
	rc = eal_arguments_build(arguments, lcores);
	if (rc < 0)
		return eal_fail(-rc);
	rte_errno = 0;
	rc = rte_eal_init(arguments->argc, arguments->argv);
	eal_errno = rte_errno;
	eal_arguments_free(arguments);
	if (rc < 0)
		return eal_fail(eal_errno);
	if (arguments->has_core_option)
		rc = topology_adopt_lcores(&weir->topology, &weir->options);
	if (rc >= 0)
		topology_place_workers(&weir->topology, &weir->options, &allowed);
	return rc < 0 ? rc : 0;
}

static int
version_print(void)
{
	printf("weir %s (%s)\n", WEIR_VERSION, rte_version());
	return EXIT_STATUS_OK;
}

static int
usage_print(void)
{
	options_print_usage(stdout);
	return EXIT_STATUS_OK;
}

/* EAL would get a closed one of the three for its shared files, and tables would go into them. */
static void
streams_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(EXIT_STATUS_FAILED);
	}
}

int
main(int argc, char **argv)
{
	struct eal_arguments arguments;
	int status;
	int rc;

	streams_open();
	if (argc > 1 && strcmp(argv[1], "why") == 0)
		return why_main(argc - 2, argv + 2);
	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		worker_main(argc - 2, argv + 2);
	rc = eal_arguments_split(&arguments, argc, argv);
	if (rc < 0)
		return EXIT_STATUS_REFUSED;
	if (arguments.help)
		return usage_print();
	if (arguments.version)
		return version_print();
	rc = options_parse(&app.options, arguments.options_argc, arguments.options_argv);
	app.settings = (struct settings) {
		.n_words = arguments.options_argc,
		.words = arguments.options_argv,
		.first = app.options,
	};
	if (rc < 0)
		return rc == -EINVAL ? EXIT_STATUS_REFUSED : EXIT_STATUS_FAILED;
	if (app.options.help)
		return usage_print();
	if (app.options.version)
		return version_print();
	if (control_catch_signals() < 0)
		return EXIT_STATUS_FAILED;
	rc = eal_start(&app, &arguments);
	if (rc < 0)
		return rc == -EINVAL ? EXIT_STATUS_REFUSED : EXIT_STATUS_FAILED;
	status = weir_run(&app);
	rte_eal_cleanup();
	settings_free(&app.settings);
	return status;
}
