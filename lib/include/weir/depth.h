/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Depth: how much work a worker has that is not completed. Strategies never read another core's
 * memory; they read the dispatcher's mirror, which the harvest pass refreshes once per loop and to
 * which own hand-overs are added at once.
 */
#ifndef WEIR_DEPTH_H
#define WEIR_DEPTH_H

/** What counts as depth. */
enum weir_depth_mode {
	WEIR_DEPTH_OUTSTANDING = 0, /**< queued and in process (default) */
	WEIR_DEPTH_QUEUED = 1,	    /**< queued only: leaves out what the worker is working on */
};

#endif
