/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx core of the model lifecycle.pml, which includes this: it takes packets in, lends them,
 * brings them home, keeps what must wait, and reclaims the lanes of workers that are gone.
 */

inline hold_insert(core, place, packet)
{
	i = n_hold[core];
	do
	:: i > place -> hold[core * N_PKTS + i] = hold[core * N_PKTS + i - 1]; i--
	:: else -> break
	od;
	hold[core * N_PKTS + place] = packet;
	n_hold[core]++;
	held[OF(core, BUCKET(packet))]++;
	i = 0
}

inline hold_take(core, place)
{
	held[OF(core, BUCKET(hold[core * N_PKTS + place]))]--;
	n_hold[core]--;
	i = place;
	do
	:: i < n_hold[core] -> hold[core * N_PKTS + i] = hold[core * N_PKTS + i + 1]; i++
	:: else -> break
	od;
	hold[core * N_PKTS + i] = 0;
	i = 0
}

/* Whether the bucket's last packet is not home: it is among those that are out. */
#define PIN_IS_OUT(r, b) \
	(pin_stamp[OF(r, b)] > harvested[LANE(r, pin_worker[OF(r, b)])] && \
		pin_stamp[OF(r, b)] <= tail[LANE(r, pin_worker[OF(r, b)])])
#define HAS_ROOM(r, w) \
	(seen_routable[LANE(r, w)] && tail[LANE(r, w)] - harvested[LANE(r, w)] < SLOTS)
#define MAY_GO_TO(r, b, w) \
	(HAS_ROOM(r, w) && (!PIN_IS_OUT(r, b) || pin_worker[OF(r, b)] == (w)))

/* E3: the slot is one store, and the packet is behind it from then on. */
inline lend(core, of_worker, packet)
{
	slot_packet[SLOT(LANE(core, of_worker), tail[LANE(core, of_worker)])] = packet;
	slot_phase[SLOT(LANE(core, of_worker), tail[LANE(core, of_worker)])] =
		PHASE(tail[LANE(core, of_worker)]);
	tail[LANE(core, of_worker)]++;
	pin_worker[OF(core, BUCKET(packet))] = of_worker;
	pin_stamp[OF(core, BUCKET(packet))] = tail[LANE(core, of_worker)]
}

/* E2: what is completed comes home. A word that is not in range is not believed. */
inline harvest(core, of_worker)
{
	if
	:: completed[LANE(core, of_worker)] <= tail[LANE(core, of_worker)] ->
		do
		:: harvested[LANE(core, of_worker)] < completed[LANE(core, of_worker)] ->
			p = slot_packet[SLOT(LANE(core, of_worker), harvested[LANE(core, of_worker)])];
			assert(verdict[SLOT(LANE(core, of_worker), harvested[LANE(core, of_worker)])] == p + 1);
			packet_home(core, p);
			harvested[LANE(core, of_worker)]++
		:: else -> break
		od
	:: else
	fi;
	p = 0
}

/* E1: the snapshot is one pointer. A new order is carried out once. */
inline snapshot_adopt(core)
{
	news[core] = false;
	w = 0;
	do
	:: w < N_WORKERS ->
		seen_routable[LANE(core, w)] = routable[w];
		if
		:: seen_order[LANE(core, w)] != order[w] ||
			seen_incarnation[LANE(core, w)] != order_incarnation[w] ->
			seen_order[LANE(core, w)] = order[w];
			seen_incarnation[LANE(core, w)] = order_incarnation[w];
			if
			:: order[w] == RECLAIM -> is_pending[LANE(core, w)] = true
			:: order[w] == END ->
				/* E14: who drains is not routable, so nothing comes behind. */
				drain_at[LANE(core, w)] = tail[LANE(core, w)];
				drain_incarnation[LANE(core, w)] = order_incarnation[w]
			:: else
			fi
		:: else
		fi;
		w++
	:: else -> break
	od;
	w = 0
}

/* The worker is gone (E4): its last word is out. */
inline reclaim_begin(core, of_worker)
{
	harvest(core, of_worker);
	is_reclaiming[LANE(core, of_worker)] = true;
	first[LANE(core, of_worker)] = harvested[LANE(core, of_worker)];
	end[LANE(core, of_worker)] = tail[LANE(core, of_worker)];
	n_working[LANE(core, of_worker)] = 0;
	if
	:: completed[LANE(core, of_worker)] == harvested[LANE(core, of_worker)] ->
		n_working[LANE(core, of_worker)] = in_process[LANE(core, of_worker)]
	:: else
	fi;
	/* Who has drained has nothing left. */
	assert(!order_clean[of_worker] || first[LANE(core, of_worker)] == end[LANE(core, of_worker)]);
#ifdef BUG_HARVESTED_EARLY
	harvested[LANE(core, of_worker)] = tail[LANE(core, of_worker)];
#endif
}

inline requeue(core, packet)
{
#if defined(BUG_LOSES)
	skip
#elif defined(BUG_BEHIND)
	hold_insert(core, n_hold[core], packet)
#else
	hold_insert(core, 0, packet);
	n_sealed[core]++;
	sealed[OF(core, BUCKET(packet))]++
#endif
}

/* From the newest on, each before the last one: so they come to stand in order, and sealed. */
inline reclaim_one(core, of_worker)
{
	end[LANE(core, of_worker)]--;
	p = slot_packet[SLOT(LANE(core, of_worker), end[LANE(core, of_worker)])];
	if
	:: end[LANE(core, of_worker)] >= first[LANE(core, of_worker)] + n_working[LANE(core, of_worker)] ->
		requeue(core, p)
	:: else ->
#ifdef REDELIVER
		if
		:: !is_redelivered[p] ->
			is_redelivered[p] = true;
			requeue(core, p)
		:: else -> packet_end(core, p)
		fi
#else
		packet_end(core, p) /* crash_inflight */
#endif
	fi;
	p = 0
}

/* Only now are the pins of these buckets free. E13: the next incarnation begins here. */
inline reclaim_end(core, of_worker)
{
	harvested[LANE(core, of_worker)] = tail[LANE(core, of_worker)];
	is_reclaiming[LANE(core, of_worker)] = false;
	is_pending[LANE(core, of_worker)] = false;
	first[LANE(core, of_worker)] = 0;
	end[LANE(core, of_worker)] = 0;
	n_working[LANE(core, of_worker)] = 0;
	n_sealed[core] = 0;
	sealed[OF(core, 0)] = 0;
	sealed[OF(core, 1)] = 0;
#ifndef BUG_NO_REPORT
	position[LANE(core, of_worker)] = tail[LANE(core, of_worker)];
	reclaimed[LANE(core, of_worker)] = seen_incarnation[LANE(core, of_worker)]
#else
	skip
#endif
}

#define RECLAIM_IS_ON(r) (is_reclaiming[LANE(r, 0)] || is_reclaiming[LANE(r, N_WORKERS - 1)])
#define ANY_MAY_GO(r, b) (MAY_GO_TO(r, b, 0) || MAY_GO_TO(r, b, N_WORKERS - 1))

/* An arrival joins the hold where others of its bucket wait, or if nobody takes it now. */
#ifdef BUG_OVERTAKES
#define MUST_WAIT(r, b) (!ANY_MAY_GO(r, b))
#else
#define MUST_WAIT(r, b) (held[OF(r, b)] > 0 || !ANY_MAY_GO(r, b))
#endif

#define HAS_UNSEALED(r, b) (held[OF(r, b)] > sealed[OF(r, b)])

/* To any worker that may have it; there is one. */
inline send(core, packet)
{
	if
	:: MAY_GO_TO(core, BUCKET(packet), 0) -> to = 0
	:: MAY_GO_TO(core, BUCKET(packet), N_WORKERS - 1) -> to = N_WORKERS - 1
	fi;
	lend(core, to, packet);
	to = 0
}

/* The hold pass: the first packet of a bucket that is not sealed goes. */
inline hold_serve(core, bucket)
{
	at = n_sealed[core];
	do
	:: BUCKET(hold[core * N_PKTS + at]) != bucket -> at++
	:: else -> break
	od;
	p = hold[core * N_PKTS + at];
	hold_take(core, at);
	send(core, p);
	at = 0;
	p = 0
}

proctype rx_core(byte me)
{
	byte i, p, w, sum, at, to;
	byte total = (me == 0 -> PKTS_0 : PKTS_1);
	byte base = (me == 0 -> 0 : PKTS_0);

end_idle:
	do
	:: atomic { news[me] -> snapshot_adopt(me) }
	:: atomic {
		n_received[me] < total ->
		at = base + n_received[me];
		n_received[me]++;
		if
		:: MUST_WAIT(me, BUCKET(at)) -> hold_insert(me, n_hold[me], at)
		:: else ->
			send(me, at)
		fi;
		at = 0;
		ledger_check(me)
	   }
	:: atomic {
		completed[LANE(me, 0)] > harvested[LANE(me, 0)] && !is_reclaiming[LANE(me, 0)] ->
		harvest(me, 0);
		ledger_check(me)
	   }
#if N_WORKERS > 1
	:: atomic {
		completed[LANE(me, 1)] > harvested[LANE(me, 1)] && !is_reclaiming[LANE(me, 1)] ->
		harvest(me, 1);
		ledger_check(me)
	   }
#endif
	/* One lane after the other, a packet a step. */
	:: atomic {
		is_pending[LANE(me, 0)] && !RECLAIM_IS_ON(me) ->
		reclaim_begin(me, 0);
		ledger_check(me)
	   }
#if N_WORKERS > 1
	:: atomic {
		is_pending[LANE(me, 1)] && !RECLAIM_IS_ON(me) ->
		reclaim_begin(me, 1);
		ledger_check(me)
	   }
#endif
	:: atomic {
		RECLAIM_IS_ON(me) ->
		to = (is_reclaiming[LANE(me, 0)] -> 0 : N_WORKERS - 1);
		if
		:: end[LANE(me, to)] > first[LANE(me, to)] -> reclaim_one(me, to)
		:: else -> reclaim_end(me, to)
		fi;
		to = 0;
		ledger_check(me)
	   }
	:: atomic {
		HAS_UNSEALED(me, 0) && ANY_MAY_GO(me, 0) ->
		hold_serve(me, 0);
		ledger_check(me)
	   }
	:: atomic {
		HAS_UNSEALED(me, 1) && ANY_MAY_GO(me, 1) ->
		hold_serve(me, 1);
		ledger_check(me)
	   }
	od
}
