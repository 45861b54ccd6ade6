/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses and hashes on the packet path: the walk of walk.h with the way that most frames go written
 * out. Finds what parse.c finds. Knows no buffer library and keeps no state.
 */
#include <weir/flow.h>

#include "key.h"
#include "siphash.h"
#include "walk.h"

/* weir_flow_hash with the two possible counts written out. */
FLOW_INLINE uint64_t
key_hash(const struct weir_hash_key *hash_key, const struct weir_flow_key *key)
{
	struct siphash s = siphash_start(hash_key->word);

	s = siphash_add(s, key->word[0]);
	s = siphash_add(s, key->word[1]);
	if (likely(key->n_words == 2))
		return siphash_end(s, 2);
	s = siphash_add(s, key->word[2]);
	s = siphash_add(s, key->word[3]);
	s = siphash_add(s, key->word[4]);
	return siphash_end(s, 5);
}

FLOW_INLINE void
meta_set(struct weir_meta *meta, const struct walk *walk)
{
	struct weir_flow_key key;

	key_set(&key, walk);
	meta->hash = key_hash(&walk->config->hash_key, &key);
	meta->bucket = weir_flow_bucket(meta->hash);
	meta->flow_reason = key.reason;
}

/*
 * From `layer` on, the way that most packets go, as far as it goes: Ethernet, tags, IP, ports.
 * Returns the layer that comes next.
 */
FLOW_INLINE enum layer
walk_common(struct walk *walk, enum layer layer)
{
	if (layer == LAYER_ETHERNET)
		layer = walk_ethernet(walk);
	while (layer == LAYER_VLAN)
		layer = walk_vlan(walk);
	if (layer == LAYER_IPV4)
		layer = walk_ipv4(walk);
	else if (layer == LAYER_IPV6)
		layer = walk_ipv6(walk);
	if (likely(layer == LAYER_PORTS))
		layer = walk_ports(walk);
	return layer;
}

void
weir_flow_classify(const struct weir_flow_config *config, const uint8_t *data, uint32_t length,
	struct weir_meta *meta)
{
	struct walk walk = walk_start(config, data, length);
	enum layer layer = walk_common(&walk, LAYER_ETHERNET);

	while (unlikely(layer != LAYER_END))
		layer = walk_common(&walk, walk_step(&walk, layer));
	meta_set(meta, &walk);
}
