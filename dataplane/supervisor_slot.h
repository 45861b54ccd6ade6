/* SPDX-License-Identifier: BSD-3-Clause */
/* What the supervisor's files share. Private to them. */
#ifndef WEIR_DATAPLANE_SUPERVISOR_SLOT_H
#define WEIR_DATAPLANE_SUPERVISOR_SLOT_H

#include "app.h"
#include "supervisor.h"

/* ---- supervisor.c: slots ---- */

struct worker_slot *slot_of(struct app *app, weir_worker_id id);

/* Tells a slot what has happened to its incarnation, and does what follows. */
void slot_tell(struct app *app, weir_worker_id id, enum weir_slot_event_kind kind);

/* Finds out whether what runs in a slot has ended, and what follows. */
void slot_look_for_end(struct app *app, weir_worker_id id);

/* Copies what others may see of a slot. */
void slot_show(struct worker_slot *slot);

/* ---- supervisor_body.c: what runs in a slot ---- */

/* Makes ready what can fail before an incarnation is begun. Returns 0, or -errno with `reason`. */
int body_prepare(struct app *app, weir_worker_id id, uint32_t incarnation, char *reason,
	size_t reason_bytes);

/* Starts what was prepared. Returns 0 or -errno. */
int body_start(struct app *app, weir_worker_id id);

/* Has control wake up when a process ends. */
void body_watch(struct app *app, weir_worker_id id);

/* Ends it by force: a process at once, a thread when it comes back from its handler. */
void body_end(struct app *app, weir_worker_id id);

/* Whether there is proof that it has ended; `is_clean`: as if it had nothing left. */
bool body_has_ended(struct app *app, weir_worker_id id, bool *is_clean);

/* CPU time that it has used, and whether the kernel has stopped it. */
uint64_t body_cpu_ns(const struct worker_slot *slot);
bool body_is_halted(const struct worker_slot *slot);

/* Closes the handler of a thread that has ended. */
void body_close(struct app *app, struct worker_slot *slot);

/* ---- supervisor_begin.c: incarnations ---- */

/*
 * Begins the next incarnation of a vacant slot, or with `process` that of a foreign process.
 * Returns 0, or -errno with `reason` filled.
 */
int slot_begin(struct app *app, weir_worker_id id, const struct worker_process *process,
	char *reason, size_t reason_bytes);

/* ---- supervisor_health.c ---- */

/* Judges a worker; sets and publishes its flags. */
void slot_judge(struct app *app, weir_worker_id id, uint64_t now_ns);

/* Publishes the flags that a worker has now. */
void slot_flag(struct app *app, weir_worker_id id, uint32_t flags);

/* Notes what a worker has that is gone, before any of it is taken back. */
void slot_count_departed(struct app *app, weir_worker_id id);

/* Packets that were lost with it, since then. */
uint64_t slot_crash_inflight(const struct app *app, weir_worker_id id);

/* Judges who is slow, once in a while. */
void service_judge(struct app *app, uint64_t now_ns);

/* ---- supervisor_say.c: one line for each turn in a worker's life ---- */

/* Something that the user may want to know; not with --quiet. */
void slot_note(const struct app *app, weir_worker_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Something that is wrong. */
void slot_warn(const struct app *app, weir_worker_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What follows from an event: `before` is the life before it. */
void slot_say_event(const struct app *app, weir_worker_id id, const struct weir_slot *before,
	enum weir_slot_event_kind kind);

#endif
