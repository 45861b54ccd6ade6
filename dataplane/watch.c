/* SPDX-License-Identifier: BSD-3-Clause */
/* An epoll set. Level-triggered: who leaves something unread is called again. */
#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "app.h"

/* Served by one wait; more wait for the next one, so that no flood keeps control here. */
#define EVENTS_MAX 64

int
watch_open(struct app *app)
{
	const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	if (epoll_fd < 0)
		return -errno;
	app->watch = (struct watch) { .is_open = true, .epoll_fd = epoll_fd };
	return 0;
}

void
watch_close(struct app *app)
{
	if (!app->watch.is_open)
		return;
	close(app->watch.epoll_fd);
	app->watch.is_open = false;
}

static struct watch_entry *
entry_find(struct watch *watch, int fd)
{
	for (uint32_t i = 0; i < WATCH_FDS_MAX; i++) {
		if (watch->entry[i].fn && watch->entry[i].fd == fd)
			return &watch->entry[i];
	}
	return NULL;
}

static struct watch_entry *
entry_find_free(struct watch *watch)
{
	for (uint32_t i = 0; i < WATCH_FDS_MAX; i++) {
		if (!watch->entry[i].fn)
			return &watch->entry[i];
	}
	return NULL;
}

int
watch_add(struct app *app, int fd, watch_fn fn, void *context)
{
	struct watch *watch = &app->watch;
	struct watch_entry *entry = entry_find_free(watch);
	struct epoll_event event = { .events = EPOLLIN };

	if (!watch->is_open)
		return -EBADF;
	if (entry_find(watch, fd))
		return -EEXIST;
	if (!entry)
		return -ENOSPC;
	event.data.u64 = (uint64_t)(entry->turn + 1) << 32 | (uint32_t)(entry - watch->entry);
	if (epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	*entry = (struct watch_entry) {
		.fn = fn,
		.context = context,
		.fd = fd,
		.turn = entry->turn + 1,
	};
	return 0;
}

void
watch_remove(struct app *app, int fd)
{
	struct watch_entry *entry = entry_find(&app->watch, fd);

	if (!entry)
		return;
	epoll_ctl(app->watch.epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	entry->fn = NULL;
}

/* An earlier event of the same wait may have removed, or replaced, what this one is about. */
static bool
event_serve(struct app *app, const struct epoll_event *event)
{
	const struct watch_entry entry = app->watch.entry[(uint32_t)event->data.u64];

	if (!entry.fn || entry.turn != event->data.u64 >> 32)
		return false;
	entry.fn(app, entry.fd, entry.context);
	return true;
}

uint32_t
watch_wait(struct app *app, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	uint32_t n_served = 0;
	int n;

	if (!app->watch.is_open) {
		poll(NULL, 0, timeout_ms);
		return 0;
	}
	n = epoll_wait(app->watch.epoll_fd, events, EVENTS_MAX, timeout_ms);
	for (int i = 0; i < n; i++)
		n_served += event_serve(app, &events[i]);
	return n_served;
}
