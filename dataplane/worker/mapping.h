/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of an offer, mapped into a worker process. */
#ifndef WEIR_DATAPLANE_WORKER_MAPPING_H
#define WEIR_DATAPLANE_WORKER_MAPPING_H

#include <weir/lane.h>

#include "protocol.h"

/*
 * Maps the three files of an offer, so that no child has them, and closes them whatever comes of
 * it: lanes can then not be made writable any more. Files that could shrink under us are refused.
 * Returns 0 or -errno with `reason` filled and nothing mapped.
 */
int mapping_open(struct weir_worker_mapping *mapping, const struct worker_offer *offer,
	const int files[WORKER_FILE_COUNT], char reason[WORKER_REASON_BYTES]);

/* Undoes it. Accepts zeroed ones. */
void mapping_close(struct weir_worker_mapping *mapping);

#endif
