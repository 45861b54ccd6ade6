/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatcher's use of its hold: packets go in that must wait, and come out in their order. A
 * packet that may not go yet keeps its place in line, and those of its bucket behind it wait with
 * it, but no other bucket does. Entries for one worker wait for room in its lane only.
 *
 * The line has two parts. What was lent to a worker that is gone stands in `front`, before all of
 * `hold`: it is older than anything of its buckets there. Parts of their own, because what comes
 * into the front has later deadlines than what is behind it: each part is in the order of its
 * deadlines by itself, the hold from its head on, the front from its tail on.
 */
#include <assert.h>

#include "admission.h"

static void
held_count(struct weir_dispatcher *dispatcher)
{
	counter_set(&dispatcher->tally.held, weir_held(dispatcher));
}

/* One packet of a burst as a burst of its own. */
static struct weir_burst
burst_of_one(const struct weir_burst *burst, uint32_t i)
{
	return (struct weir_burst) {
		.packets = &burst->packets[i],
		.data = burst->data ? &burst->data[i] : NULL,
		.meta = &burst->meta[i],
		.n = 1,
	};
}

/*
 * Whether nothing more is taken from the caller while entry number `i` waits: its policy refuses,
 * and there is no room for it. A worker that has stopped is no reason, and neither is what such a
 * one has left behind.
 */
static bool
entry_refuses(const struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t i)
{
	const uint32_t index = hold_index(hold, i);

	return hold == &dispatcher->hold && hold->wants_room[index] &&
	       class_of(dispatcher, &hold->metadata[index])->policy->refuses;
}

void
refusing_recount(struct weir_dispatcher *dispatcher)
{
	const struct hold *hold = &dispatcher->hold;

	dispatcher->n_held_refusing = 0;
	for (uint32_t i = 0; i < hold_count(hold); i++)
		dispatcher->n_held_refusing += entry_refuses(dispatcher, hold, i);
}

/* What entry number `i` waits for is known anew. */
static void
entry_mark(struct weir_dispatcher *dispatcher, struct hold *hold, uint32_t i, bool wants_room)
{
	dispatcher->n_held_refusing -= entry_refuses(dispatcher, hold, i);
	hold->wants_room[hold_index(hold, i)] = wants_room;
	dispatcher->n_held_refusing += entry_refuses(dispatcher, hold, i);
}

bool
hold_add(struct weir_dispatcher *dispatcher, const struct weir_burst *burst, uint32_t i,
	weir_worker_id target, bool wants_room)
{
	const struct weir_burst one = burst_of_one(burst, i);
	struct hold *hold = &dispatcher->hold;

	/* A pin counts no more than 16 bits hold. */
	if (weir_held(dispatcher) >= UINT16_MAX ||
		hold_push(hold, &one, target, hold_deadline(dispatcher)) == 0)
		return false;
	if (target != WEIR_WORKER_NONE) {
		bitset_add(&dispatcher->hold_wait.targets, target);
	} else if (dispatcher->pins) {
		struct pin *pin = &dispatcher->pins[burst->meta[i].bucket];

		pin->held++;
		bitset_add(&dispatcher->hold_wait.pinned, pin->worker);
	}
	entry_mark(dispatcher, hold, hold_count(hold) - 1, wants_room);
	held_count(dispatcher);
	return true;
}

/* The pin of entry number `i`'s bucket, where the entry counts in it; NULL else. */
static struct pin *
entry_pin(const struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t i)
{
	const uint32_t index = hold_index(hold, i);

	if (!dispatcher->pins || hold->target[index] != WEIR_WORKER_NONE)
		return NULL;
	return &dispatcher->pins[hold->metadata[index].bucket];
}

/* An entry stays: it keeps its place in line, and so do those of its bucket behind it. */
static void
entry_stay(struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t i)
{
	const weir_worker_id target = hold->target[hold_index(hold, i)];
	struct pin *pin = entry_pin(dispatcher, hold, i);

	if (target != WEIR_WORKER_NONE)
		bitset_add(&dispatcher->hold_wait.targets, target);
	if (!pin)
		return;
	pin->flags |= PIN_STAYED;
	bitset_add(&dispatcher->hold_wait.pinned, pin->worker);
}

/* An entry does not stay. */
static void
entry_leave(struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t i)
{
	struct pin *pin = entry_pin(dispatcher, hold, i);

	if (pin)
		pin->held--;
	dispatcher->n_held_refusing -= entry_refuses(dispatcher, hold, i);
}

/*
 * Once the entries from number `first` on were routed: those that stay close ranks behind the
 * `n_kept` before them. Returns how many have stayed by now. The line does not move otherwise: runs
 * of entries end where the ring does, and what a pass can do must not depend on earlier passes.
 */
static uint32_t
entries_settle(struct weir_dispatcher *dispatcher, struct hold *hold,
	const struct dispatch_state *state, uint32_t first, uint32_t n_kept)
{
	const struct weir_burst *burst = state->burst;

	for (uint32_t i = 0; i < burst->n; i++) {
		if (i >= state->next || dispatcher->plan.target[i] == PLAN_HOLD) {
			entry_stay(dispatcher, hold, first + i);
			hold_move(hold, first + i, n_kept++);
		} else {
			entry_leave(dispatcher, hold, first + i);
		}
	}
	return n_kept;
}

/* What becomes of an entry in a pass. */
enum entry_kind {
	ENTRY_PLANNED,	/* a worker is found for it */
	ENTRY_TARGETED, /* for one worker */
	ENTRY_LATE,	/* its deadline has come */
};

static enum entry_kind
entry_kind(const struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t i)
{
	const uint32_t index = hold_index(hold, i);

	if (entry_is_late(dispatcher, hold, index))
		return ENTRY_LATE;
	return hold->target[index] == WEIR_WORKER_NONE ? ENTRY_PLANNED : ENTRY_TARGETED;
}

/* How many entries from number `first` on, of the `max` looked at, are of the first one's kind. */
static uint32_t
entries_alike(const struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t first,
	uint32_t max)
{
	const enum entry_kind kind = entry_kind(dispatcher, hold, first);
	uint32_t n = 1;

	while (n < max && entry_kind(dispatcher, hold, first + n) == kind)
		n++;
	return n;
}

/* The deadlines of the entries from number `first` on have come. */
static void
entries_expire(struct weir_dispatcher *dispatcher, const struct hold *hold,
	struct dispatch_state *state, uint32_t first)
{
	const weir_worker_id *target = &hold->target[hold_index(hold, first)];

	for (; state->next < state->burst->n; state->next++) {
		dispatcher->plan.target[state->next] = 0; /* none of those that stay held */
		drop_add(dispatcher, state->burst->packets[state->next], target[state->next],
			WEIR_REASON_HOLD_TIMEOUT);
	}
	drops_finish(dispatcher);
}

/* Ends the `n` entries from number `first` on, which are to be taken out next. */
static void
late_end(struct weir_dispatcher *dispatcher, struct hold *hold, uint32_t first, uint32_t n)
{
	while (n > 0) {
		const struct weir_burst burst = hold_run(hold, first, n);
		struct dispatch_state state = { .burst = &burst, .from_hold = true };

		entries_expire(dispatcher, hold, &state, first);
		entries_settle(dispatcher, hold, &state, first, 0);
		first += burst.n;
		n -= burst.n;
	}
}

/* The oldest deadlines of the hold are at its head. */
static void
queue_expire(struct weir_dispatcher *dispatcher)
{
	struct hold *hold = &dispatcher->hold;
	const uint32_t most = hold_count(hold) < WEIR_BURST_MAX ? hold_count(hold) : WEIR_BURST_MAX;
	uint32_t n = 0;

	while (n < most && entry_kind(dispatcher, hold, n) == ENTRY_LATE)
		n++;
	if (likely(n == 0))
		return;
	late_end(dispatcher, hold, 0, n);
	hold_pop(hold, n);
	held_count(dispatcher);
}

/* Those of the front are at its tail: each chunk that comes before others has a later one. */
static void
front_expire(struct weir_dispatcher *dispatcher)
{
	struct hold *front = &dispatcher->front;
	const uint32_t count = hold_count(front);
	uint32_t n = 0;

	while (n < count && n < WEIR_BURST_MAX &&
		entry_kind(dispatcher, front, count - 1 - n) == ENTRY_LATE)
		n++;
	if (likely(n == 0))
		return;
	late_end(dispatcher, front, count - n, n);
	hold_keep(front, count - n);
	held_count(dispatcher);
}

void
hold_expire(struct weir_dispatcher *dispatcher)
{
	queue_expire(dispatcher);
	front_expire(dispatcher);
}

/* Whether an entry for one worker has one. */
enum entry_place {
	PLACE_FOUND,
	PLACE_AWAITED, /* not yet */
	PLACE_LOST,
};

/*
 * Sees to it that the worker of an entry for one worker is routable. In place of one that is not, a
 * numbered copy is redone by whoever has its number now, or by the first worker, and keeps its
 * number; of other copies everybody else has one already.
 */
static enum entry_place
entry_place(struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t i)
{
	const struct weir_snapshot *snapshot = dispatcher->snapshot;
	const uint32_t index = hold_index(hold, i);
	const struct weir_meta *meta = &hold->metadata[index];
	weir_worker_id *id = &hold->target[index];

	if (likely(snapshot->position[*id] != WEIR_WORKER_NONE))
		return PLACE_FOUND;
	if (!packet_is_sharded(dispatcher, meta))
		return PLACE_LOST;
	if (snapshot->n_routable == 0)
		return workers_are_awaited(dispatcher) ? PLACE_AWAITED : PLACE_LOST;
	*id = snapshot->routable[meta->shard_index < snapshot->n_routable ? meta->shard_index : 0];
	return PLACE_FOUND;
}

/*
 * Brings entry number `i` of the burst to its worker `id`. Returns what is planned for it:
 * PLAN_HOLD if it stays.
 */
static uint16_t
target_lend(struct weir_dispatcher *dispatcher, struct dispatch_state *state, uint32_t i,
	weir_worker_id id)
{
	if (dispatcher->counts_classes && !class_admits(dispatcher, &state->burst->meta[i], id))
		drop_add(dispatcher, state->burst->packets[i], id, WEIR_REASON_BUSY_DISCARD);
	else if (lane_room(&dispatcher->lane[id]) > 0 || lane_make_room(dispatcher, id))
		packet_lend(dispatcher, state, i, id);
	else
		return PLAN_HOLD;
	return id;
}

/*
 * Entries for one worker each: lent where there is room. Each of them has its lane's progress read
 * before it stays, so that none behind it finds room where it found none.
 */
static void
targets_lend(struct weir_dispatcher *dispatcher, const struct hold *hold,
	struct dispatch_state *state, uint32_t first)
{
	const weir_worker_id *worker = &hold->target[hold_index(hold, first)];
	const struct weir_burst *burst = state->burst;
	uint16_t *target = dispatcher->plan.target;

	for (; state->next < burst->n; state->next++) {
		const uint32_t i = state->next;

		switch (entry_place(dispatcher, hold, first + i)) {
		case PLACE_FOUND:
			target[i] = target_lend(dispatcher, state, i, worker[i]);
			break;
		case PLACE_AWAITED:
			target[i] = PLAN_HOLD;
			break;
		default:
			target[i] = worker[i];
			drop_add(dispatcher, burst->packets[i], worker[i], WEIR_REASON_DEAD_WORKER);
		}
	}
	lend_publish(dispatcher, &state->touched);
	for (uint32_t i = 0; i < burst->n; i++)
		mirror_restore(dispatcher, worker[i]);
	drops_finish(dispatcher);
}

/* The marks of a pass are of that pass only: those of the oldest `n`, which it has looked at. */
static void
stayed_clear(struct weir_dispatcher *dispatcher, const struct hold *hold, uint32_t n)
{
	for (uint32_t i = hold->n_sealed; dispatcher->pins && i < n; i++)
		dispatcher->pins[hold->metadata[hold_index(hold, i)].bucket].flags &=
			(uint8_t)~PIN_STAYED;
}

/*
 * The causes for which a packet is held, and what ends each. No wake-up is missed: a pass while
 * none of this has happened would plan as the last one did, and leave everything where it is.
 *
 *   its bucket is out at a worker that is not routable,   that worker's packets come home, are
 *   or not the owner: only then does a plan say "wait"    evicted or reclaimed; another pool
 *   a packet of its bucket is before it in the hold       whatever ends that one's wait: the pin,
 *                                                         and so the worker waited for, is one
 *   it found no room (policy reject), or is behind one    a change of depth or room, of whichever
 *   that did not                                          worker: any may be picked next. Also the
 *                                                         pass's own hand-overs: they shift bursts
 *                                                         and chunks for what is left
 *   it is for a worker whose lane is full                 packets of that worker come home
 *   every worker is at its budget, or somebody waits      packets of any worker come home
 *   for that
 *   its owner is at its budget, or somebody waits for     packets of that worker come home
 *   that
 *   it came from outside and was never planned            the next look
 *   no worker is routable, but one is to come             another pool
 *
 * A bucket with packets in the hold gets no lends but from there: its pin names the same worker
 * until it goes. A further cause gets its row here, its mark in struct hold_wait where an entry
 * goes in or stays, and its news.
 */
bool
hold_is_due(const struct weir_dispatcher *dispatcher)
{
	const struct hold_wait *wait = &dispatcher->hold_wait;
	const struct hold_news *news = &dispatcher->hold_news;

	return news->all || (wait->refused && news->mirror) ||
	       bitset_meets(&wait->pinned, &news->finished) ||
	       bitset_meets(&wait->targets, &news->finished) ||
	       bitset_meets(&dispatcher->lines.owners, &news->finished) ||
	       (dispatcher->lines.any && !bitset_is_empty(&news->finished));
}

/* A run was planned: notes what those wait for that stay, the refused one included. */
static void
entries_mark(struct weir_dispatcher *dispatcher, struct hold *hold,
	const struct dispatch_state *state, uint32_t first)
{
	const struct plan *plan = &dispatcher->plan;

	for (uint32_t i = 0; i < state->next; i++) {
		if (plan->target[i] == PLAN_HOLD)
			entry_mark(dispatcher, hold, first + i, plan->wants_room[i]);
	}
	if (state->next < state->burst->n)
		entry_mark(dispatcher, hold, first + state->next, true);
}

/* What a pass over both parts has come to. */
struct hold_look {
	struct budget_lines before; /* who waited for budget until now */
	struct hold_wait waited;
	uint32_t n_gone; /* entries that did not stay */
	bool refused;	 /* one found no room: what is planned waits in line behind it */
	bool is_short;	 /* not all was looked at */
};

/* The entries from number `first` on: lent, ended, or left as they are. Returns how many stay. */
static uint32_t
entries_pass(struct weir_dispatcher *dispatcher, struct hold *hold, struct weir_burst *burst,
	uint32_t first, uint32_t n_kept, struct hold_look *look)
{
	struct dispatch_state state = { .burst = burst, .data = burst->data, .from_hold = true };

	burst->n = entries_alike(dispatcher, hold, first, burst->n);
	switch (entry_kind(dispatcher, hold, first)) {
	case ENTRY_LATE:
		entries_expire(dispatcher, hold, &state, first);
		break;
	case ENTRY_TARGETED:
		targets_lend(dispatcher, hold, &state, first);
		break;
	default:
		/* After a refusal the rest stays untouched, in its order. */
		if (look->refused)
			break;
		look->refused = burst_route(dispatcher, &state) < burst->n;
		entries_mark(dispatcher, hold, &state, first);
	}
	return entries_settle(dispatcher, hold, &state, first, n_kept);
}

static void
lines_add(struct budget_lines *lines, const struct budget_lines *more)
{
	lines->any |= more->any;
	bitset_add_all(&lines->owners, &more->owners);
}

static void
waits_add(struct hold_wait *wait, const struct hold_wait *more)
{
	bitset_add_all(&wait->pinned, &more->pinned);
	bitset_add_all(&wait->targets, &more->targets);
}

/*
 * Whether nothing behind can go: somebody waits for any worker's budget, and so does everything
 * behind that asks. What else there is waits in line with it, so that a pass costs what it moves
 * and not what is held; but not what is for one worker, or for its owner.
 */
static bool
look_may_end(const struct weir_dispatcher *dispatcher, const struct hold_look *look)
{
	return dispatcher->lines.any && bitset_is_empty(&look->waited.targets) &&
	       bitset_is_empty(&look->before.owners);
}

/*
 * Once a pass has come to number `first` of the `n` entries that it found, and `n_kept` before that
 * stay: closes the gap. Copies of a packet for all workers may have come in meanwhile.
 */
static void
pass_close_up(struct hold *hold, uint32_t first, uint32_t n, uint32_t n_kept)
{
	if (first < n) {
		hold_close_up(hold, n_kept, first);
		return;
	}
	for (; first < hold_count(hold); first++)
		hold_move(hold, first, n_kept++);
	hold_keep(hold, n_kept);
}

/*
 * A pass over one part, which had `n` entries when the pass began. Returns how many it has looked
 * at that stay, those that are sealed included: all of these are out at a worker that is gone.
 */
static uint32_t
part_pass(struct weir_dispatcher *dispatcher, struct hold *hold, uint32_t n, struct hold_look *look)
{
	uint32_t first = hold->n_sealed;
	uint32_t n_kept = first;

	while (first < n && look->n_gone < HOLD_PASS_PKTS && !look_may_end(dispatcher, look)) {
		struct weir_burst burst = hold_run(hold, first, dispatcher->burst);
		const uint32_t n_kept_before = n_kept;

		n_kept = entries_pass(dispatcher, hold, &burst, first, n_kept, look);
		look->n_gone += burst.n - (n_kept - n_kept_before);
		first += burst.n;
	}
	look->is_short |= first < n;
	pass_close_up(hold, first, n, n_kept);
	return n_kept;
}

void
hold_pass(struct weir_dispatcher *dispatcher)
{
	struct hold_look look = { .before = dispatcher->lines, .waited = dispatcher->hold_wait };
	const uint32_t n = hold_count(&dispatcher->hold);
	uint32_t n_front;
	uint32_t n_kept;

	dispatcher->n_hold_passes++;
	dispatcher->hold_wait = (struct hold_wait) { 0 };
	dispatcher->lines = (struct budget_lines) { 0 };
	n_front = part_pass(dispatcher, &dispatcher->front, hold_count(&dispatcher->front), &look);
	n_kept = part_pass(dispatcher, &dispatcher->hold, n, &look);
	/* What was not looked at waits for whatever it waited for. */
	if (look.refused || look.is_short)
		lines_add(&dispatcher->lines, &look.before);
	if (look.is_short)
		waits_add(&dispatcher->hold_wait, &look.waited);
	stayed_clear(dispatcher, &dispatcher->front, n_front);
	stayed_clear(dispatcher, &dispatcher->hold, n_kept);
	dispatcher->hold_wait.refused = look.refused;
	dispatcher->hold_news.mirror |= look.n_gone > 0;
	/* Not looked at for no reason of theirs: the next loop goes on. */
	dispatcher->hold_news.all |= look.is_short && look.n_gone >= HOLD_PASS_PKTS;
	held_count(dispatcher);
}

void
weir_hold(struct weir_dispatcher *dispatcher, const struct weir_burst *burst)
{
	assert(burst->n <= dispatcher->burst);
	counter_add(&dispatcher->tally.received, burst->n);
	/* Whatever they were refused for may have changed before they came here. */
	dispatcher->hold_news.all = true;
	for (uint32_t i = 0; i < burst->n; i++) {
		/* Whoever refused them has given their tokens back. */
		if (unlikely(!packet_police(dispatcher, &burst->meta[i])))
			drop_add(dispatcher, burst->packets[i], WEIR_WORKER_NONE,
				WEIR_REASON_RATE_LIMITED);
		else if (!hold_add(dispatcher, burst, i, WEIR_WORKER_NONE, true))
			drop_add(dispatcher, burst->packets[i], WEIR_WORKER_NONE,
				WEIR_REASON_HELD_OVERFLOW);
	}
	drops_finish(dispatcher);
}

bool
weir_accepts(const struct weir_dispatcher *dispatcher)
{
	return dispatcher->n_held_refusing == 0;
}

uint32_t
weir_held(const struct weir_dispatcher *dispatcher)
{
	return hold_count(&dispatcher->front) + hold_count(&dispatcher->hold);
}

/* Ends what is in one part. Returns packets dropped. */
static uint32_t
part_drop(struct weir_dispatcher *dispatcher, struct hold *hold, enum weir_reason reason)
{
	uint32_t dropped = 0;

	while (hold_count(hold) > 0) {
		const struct weir_burst burst = hold_run(hold, 0, WEIR_BURST_MAX);

		for (uint32_t i = 0; i < burst.n; i++) {
			drop_add(dispatcher, burst.packets[i], WEIR_WORKER_NONE, (uint8_t)reason);
			entry_leave(dispatcher, hold, i);
		}
		drops_finish(dispatcher);
		hold_pop(hold, burst.n);
		dropped += burst.n;
	}
	return dropped;
}

uint32_t
weir_hold_drop(struct weir_dispatcher *dispatcher, enum weir_reason reason)
{
	const uint32_t dropped = part_drop(dispatcher, &dispatcher->front, reason) +
				 part_drop(dispatcher, &dispatcher->hold, reason);

	dispatcher->hold_wait = (struct hold_wait) { 0 };
	dispatcher->lines = (struct budget_lines) { 0 };
	held_count(dispatcher);
	return dropped;
}
