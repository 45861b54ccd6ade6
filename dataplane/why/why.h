/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir why CAPTURE`: replays a capture through the library's own dispatcher and tells why each
 * packet went where it went. Runs before EAL would start, and without it.
 *
 *   capture.c       the file                       flow_table.c    flows by key
 *   replay.c        pool, workers' virtual time    census.c        what is counted
 *   packet_lines.c  the lines of one packet        cause.c         why a worker got too much
 *   summary.c       the lines at the end           why.c           the command
 */
#ifndef WEIR_DATAPLANE_WHY_H
#define WEIR_DATAPLANE_WHY_H

/* Runs the command; argv[0] is the first word behind `why`. Returns the exit status. */
int why_main(int argc, char **argv);

#endif
