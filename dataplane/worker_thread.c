/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting and joining worker threads. Control's; the loop itself is in worker_loop.c. */
#include "worker_thread.h"

#include <errno.h>
#include <stdio.h>

#include "clock.h"

static void *
thread_run(void *argument)
{
	struct worker_thread *thread = argument;

	worker_loop_run(&thread->loop);
	return NULL;
}

int
worker_thread_start(struct worker_thread *thread, weir_worker_id id)
{
	pthread_attr_t attributes;
	cpu_set_t cpus;
	char name[20]; /* for any id; the kernel takes 16 bytes, which ids in use fit */
	int rc;

	CPU_ZERO(&cpus);
	CPU_SET(thread->cpu, &cpus);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	rc = pthread_create(&thread->thread, &attributes, thread_run, thread);
	pthread_attr_destroy(&attributes);
	if (rc != 0)
		return -rc;
	thread->started = true;
	snprintf(name, sizeof(name), "weir-worker%u", id);
	pthread_setname_np(thread->thread, name);
	rc = pthread_getcpuclockid(thread->thread, &thread->cpu_clock);
	/* Cannot be for a thread that is not joined; its time would then stand still. */
	if (rc != 0)
		thread->cpu_clock = CLOCK_REALTIME_COARSE;
	return 0;
}

bool
worker_thread_has_ended(struct worker_thread *thread)
{
	if (thread->started && pthread_tryjoin_np(thread->thread, NULL) == 0)
		thread->started = false;
	return !thread->started;
}

uint64_t
worker_thread_cpu_ns(const struct worker_thread *thread)
{
	return thread->started ? clock_read_ns(thread->cpu_clock) : 0;
}
