/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an eBPF program that is a strategy (`--strategy bpf:FILE.o`) sees: one flat context, and
 * helpers. Compiles with `clang -O2 -target bpf -mcpu=v2` and includes nothing.
 *
 * The program is one function in the section `weir/pick` or `weir/pick_or_none`. It is run for one
 * packet at a time, and returns a position: below n_routable. Anything else is counted, and means
 * the worker of the rotation in `weir/pick`. In `weir/pick_or_none` WEIR_BPF_NONE means that no
 * worker suits: the fallback is asked; without one the packet is dropped as `no_route`.
 */
#ifndef WEIR_BPF_STRATEGY_H
#define WEIR_BPF_STRATEGY_H

/** Marks the function that always finds a worker. */
#define WEIR_BPF_PICK __attribute__((section("weir/pick"), used))
/** Marks the function that may find none. */
#define WEIR_BPF_PICK_OR_NONE __attribute__((section("weir/pick_or_none"), used))

/** The answer for: no worker suits. */
#define WEIR_BPF_NONE 0xffff

/** A packet, and the pool at its moment. Written anew for each packet, but for `unused`. */
struct weir_bpf_context {
	__UINT64_TYPE__ index;	    /**< message index of the packet */
	__UINT64_TYPE__ hash;	    /**< keyed, symmetric flow hash */
	__UINT64_TYPE__ now_ns;	    /**< of the packet's burst, as weir_pick_context.now_ns */
	__UINT64_TYPE__ seed;	    /**< of the dispatcher */
	__UINT32_TYPE__ length;	    /**< bytes of the whole packet */
	__UINT32_TYPE__ n_routable; /**< 1 .. 256: workers that may be picked */
	__UINT32_TYPE__ rotation;   /**< index mod n_routable */
	__UINT32_TYPE__ stride;	    /**< packets that this pick stands for (the chunk) */
	__UINT16_TYPE__ bucket;	    /**< flow bucket: the top 16 bits of `hash` */
	__UINT8_TYPE__ port;	    /**< port that the packet arrived on */
	__UINT8_TYPE__ class_id;    /**< number of the rule that matched; 0 = none */
	__UINT32_TYPE__ reserved;   /**< zero */
	/** Not for use: zero at the first packet of a burst, and whatever the program has written
	 * there at the others. Makes the context larger than a program's stack, so that nothing on
	 * it can be given to a helper in the context's place. */
	__UINT64_TYPE__ unused[64];
};

/**
 * The worker of the smallest depth, ties rotate: as the strategy `shallowest`.
 * @param context the program's argument, as it came
 * @return a position
 */
extern __UINT64_TYPE__ weir_shallowest(struct weir_bpf_context *context);

/**
 * The depth of a worker, own picks of this burst included.
 * @param position of the worker; one that is none has depth 2^32 - 1
 * @return packets
 */
extern __UINT64_TYPE__ weir_depth(struct weir_bpf_context *context, __UINT64_TYPE__ position);

/** A random number, the same one for each call with this packet; --seed makes it repeatable. */
extern __UINT64_TYPE__ weir_random(struct weir_bpf_context *context);

/**
 * The workers, each as often in a row as its weight says, are a list of slots that repeats itself.
 * @param number of a slot, from 0
 * @return the position that has it
 */
extern __UINT64_TYPE__ weir_slot(struct weir_bpf_context *context, __UINT64_TYPE__ number);

#endif
