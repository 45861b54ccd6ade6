/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that come, go and die, as a model for spin: lanes, completion, harvest, pins, the hold,
 * reclaim, drain, and the next incarnation on the same lanes. README.md says what is checked, what
 * is left out, and which -D breaks which promise. Edges E1 ... E14: docs/architecture.md.
 */

#ifndef N_WORKERS
#define N_WORKERS 2
#endif
#ifndef PKTS_0
#define PKTS_0 3 /* packets that rx core 0 receives */
#endif
#ifndef PKTS_1
#define PKTS_1 1 /* and rx core 1 */
#endif
#ifndef DEATHS
#define DEATHS 1 /* workers are killed so often, at most */
#endif
#ifndef DRAINS
#define DRAINS 0 /* and told to drain so often */
#endif
#ifndef SLOTS
#define SLOTS 2 /* of a lane; a power of two */
#endif
#ifndef BURST
#define BURST 2 /* packets that a worker takes at once; up to 2 */
#endif

#define N_RX 2
#define N_LANES (N_RX * N_WORKERS)
#define N_PKTS (PKTS_0 + PKTS_1)
#define N_BUCKETS 2
#define NONE 255

#define LANE(r, w) ((r) * N_WORKERS + (w))
#define SLOT(l, seq) ((l) * SLOTS + (seq) % SLOTS)
/* The sequence bit above the index, such that the zeroed slots of a new lane hold nothing. */
#define PHASE(seq) (((seq) / SLOTS + 1) % 2)
#define BUCKET(p) ((p) % N_BUCKETS)
#define OF(r, b) ((r) * N_BUCKETS + (b))

/* ---- shared memory ---- */

/* Lane area: written by the rx core, read by the worker (E3). */
byte slot_packet[N_LANES * SLOTS];
bit slot_phase[N_LANES * SLOTS];
byte drain_at[N_LANES];		 /* E14 */
byte drain_incarnation[N_LANES]; /* E14; 0: none */

/* Worker area: written by the worker, read by the rx core. One word: both change at once (E2). */
byte completed[N_LANES];
byte in_process[N_LANES];
byte verdict[N_LANES * SLOTS]; /* the packet that it is of */

/* Where the rx core has reclaimed the lane up to, and of which incarnation (E13). */
byte position[N_LANES];
byte reclaimed[N_LANES];

/* The snapshot (E1), written by control in one piece; `news` is that an rx core has not seen it. */
mtype = { OPEN, END, RECLAIM };
mtype order[N_WORKERS];
byte order_incarnation[N_WORKERS];
bool order_clean[N_WORKERS]; /* with RECLAIM: it had drained */
bool routable[N_WORKERS];
bool news[N_RX];

/* Between control and worker: the command (E5), what the worker says (E4), and its death. */
bool told_to_drain[N_WORKERS];
bool is_begun[N_WORKERS];
bool is_ready[N_WORKERS];
bool is_killed[N_WORKERS];
bool is_gone[N_WORKERS]; /* the proof */
bool is_clean[N_WORKERS];
byte incarnation[N_WORKERS]; /* from 1 on */

/* ---- what an rx core keeps to itself ---- */

byte tail[N_LANES];
byte harvested[N_LANES];
bool is_pending[N_LANES];    /* to be reclaimed */
bool is_reclaiming[N_LANES]; /* at it: what is left is first .. end - 1 */
byte first[N_LANES];
byte end[N_LANES];
byte n_working[N_LANES]; /* of these, so many were in process */
mtype seen_order[N_LANES];
byte seen_incarnation[N_LANES];
bool seen_routable[N_LANES];
byte pin_worker[N_RX * N_BUCKETS];
byte pin_stamp[N_RX * N_BUCKETS]; /* 0: none; else one more than the packet's number */
byte hold[N_RX * N_PKTS];
byte n_hold[N_RX];
byte n_sealed[N_RX]; /* the first so many, by a reclaim that is going on */
byte held[N_RX * N_BUCKETS];
byte sealed[N_RX * N_BUCKETS]; /* of these */
byte n_received[N_RX];
byte n_ended[N_RX];
bool is_redelivered[N_PKTS];

/* ---- what is promised ---- */

bool is_ended[N_PKTS];
byte n_executed[N_PKTS];
byte newest_home[N_RX * N_BUCKETS]; /* one more than the packet's number */

#ifdef REDELIVER
#define EXECUTIONS_MAX 2
#else
#define EXECUTIONS_MAX 1
#endif

inline packet_end(core, packet)
{
	assert(!is_ended[packet]); /* none twice */
	is_ended[packet] = true;
	n_ended[core]++;
}

/* Comes home with a verdict: in the order of its bucket. */
inline packet_home(core, packet)
{
	packet_end(core, packet);
	assert(newest_home[OF(core, BUCKET(packet))] <= packet);
	newest_home[OF(core, BUCKET(packet))] = packet + 1;
}

/* Every packet is in one place. */
inline ledger_check(core)
{
	sum = n_ended[core] + n_hold[core];
	w = 0;
	do
	:: w < N_WORKERS ->
		if
		:: is_reclaiming[LANE(core, w)] -> sum = sum + end[LANE(core, w)] - first[LANE(core, w)]
		:: else -> sum = sum + tail[LANE(core, w)] - harvested[LANE(core, w)]
		fi;
		w++
	:: else -> break
	od;
	assert(sum == n_received[core]);
	sum = 0;
	w = 0
}

#include "rx_core.pml"

/* ---- the worker ---- */

#define IS_THERE(l, seq) (slot_phase[SLOT(l, seq)] == PHASE(seq))

/* E14: an end that was meant for an earlier incarnation ends nothing. */
#ifdef BUG_OLD_DRAIN_AT
#define LANE_IS_DRAINED(r) (drain_incarnation[LANE(r, me)] != 0 && drain_at[LANE(r, me)] == head[r])
#else
#define LANE_IS_DRAINED(r) \
	(drain_incarnation[LANE(r, me)] == incarnation[me] && drain_at[LANE(r, me)] == head[r])
#endif
#ifdef BUG_NO_DRAIN_AT
#define IS_DRAINED true
#else
#define IS_DRAINED (LANE_IS_DRAINED(0) && LANE_IS_DRAINED(1))
#endif

inline verdicts_write(lane, number)
{
	verdict[SLOT(lane, number)] = taken[0] + 1;
	if
	:: n > 1 -> verdict[SLOT(lane, number + 1)] = taken[1] + 1
	:: else
	fi
}

inline execute(packet)
{
	n_executed[packet]++;
	assert(n_executed[packet] <= EXECUTIONS_MAX)
}

/* E2: one word for both numbers, after the verdicts. */
inline progress_publish(lane, done, working)
{
	d_step {
		completed[lane] = done;
		in_process[lane] = working
	}
}

inline serve(core)
{
	atomic {
		IS_THERE(LANE(core, me), head[core]) ->
		taken[0] = slot_packet[SLOT(LANE(core, me), head[core])];
		n = 1
	}
	if
	:: atomic {
		BURST > 1 && IS_THERE(LANE(core, me), head[core] + 1) ->
		taken[1] = slot_packet[SLOT(LANE(core, me), head[core] + 1)];
		n = 2
	   }
	:: true
	fi;
#ifndef BUG_IN_PROCESS_LATE
	progress_publish(LANE(core, me), head[core], n);
#endif
	atomic { execute(taken[0]) }
	if
	:: atomic { n > 1 -> execute(taken[1]) }
	:: else
	fi;
#ifdef BUG_IN_PROCESS_LATE
	progress_publish(LANE(core, me), head[core], n);
#endif
#ifdef BUG_COMPLETED_FIRST
	progress_publish(LANE(core, me), head[core] + n, 0);
	atomic { verdicts_write(LANE(core, me), head[core]) }
#else
	atomic { verdicts_write(LANE(core, me), head[core]) }
	progress_publish(LANE(core, me), head[core] + n, 0);
#endif
	d_step {
		head[core] = head[core] + n;
		n = 0;
		taken[0] = 0;
		taken[1] = 0
	}
}

/* One process for all incarnations of a worker. It can be killed before any of its steps. */
proctype worker(byte me)
{
	byte head[N_RX], taken[2], n;

end_vacant:
	do
	:: is_begun[me] ->
		{
			d_step {
				is_begun[me] = false;
#ifdef BUG_WRONG_START
				head[0] = 0;
				head[1] = 0;
#else
				head[0] = completed[LANE(0, me)];
				head[1] = completed[LANE(1, me)];
#endif
				is_ready[me] = true /* E4 */
			}
end_idle:
			do
			:: serve(0)
			:: serve(1)
			:: atomic {
				told_to_drain[me] && IS_DRAINED &&
					!IS_THERE(LANE(0, me), head[0]) &&
					!IS_THERE(LANE(1, me), head[1]) ->
				is_clean[me] = true;
				break
			   }
			od
		} unless { is_killed[me] };
		atomic {
			is_begun[me] = false;
			head[0] = 0;
			head[1] = 0;
			taken[0] = 0;
			taken[1] = 0;
			n = 0;
			is_gone[me] = true
		}
	od
}

/* ---- control ---- */

mtype = { STARTING, READY, DRAINING, RECLAIMING };
mtype phase[N_WORKERS];
bool drain_wanted[N_WORKERS];

inline snapshot_publish()
{
	news[0] = true;
	news[1] = true
}

/* E13: an rx core that has not acknowledged may still look at the lane. */
#ifdef BUG_RESTART_EARLY
#define IS_RECLAIMED(w) (reclaimed[LANE(0, w)] == incarnation[w])
#else
#define IS_RECLAIMED(w) \
	(reclaimed[LANE(0, w)] == incarnation[w] && reclaimed[LANE(1, w)] == incarnation[w])
#endif

/* The control's side of a restart: progress words count from where the lanes were reclaimed. */
inline incarnation_begin(of_worker)
{
	incarnation[of_worker]++;
	is_gone[of_worker] = false;
	is_killed[of_worker] = false;
	is_clean[of_worker] = false;
	is_ready[of_worker] = false;
	told_to_drain[of_worker] = false;
	progress_publish(LANE(0, of_worker), position[LANE(0, of_worker)], 0);
	progress_publish(LANE(1, of_worker), position[LANE(1, of_worker)], 0);
	order[of_worker] = OPEN;
	order_incarnation[of_worker] = incarnation[of_worker];
	order_clean[of_worker] = false;
	phase[of_worker] = STARTING;
	snapshot_publish();
	is_begun[of_worker] = true
}

proctype control(byte w)
{
end_idle:
	do
	:: atomic {
		phase[w] == STARTING && is_ready[w] && !is_gone[w] ->
		routable[w] = true;
		phase[w] = READY;
		snapshot_publish()
	   }
	:: atomic {
		phase[w] == READY && drain_wanted[w] ->
		drain_wanted[w] = false;
		routable[w] = false;
		order[w] = END;
		phase[w] = DRAINING;
		told_to_drain[w] = true; /* E5 */
		snapshot_publish()
	   }
	:: atomic {
		is_gone[w] && phase[w] != RECLAIMING ->
		routable[w] = false;
		order[w] = RECLAIM;
		order_clean[w] = is_clean[w];
		phase[w] = RECLAIMING;
		snapshot_publish()
	   }
	:: atomic { phase[w] == RECLAIMING && IS_RECLAIMED(w) -> incarnation_begin(w) }
	od
}

/* Kills and orders, at any moment, up to so many; or fewer. */
proctype fate()
{
	byte n_deaths, n_drains;

	do
	:: atomic { n_deaths < DEATHS && !is_gone[0] && !is_killed[0] ->
		is_killed[0] = true; n_deaths++ }
#if N_WORKERS > 1
	:: atomic { n_deaths < DEATHS && !is_gone[1] && !is_killed[1] ->
		is_killed[1] = true; n_deaths++ }
#endif
	:: atomic { n_drains < DRAINS && phase[0] == READY && !drain_wanted[0] ->
		drain_wanted[0] = true; n_drains++ }
	:: break
	od
}

/* When nothing can move any more, nothing is left undone. */
proctype judge()
{
	byte w;

	timeout;
	assert(n_ended[0] == PKTS_0 && n_ended[1] == PKTS_1);
	do
	:: w < N_WORKERS -> assert(phase[w] == READY); w++
	:: else -> break
	od
}

init
{
	byte w;

	atomic {
		do
		:: w < N_WORKERS ->
			incarnation[w] = 1;
			order[w] = OPEN;
			order_incarnation[w] = 1;
			routable[w] = true;
			phase[w] = READY;
			is_begun[w] = true;
			seen_order[LANE(0, w)] = OPEN;
			seen_order[LANE(1, w)] = OPEN;
			seen_incarnation[LANE(0, w)] = 1;
			seen_incarnation[LANE(1, w)] = 1;
			seen_routable[LANE(0, w)] = true;
			seen_routable[LANE(1, w)] = true;
			run worker(w);
			run control(w);
			w++
		:: else -> break
		od;
		run rx_core(0);
		run rx_core(1);
		run fate();
		run judge()
	}
}
