/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Harvest: reads workers' progress, refreshes the mirror, and brings completed packets home.
 *
 * With one dispatcher only workers that hold packets of ours are read: the others are idle for
 * certain. With several, every routable worker's backlog may have changed by others.
 */
#include "admission.h"
#include "seq.h"

/* Ids per cache line of a tail array: each such line is read at most once per pass. */
#define TAILS_PER_LINE (CACHE_LINE_BYTES / sizeof(uint32_t))

/* What came home in a pass: added to the tally once, at its end. */
struct harvest_sums {
	uint32_t finished;
	uint32_t tx;
	uint32_t consumed;
};

/*
 * Counts the drops among verdicts that were read, and makes drops of those out of range. Kept out
 * of line: most runs have none.
 */
static __attribute__((noinline)) void
drops_count(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct weir_verdict *verdict = &dispatcher->verdicts[i];

		if (verdict->kind == WEIR_VERDICT_TX || verdict->kind == WEIR_VERDICT_CONSUMED)
			continue;
		if (verdict->kind != WEIR_VERDICT_DROP || verdict->target >= WEIR_REASON_COUNT)
			*verdict = weir_verdict_drop(WEIR_REASON_BAD_VERDICT);
		counter_add(&dispatcher->tally.dropped[verdict->target], 1);
		counter_add(&dispatcher->worker_tally[id].dropped[verdict->target], 1);
	}
}

/*
 * Brings home the packets of one run of slots: at most a burst, in one piece. The verdicts are
 * copied out of the worker's memory first and the copies checked: the worker could still change
 * the original.
 */
static inline void
run_finish(struct weir_dispatcher *dispatcher, weir_worker_id id, void *const *packets,
	const struct weir_verdict *from, uint32_t n, struct harvest_sums *sums)
{
	struct weir_verdict *to = dispatcher->verdicts;
	uint32_t tx = 0;
	uint32_t consumed = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct weir_verdict verdict = from[i];

		to[i] = verdict;
		tx += verdict.kind == WEIR_VERDICT_TX;
		consumed += verdict.kind == WEIR_VERDICT_CONSUMED;
	}
	sums->tx += tx;
	sums->consumed += consumed;
	if (unlikely(tx + consumed != n))
		drops_count(dispatcher, id, n);
	dispatcher->finish(dispatcher->finish_context, packets, to, n, id);
}

static inline uint32_t
lane_harvest(struct weir_dispatcher *dispatcher, weir_worker_id id, struct harvest_sums *sums)
{
	struct lane_producer *lane = &dispatcher->lane[id];
	const uint32_t total = lane->completed - lane->harvested;

	while (lane->harvested != lane->completed) {
		const uint32_t index = lane->harvested & (lane->n_slots - 1);
		uint32_t n = lane->completed - lane->harvested;

		n = n < lane->n_slots - index ? n : lane->n_slots - index;
		n = n < WEIR_BURST_MAX ? n : WEIR_BURST_MAX;
		run_finish(dispatcher, id, &lane->packets[index], &lane->verdicts[index], n, sums);
		if (unlikely(dispatcher->counts_classes))
			class_unbook(dispatcher, id, lane->harvested, n);
		lane->harvested += n;
	}
	sums->finished += total;
	return total;
}

/* Likewise of a claim lane, up to the taken packet with the number `completed`. */
static uint32_t
taken_harvest(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t completed,
	struct harvest_sums *sums)
{
	const struct weir_verdict *verdicts = dispatcher->lane[id].verdicts;
	struct claim_lane *claim = &dispatcher->claim[id];
	const uint32_t total = completed - claim->harvested;

	while (claim->harvested != completed) {
		const uint32_t index = claim->harvested & (claim->n_taken_slots - 1);
		uint32_t n = completed - claim->harvested;

		n = n < claim->n_taken_slots - index ? n : claim->n_taken_slots - index;
		n = n < WEIR_BURST_MAX ? n : WEIR_BURST_MAX;
		run_finish(dispatcher, id, &claim->taken_packets[index], &verdicts[index], n, sums);
		claim->harvested += n;
	}
	sums->finished += total;
	return total;
}

/* What the other dispatchers have outstanding at worker `id`. */
static uint32_t
others_backlog(const struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	uint32_t sum = 0;

	for (uint32_t other = 0; other < dispatcher->n_dispatchers; other++) {
		if (other == dispatcher->id)
			continue;
		const uint64_t word = progress_read(dispatcher->progress[id], other);
		/* Edge E7, acquire side. A completion can be seen before the tail that it follows
		 * is published: then nothing is outstanding as far as can be known. */
		const uint32_t tail = atomic_load_explicit(
			&pool_tails(dispatcher->pool, other)->tail[id], memory_order_acquire);
		const uint32_t outstanding = tail - progress_completed(word);

		if (outstanding <= WEIR_LANE_SIZE_MAX)
			sum += outstanding_to_depth(
				dispatcher, outstanding, progress_in_process(word));
	}
	return sum;
}

/* Takes over what the worker's progress word says (edge E2). A word out of range is not believed:
 * it could only come from memory that the worker has spoilt. */
static inline void
progress_accept(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	struct lane_producer *lane = &dispatcher->lane[id];
	const uint64_t word = progress_read(dispatcher->progress[id], dispatcher->id);
	const uint32_t completed = progress_completed(word);
	const uint32_t in_process = progress_in_process(word);

	if (!seq_within(lane->completed, completed, lane->tail))
		return;
	lane->completed = completed;
	lane->in_process =
		in_process <= lane->tail - completed ? in_process : lane->tail - completed;
}

/*
 * A claim lane's progress: what was taken, then what of it was completed. The word is read first:
 * what it counts was taken before, and the head that is read next shows that.
 */
static uint32_t
claim_harvest(struct weir_dispatcher *dispatcher, weir_worker_id id, struct harvest_sums *sums)
{
	const uint32_t completed =
		progress_completed(progress_read(dispatcher->progress[id], dispatcher->id));
	struct lane_producer *lane = &dispatcher->lane[id];
	struct claim_lane *claim = &dispatcher->claim[id];
	uint32_t finished = 0;

	claim_learn(claim, lane);
	if (seq_within(claim->harvested, completed, claim->taken))
		finished = taken_harvest(dispatcher, id, completed, sums);
	claim_view(claim, lane);
	return finished;
}

/* The next depth that is news: a new peak, or the alarm's threshold. */
static void
peak_mark_set(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	const struct worker_tally *tally = &dispatcher->worker_tally[id];
	const uint64_t max_depth = counter_read(&tally->max_depth);
	const uint64_t threshold = tally->depth_alarm.threshold;

	dispatcher->lane[id].peak_mark =
		(uint32_t)(max_depth < threshold ? max_depth : threshold - 1);
}

/* Out of line: most harvests find no worker deeper than it was before. */
static __attribute__((noinline)) void
peak_note(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t depth)
{
	struct worker_tally *tally = &dispatcher->worker_tally[id];

	if (depth > counter_read(&tally->max_depth))
		counter_set(&tally->max_depth, depth);
	if (weir_alarm_rise(&tally->depth_alarm, depth) > 0) {
		counter_set(&tally->depth_alarm_level, tally->depth_alarm.level);
		counter_set(&tally->depth_alarms, tally->depth_alarm.count);
		tally->rearm_below =
			(uint32_t)(tally->depth_alarm.first - tally->depth_alarm.first / 2);
	}
	peak_mark_set(dispatcher, id);
}

static __attribute__((noinline)) void
alarm_rearm(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t depth)
{
	struct worker_tally *tally = &dispatcher->worker_tally[id];

	weir_alarm_fall(&tally->depth_alarm, depth);
	tally->rearm_below = 0;
	peak_mark_set(dispatcher, id);
}

/* Writes down what the harvest of one worker has found: what came home, and what is still out. */
static inline void
worker_record(struct weir_dispatcher *dispatcher, weir_worker_id id, uint32_t finished,
	uint32_t outstanding)
{
	struct worker_tally *tally = &dispatcher->worker_tally[id];
	const struct lane_producer *lane = &dispatcher->lane[id];
	const uint64_t harvested = counter_read(&tally->harvested) + finished;
	const uint32_t depth = lane_depth(dispatcher, lane);

	counter_set(&tally->harvested, harvested);
	counter_set(&tally->lent, harvested + counter_read(&tally->reclaimed) + outstanding);
	/* The own part: whoever adds dispatchers up gets the worker's whole depth. */
	counter_set(&tally->depth, depth - lane->others);
	if (unlikely(depth < tally->rearm_below))
		alarm_rearm(dispatcher, id, depth);
	if (outstanding == 0)
		bitset_remove(&dispatcher->outstanding, id);
	mirror_restore(dispatcher, id);
}

/* The harvest of a claim lane. Out of line: plain lanes do not pay for it. */
static __attribute__((noinline)) void
claim_worker_harvest(
	struct weir_dispatcher *dispatcher, weir_worker_id id, struct harvest_sums *sums)
{
	struct lane_producer *lane = &dispatcher->lane[id];
	const uint32_t depth = lane_depth(dispatcher, lane);
	const uint32_t room = lane_room(lane);
	const uint32_t finished = claim_harvest(dispatcher, id, sums);

	if (dispatcher->n_dispatchers > 1)
		lane->others = others_backlog(dispatcher, id);
	if (finished > 0)
		bitset_add(&dispatcher->hold_news.finished, id);
	/* What is taken makes room, and leaves the depth as it was. */
	dispatcher->hold_news.mirror |=
		finished > 0 || lane_room(lane) != room || lane_depth(dispatcher, lane) != depth;
	worker_record(dispatcher, id, finished, lane_outstanding(lane));
}

/* Own hand-overs have been added since the last reading: before the next is the depth's peak. */
static inline void
peak_check(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	const struct lane_producer *lane = &dispatcher->lane[id];
	const uint32_t depth = lane_depth(dispatcher, lane);

	if (unlikely(depth > lane->peak_mark))
		peak_note(dispatcher, id, depth);
}

/* First half of the harvest of a plain lane: learns how far its worker has come. */
static inline void
worker_read(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	struct lane_producer *lane = &dispatcher->lane[id];
	const uint32_t deepest = lane_depth(dispatcher, lane);

	progress_accept(dispatcher, id);
	if (dispatcher->n_dispatchers > 1)
		lane->others = others_backlog(dispatcher, id);
	/* A depth also changes by what others have there and, where only the queued count, by what
	 * is in process. */
	dispatcher->hold_news.mirror |=
		lane->completed != lane->harvested || lane_depth(dispatcher, lane) != deepest;
}

/* Second half: brings home what is completed. */
static inline void
worker_bring_home(struct weir_dispatcher *dispatcher, weir_worker_id id, struct harvest_sums *sums)
{
	const uint32_t finished = lane_harvest(dispatcher, id, sums);

	if (finished > 0)
		bitset_add(&dispatcher->hold_news.finished, id);
	worker_record(dispatcher, id, finished, lane_occupied(&dispatcher->lane[id]));
}

static uint32_t
sums_add(struct weir_dispatcher *dispatcher, const struct harvest_sums *sums)
{
	counter_add(&dispatcher->tally.ended, sums->finished);
	counter_add(&dispatcher->tally.returned_tx, sums->tx);
	counter_add(&dispatcher->tally.consumed, sums->consumed);
	return sums->finished;
}

uint32_t
harvest_worker(struct weir_dispatcher *dispatcher, weir_worker_id id)
{
	struct harvest_sums sums = { 0 };

	peak_check(dispatcher, id);
	if (unlikely(dispatcher->claim)) {
		claim_worker_harvest(dispatcher, id, &sums);
	} else {
		worker_read(dispatcher, id);
		worker_bring_home(dispatcher, id, &sums);
	}
	return sums_add(dispatcher, &sums);
}

/* The workers that a pass must read. */
static struct bitset
pass_members(const struct weir_dispatcher *dispatcher)
{
	struct bitset members = dispatcher->outstanding;

	/* Of a lane that is being reclaimed not all is in it that its numbers say. */
	if (unlikely(dispatcher->reclaim.worker != WEIR_WORKER_NONE))
		bitset_remove(&members, dispatcher->reclaim.worker);
	if (dispatcher->n_dispatchers == 1)
		return members;
	for (uint32_t i = 0; i < dispatcher->snapshot->n_routable; i++)
		bitset_add(&members, dispatcher->snapshot->routable[i]);
	return members;
}

/* Lines of other dispatchers' tail arrays that a pass over `members` reads. */
static uint32_t
tail_lines_read(const struct weir_dispatcher *dispatcher, const struct bitset *members)
{
	const uint64_t line_mask = (UINT64_C(1) << TAILS_PER_LINE) - 1;
	uint32_t lines = 0;

	for (uint32_t id = 0; id < WEIR_WORKERS_MAX; id += TAILS_PER_LINE)
		lines += (members->word[id >> 6] >> (id & 63) & line_mask) != 0;
	return lines * (dispatcher->n_dispatchers - 1);
}

/*
 * Fetches what the pass will read of each worker: the progress line, and the verdicts from where
 * they were read last. The addresses are known before the first answer is, so that the transfers
 * from the workers' cores overlap. Returns how many workers that are: gcc would drop a call whose
 * only effect is to prefetch.
 */
static uint32_t
pass_prefetch(const struct weir_dispatcher *dispatcher, const struct bitset *members)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = members->word[w];

		while (bits) {
			const uint32_t id = bitset_pop(&bits, w);
			const struct lane_producer *lane = &dispatcher->lane[id];

			n++;
			prefetch_read(progress_word(dispatcher->progress[id], dispatcher->id));
			if (unlikely(dispatcher->claim))
				claim_prefetch(&dispatcher->claim[id], lane);
			else
				prefetch_read(
					&lane->verdicts[lane->harvested & (lane->n_slots - 1)]);
		}
	}
	return n;
}

/*
 * Reads the progress of all workers, and only then fetches the verdicts beyond the line that was
 * fetched already: these transfers overlap as well. In irregular traffic a run of a few verdicts
 * lies on two lines now and then, and waiting for one second line costs as much as a whole worker.
 */
static void
pass_read(struct weir_dispatcher *dispatcher, const struct bitset *members)
{
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = members->word[w];

		while (bits) {
			const weir_worker_id id = (weir_worker_id)bitset_pop(&bits, w);
			const struct lane_producer *lane = &dispatcher->lane[id];

			peak_check(dispatcher, id);
			if (unlikely(dispatcher->claim))
				continue;
			worker_read(dispatcher, id);
			prefetch_read(&lane->verdicts[(lane->completed - 1) & (lane->n_slots - 1)]);
		}
	}
}

uint32_t
harvest_pass(struct weir_dispatcher *dispatcher)
{
	const struct bitset members = pass_members(dispatcher);
	const uint32_t n_members = pass_prefetch(dispatcher, &members);
	struct harvest_sums sums = { 0 };

	counter_add(&dispatcher->tally.line_reads, n_members * progress_lines(dispatcher));
	pass_read(dispatcher, &members);
	for (uint32_t w = 0; w < BITSET_WORDS; w++) {
		uint64_t bits = members.word[w];

		while (bits) {
			const weir_worker_id id = (weir_worker_id)bitset_pop(&bits, w);

			if (unlikely(dispatcher->claim))
				claim_worker_harvest(dispatcher, id, &sums);
			else
				worker_bring_home(dispatcher, id, &sums);
		}
	}
	if (dispatcher->n_dispatchers > 1)
		counter_add(&dispatcher->tally.line_reads, tail_lines_read(dispatcher, &members));
	return sums_add(dispatcher, &sums);
}
