/* SPDX-License-Identifier: BSD-3-Clause */
/* What Weir offers to a worker process. */
#ifndef WEIR_DATAPLANE_OFFER_H
#define WEIR_DATAPLANE_OFFER_H

#include <weir/packet.h>

struct app;
struct options;

/* Checks that offers can say what the options say. Returns 0, or -EINVAL after a refusal. */
int offer_check(const struct options *options);

/* Sends worker `id` its memory, as the pool has it now. Returns 0 or -errno. Control thread. */
int offer_send(const struct app *app, weir_worker_id id, int socket_fd);

#endif
