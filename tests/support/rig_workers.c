/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig's workers go, come back, pause and resume. Knows no reasons and no policies. */
#include "rig.h"
#include "test.h"

void
rig_kill(struct rig *rig, weir_worker_id id, const struct weir_departure *how)
{
	struct rig_worker *worker = &rig->worker[id];

	assert_int_equal(weir_pool_worker_gone(rig->pool, id, how), 0);
	worker->is_gone = true;
	worker->n_taken = 0;
	worker->completed = 0;
	rig->has_gone = true;
	rig->waits_apart = true;
	rig->copies_move = true;
}

void
rig_restart(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_worker_restart(rig->pool, id), 0);
	assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_READY), 0);
	rig->worker[id].is_gone = false;
}

void
rig_start_all(struct rig *rig)
{
	for (weir_worker_id id = 0; id < rig->config.n_workers; id++) {
		if (weir_pool_worker_state(rig->pool, id, NULL) == WEIR_WORKER_STARTING)
			assert_int_equal(weir_pool_set_state(rig->pool, id, WEIR_WORKER_READY), 0);
	}
}

void
rig_pause(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_set_flags(rig->pool, id, WEIR_WORKER_PAUSED), 0);
	rig->worker[id].is_paused = true;
}

void
rig_resume(struct rig *rig, weir_worker_id id)
{
	assert_int_equal(weir_pool_set_flags(rig->pool, id, 0), 0);
	rig->worker[id].is_paused = false;
}
