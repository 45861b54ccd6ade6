/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building and starting what moves packets: pool, handlers, dispatchers, rx cores, workers. Each
 * step has its undoing, which accepts a half-built app.
 */
#ifndef WEIR_DATAPLANE_LAUNCH_H
#define WEIR_DATAPLANE_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include <weir/weir.h>

struct app;
struct options;
struct worker_thread;

/* Creates the pool of workers. Returns 0, -EINVAL after a refusal, or -ENOMEM. */
int launch_pool(struct app *app);
void unlaunch_pool(struct app *app);

/*
 * Opens the handler of a worker's incarnation into its loop. Returns 0, or -errno with `error`
 * filled: value and what is allowed.
 */
int launch_handler_open(struct app *app, struct worker_thread *thread, weir_worker_id id,
	uint32_t incarnation, char *error, size_t error_bytes);

/* TSC cycles between two beats of a worker's heart. */
uint64_t launch_beat_cycles(const struct options *options);

/* Creates the rx cores, their dispatchers and queues. Returns 0, -EINVAL after a refusal, -errno.
 */
int launch_rx_cores(struct app *app);
void unlaunch_rx_cores(struct app *app);

/* Starts the loops: workers first, so that what is lent finds a taker. Returns 0 or -errno. */
int launch_loops(struct app *app);

#endif
