/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file descriptors that control waits for between its ticks: sockets, and pidfds of worker
 * processes. Each has a function that is called when there is something to read, or its other end
 * is gone. Control's own: no other thread adds, removes or waits.
 */
#ifndef WEIR_DATAPLANE_WATCH_H
#define WEIR_DATAPLANE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* A pidfd and a connection per worker, listeners and clients; with room to spare. */
#define WATCH_FDS_MAX 640

struct app;

/*
 * Called when `fd` is readable or hung up, once per wait for as long as it is: it must read, or
 * remove what it can't read. It may add and remove any descriptor, its own included.
 */
typedef void (*watch_fn)(struct app *app, int fd, void *context);

struct watch_entry {
	watch_fn fn; /* NULL: free */
	void *context;
	int fd;
	uint32_t turn; /* how often the entry was taken: an event of an earlier turn is void */
};

/* Zeroed: not open. */
struct watch {
	bool is_open;
	int epoll_fd;
	struct watch_entry entry[WATCH_FDS_MAX];
};

/* Opens the set of `app`, which is empty. Returns 0 or -errno. */
int watch_open(struct app *app);

/* Closes the set, not the descriptors in it. Accepts one that is not open. */
void watch_close(struct app *app);

/*
 * Adds a descriptor, which stays the caller's: to be removed before it is closed. Returns 0,
 * -EEXIST if it is watched already, -ENOSPC with WATCH_FDS_MAX watched, -EBADF without an open set,
 * or another -errno of epoll_ctl(2).
 */
int watch_add(struct app *app, int fd, watch_fn fn, void *context);

/* Takes a descriptor out; from here on its function is not called. Accepts one that is not in. */
void watch_remove(struct app *app, int fd);

/*
 * Waits for at most `timeout_ms`, or until a signal, and calls the functions of what is there.
 * Without an open set, just waits. Returns how many functions were called.
 */
uint32_t watch_wait(struct app *app, int timeout_ms);

#endif
