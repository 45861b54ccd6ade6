/* SPDX-License-Identifier: BSD-3-Clause */
/* The control core: watches, prints, decides when to stop. Sleeps between ticks. */
#ifndef WEIR_DATAPLANE_CONTROL_H
#define WEIR_DATAPLANE_CONTROL_H

struct app;

/*
 * Installs the handlers of SIGINT and SIGTERM: the first asks for a clean stop, the second exits at
 * once. Returns 0 or -errno.
 */
int control_catch_signals(void);

/* Whether a signal has asked for a stop. */
int control_stop_asked(void);

/*
 * Runs until something ends the run: a signal, a request, --duration, --packets, --exit-idle.
 */
void control_run(struct app *app);

/* Writes what rx cores have noted of dead packets to the file that they are for, if any. */
void control_drain_dead(struct app *app);

/*
 * Stops rx, waits until everything lent has come home (at most the drain timeout), then ends all
 * loops and writes off what is left. Afterwards the app is at rest.
 */
void control_drain(struct app *app);

#endif
