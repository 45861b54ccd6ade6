/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-traffic: writes a capture of made-up traffic. A packet's bytes depend on its flow alone, its
 * place in the file on the schedule, and both on the options and the seed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flows.h"
#include "options.h"
#include "output.h"
#include "rng.h"
#include "schedule.h"
#include "session.h"

enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_FAILED = 1,
	EXIT_STATUS_REFUSED = 2,
};

/* The first packet's: 2024-01-01 00:00:00 UTC, so that files do not depend on the clock. */
#define START_NS (UINT64_C(1704067200) * 1000000000)

struct traffic {
	const struct traffic_options *options;
	struct flow *flows;
	struct schedule schedule;
	struct session session;
	struct frame frame;
	uint64_t bytes; /* of frames, so far */
};

static struct traffic *
traffic_create(const struct traffic_options *options)
{
	struct traffic *traffic = calloc(1, sizeof(*traffic));

	if (traffic == NULL)
		return NULL;
	traffic->options = options;
	traffic->session.min_size_bytes = (uint32_t)options->min_size_bytes;
	traffic->session.max_size_bytes = (uint32_t)options->max_size_bytes;
	traffic->flows = flows_create(options);
	if (traffic->flows == NULL)
		goto free_traffic;
	if (schedule_create(&traffic->schedule, traffic->flows, (uint32_t)options->flows) != 0)
		goto free_flows;
	return traffic;

free_flows:
	free(traffic->flows);
free_traffic:
	free(traffic);
	return NULL;
}

static void
traffic_destroy(struct traffic *traffic)
{
	schedule_destroy(&traffic->schedule);
	free(traffic->flows);
	free(traffic);
}

/* Returns 0 or -errno. */
static int
traffic_write(struct traffic *traffic, struct output *output)
{
	const struct traffic_options *options = traffic->options;
	const uint64_t seed = rng_at(options->seed, 2);

	for (uint64_t i = 0; i < options->packets; i++) {
		const uint32_t flow = schedule_next(&traffic->schedule, rng_at(seed, i));
		const uint64_t time_ns = START_NS + i * 1000000000 / options->rate_pps;

		session_next(&traffic->session, &traffic->flows[flow], &traffic->frame);
		const int error =
			output_write(output, time_ns, traffic->frame.bytes, traffic->frame.length);

		if (error != 0)
			return error;
		traffic->bytes += traffic->frame.length;
	}
	return 0;
}

/* Opens, fills and completes the file. Returns 0 or -errno. */
static int
traffic_save(struct traffic *traffic)
{
	struct output output;
	int error = output_open(&output, traffic->options->output);

	if (error != 0)
		return error;
	error = traffic_write(traffic, &output);
	if (error != 0) {
		output_abandon(&output);
		return error;
	}
	return output_finish(&output);
}

int
main(int argc, char **argv)
{
	struct traffic_options options;

	if (options_parse(&options, argc, argv) != 0)
		return EXIT_STATUS_REFUSED;
	if (options.help) {
		options_print_usage(stdout);
		return EXIT_STATUS_OK;
	}
	struct traffic *traffic = traffic_create(&options);
	const int error = traffic ? traffic_save(traffic) : -ENOMEM;

	if (error != 0)
		(void)fprintf(stderr, "weir-traffic: %s: %s; capture not written\n", options.output,
			strerror(-error));
	else
		printf("%s: %ju packets of %ju flows, %ju bytes, seed %ju\n", options.output,
			(uintmax_t)options.packets, (uintmax_t)options.flows,
			(uintmax_t)traffic->bytes, (uintmax_t)options.seed);
	if (traffic != NULL)
		traffic_destroy(traffic);
	return error ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}
