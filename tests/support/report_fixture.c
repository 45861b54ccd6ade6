/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void
status_fill(struct report_fixture *f)
{
	struct status *s = f->status;

	s->time_ns = UINT64_C(12345678901);
	s->at_rest = true;
	s->ledger_ok = true;
	s->rejected = 101;
	s->routed = 102;
	s->moves = 103;
	s->skew.alarms = 104;
	s->sent = 103;
	s->tx_dropped = 104;
	s->depth_visits = 105;
	s->line_reads = 106;
	s->missed = 107;
	s->captured = 108;
	s->capture_lost = 109;
	s->urgent = 110;
	s->restarts = 111;
	s->crashes = 112;
	s->mbufs = (struct status_mbufs) { .total = 113, .free_at_start = 114, .free = 115 };
	for (uint32_t i = 0; i < WEIR_FLOW_REASON_COUNT; i++)
		s->flow[i] = 200 + i;
	s->n_queues = FIXTURE_QUEUES;
	s->n_rx = FIXTURE_RX_CORES;
	s->n_workers = FIXTURE_WORKERS;
	s->queue = f->queue;
	for (uint32_t i = 0; i < FIXTURE_QUEUES; i++)
		s->queue[i] = (struct status_queue) {
			.rx_core = i % FIXTURE_RX_CORES,
			.port = (uint16_t)(300 + i),
			.queue = (uint16_t)(310 + i),
			.received = 320 + i,
			.missed = 330 + i,
		};
	for (uint32_t i = 0; i < FIXTURE_RX_CORES; i++)
		s->rx[i] = (struct status_rx) {
			.lcore = 400 + i,
			.received = 410 + i,
			.received_bytes = 420 + i,
			.rejected = 430 + i,
			.routed = 440 + i,
			.held = 450 + i,
			.in_lanes = 460 + i,
			.sent = 470 + i,
			.depth_visits = 480 + i,
			.line_reads = 490 + i,
			.loops = 500 + i,
			.missed = 510 + i,
			.urgent = 520 + i,
			.loop_max_ns = 530 + i,
		};
	for (uint32_t i = 0; i < FIXTURE_WORKERS; i++) {
		s->worker[i] = (struct status_worker) {
			.cpu = 600 + i,
			.received = 610 + i,
			.completed = 620 + i,
			.lent = 630 + i,
			.depth = 640 + i,
			.max_depth = 650 + i,
			.depth_alarms = 660 + i,
			.overflow_alarms = 670 + i,
			.urgent = 680 + i,
			.phase = WEIR_SLOT_READY,
			.incarnation = 690 + i,
			.restarts = 700 + i,
			.crashes = 710 + i,
			.pid = 720 + i,
			.busy_ratio = 0.1 * i,
		};
		for (uint32_t r = 0; r < WEIR_REASON_COUNT; r++)
			s->worker[i].dropped[r] = 1000 + 100 * i + r;
	}
}

/* Terms that balance, with something in each. */
static void
ledger_fill(struct weir_ledger *ledger)
{
	*ledger =
		(struct weir_ledger) { .copies = 7, .completed = 5000, .held = 11, .in_lanes = 13 };
	for (uint32_t r = 0; r < WEIR_REASON_COUNT; r++)
		ledger->dropped[r] = 20 + r;
	ledger->received = ledger->completed + weir_ledger_dropped(ledger) + ledger->held +
			   ledger->in_lanes - ledger->copies;
}

int
report_fixture_create(void **state)
{
	struct report_fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strcpy(f->folder, "/tmp/weir-test-report-XXXXXX");
	if (!mkdtemp(f->folder) || chmod(f->folder, 0755) < 0)
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/r.json", f->folder);
	f->app.options = (struct options) {
		.strategy = "shallowest",
		.order = "none",
		.overflow = "drop-new",
		.lane_size = 701,
		.burst = 702,
		.chunk = 703,
		.sticky_usec = 706,
		.flow_hash = FLOW_HASH_AUTO,
		.flow = { .depth = WEIR_FLOW_OUTER,
			.nesting_max = 707,
			.tunnel_port = { 710, 711, 712, 713, 714 } },
		.seed = 704,
		.handlers = { "forward", "1=wait:9" },
		.n_handlers = 2,
	};
	f->app.n_stuck = 705;
	f->status = &f->app.status;
	f->ledger = &f->status->ledger;
	status_fill(f);
	ledger_fill(f->ledger);
	*state = f;
	return 0;
}

int
report_fixture_destroy(void **state)
{
	struct report_fixture *f = *state;

	unlink(f->path);
	if (rmdir(f->folder) < 0) {
		print_error("%s: a file was left behind: %s\n", f->folder, strerror(errno));
		return -1;
	}
	free(f);
	return 0;
}
