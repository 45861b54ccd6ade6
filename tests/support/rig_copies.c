/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig's classes, and the copies that it makes of packets for several workers. */
#include "rig.h"
#include "test.h"

const struct weir_class *
rig_class(const struct rig *rig, uint8_t class_id)
{
	return &rig->classes[class_id <= rig->config.n_classes ? class_id : 0];
}

static bool
names_all(const char *name)
{
	const struct weir_strategy *strategy = name ? weir_strategy_find(name) : NULL;

	return strategy && (strategy->flags & WEIR_STRATEGY_ALL_TARGETS);
}

bool
rig_is_spread(const struct rig *rig, const struct weir_meta *meta)
{
	const struct weir_class *class = rig_class(rig, meta->class_id);

	return (meta->flags & WEIR_META_TO_ALL) || names_all(class->strategy);
}

static uint32_t
rig_copy(void *context, void *packet, uint32_t n, void **copies, void **data)
{
	struct rig_dispatcher *d = context;
	const struct rig_packet *original = packet;
	const uint32_t made = n < d->rig->copies_per_call ? n : d->rig->copies_per_call;

	assert_true(n > 0 && original->owner == RIG_DISPATCHER);
	assert_true(made <= d->max_copies - d->n_copies);
	for (uint32_t i = 0; i < made; i++) {
		struct rig_packet *copy = &d->copies[d->n_copies++];

		*copy = *original;
		copy->is_copy = true;
		copy->charged = WEIR_WORKER_NONE;
		copies[i] = copy;
		data[i] = &copy->payload;
	}
	return made;
}

void
rig_copies_allow(struct rig *rig, uint32_t max)
{
	for (uint32_t i = 0; i < rig->config.n_dispatchers; i++) {
		struct rig_dispatcher *d = &rig->dispatcher[i];

		free(d->copies);
		d->copies = calloc(max, sizeof(*d->copies));
		d->max_copies = max;
		assert_non_null(d->copies);
		d->ended = realloc(d->ended, (rig->max_packets + max) * sizeof(*d->ended));
		assert_non_null(d->ended);
		weir_copy_set(d->dispatcher, rig_copy);
	}
}

void
rig_classes_learn(struct rig *rig, const struct weir_config *config)
{
	bool copies;

	rig->classes[0] = (struct weir_class) { .strategy = config->strategy };
	copies = names_all(config->strategy);
	for (uint32_t i = 0; i < config->n_classes; i++) {
		struct weir_class *class = &rig->classes[i + 1];

		*class = config->classes[i];
		if (!class->strategy)
			class->strategy = config->strategy;
		copies |= names_all(class->strategy);
	}
	if (copies && config->n_workers > 1)
		rig_copies_allow(rig, rig->max_packets * (config->n_workers - 1));
}

/* Numbered copies differ in their numbers, which the rig's packet learns here. */
static void
shard_learn(const struct rig *rig, struct rig_packet *packet, const struct weir_meta *meta)
{
	const struct weir_strategy *strategy =
		weir_strategy_find(rig_class(rig, packet->meta.class_id)->strategy);

	if (!strategy || !(strategy->flags & WEIR_STRATEGY_SHARDS) ||
		(packet->meta.flags & WEIR_META_TO_ALL))
		return;
	packet->meta.shard_index = meta->shard_index;
	packet->meta.shard_last = meta->shard_last;
	assert_true(meta->shard_index <= meta->shard_last);
}

void
rig_marks_learn(const struct rig *rig, struct rig_packet *packet, const struct weir_meta *meta)
{
	const uint8_t gone = WEIR_META_RECLAIMED | WEIR_META_REDELIVERED;

	shard_learn(rig, packet, meta);
	if (packet->is_spread && meta->shard_last == 0)
		packet->meta.flags |= meta->flags & WEIR_META_COPY;
	if (!rig->has_gone || !(meta->flags & gone))
		return;
	packet->meta.flags |= meta->flags & gone;
	packet->charged = WEIR_WORKER_NONE;
}
