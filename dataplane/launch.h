/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building and starting what moves packets: pool, handlers, dispatchers, rx cores, workers. Each
 * step has its undoing, which accepts a half-built app.
 */
#ifndef WEIR_DATAPLANE_LAUNCH_H
#define WEIR_DATAPLANE_LAUNCH_H

struct app;

/* Creates the pool of workers. Returns 0, -EINVAL after a refusal, or -ENOMEM. */
int launch_pool(struct app *app);
void unlaunch_pool(struct app *app);

/* Creates the workers and opens their handlers. Returns 0, -EINVAL after a refusal, or -errno. */
int launch_workers(struct app *app);

/* Closes the handlers; one that failed is named on stderr and noted in the app. */
void unlaunch_workers(struct app *app);

/* Creates the rx cores, their dispatchers and queues. Returns 0, -EINVAL after a refusal, -errno.
 */
int launch_rx_cores(struct app *app);
void unlaunch_rx_cores(struct app *app);

/* Lets the handlers begin. Returns 0, or -EINVAL after a refusal. */
int launch_handlers(struct app *app);

/* Starts the loops: workers first, so that what is lent finds a taker. Returns 0 or -errno. */
int launch_loops(struct app *app);

#endif
