/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir worker`: a worker in a process of its own, without EAL. */
#ifndef WEIR_DATAPLANE_WORKER_MAIN_H
#define WEIR_DATAPLANE_WORKER_MAIN_H

/*
 * Runs the command; argv[0] is what follows its name. Exits, with status 0 once it was told to go
 * and its handler has done all it was asked to; with 2 if it was refused; with 1 for the rest.
 */
_Noreturn void worker_main(int argc, char **argv);

#endif
