/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alarms whose threshold doubles each time that it is reached, so that something that grows to n
 * rings O(log n) times: for depths, which fall again, and for counts, which do not.
 */
#ifndef WEIR_ALARM_H
#define WEIR_ALARM_H

#include <stdint.h>

#include <weir/packet.h>

/** An alarm of something that rises and falls. Its owner's thread only. */
struct weir_alarm {
	uint64_t first;	    /**< first threshold; 0 = never rings */
	uint64_t threshold; /**< the next one: it rings at this value or above */
	uint64_t level;	    /**< the threshold that rang last; 0 = none has */
	uint64_t count;	    /**< how often it has rung */
};

/** An alarm that rings at `first`, 2 x `first`, 4 x `first` ...; 0: never. */
WEIR_API struct weir_alarm weir_alarm_make(uint64_t first);

/**
 * Tells the alarm how high the value has been. It rings once for each threshold that is reached,
 * however far apart the values are that it is told.
 * @return how often it has rung now
 */
WEIR_API uint32_t weir_alarm_rise(struct weir_alarm *alarm, uint64_t value);

/**
 * Tells the alarm how low the value has fallen: below half of the first threshold it is armed
 * anew, from the first threshold on.
 */
WEIR_API void weir_alarm_fall(struct weir_alarm *alarm, uint64_t value);

/** How often an alarm that is never armed anew has rung once its value is `value`. */
WEIR_API uint32_t weir_alarm_rings(uint64_t first, uint64_t value);

#endif
