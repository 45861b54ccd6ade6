/* SPDX-License-Identifier: BSD-3-Clause */
/* Alarms with doubling thresholds. Pure arithmetic: whoever owns a value tells it. */
#include <weir/alarm.h>

#define NEVER UINT64_MAX

struct weir_alarm
weir_alarm_make(uint64_t first)
{
	return (struct weir_alarm) { .first = first, .threshold = first > 0 ? first : NEVER };
}

uint32_t
weir_alarm_rise(struct weir_alarm *alarm, uint64_t value)
{
	uint32_t n = 0;

	while (value >= alarm->threshold && alarm->threshold != NEVER) {
		alarm->level = alarm->threshold;
		alarm->threshold = alarm->threshold > NEVER / 2 ? NEVER : 2 * alarm->threshold;
		n++;
	}
	alarm->count += n;
	return n;
}

void
weir_alarm_fall(struct weir_alarm *alarm, uint64_t value)
{
	/* Half of an odd threshold is no number of packets: 3 are not below half of 5, 2 are. */
	if (value < alarm->first - alarm->first / 2)
		alarm->threshold = alarm->first;
}

uint32_t
weir_alarm_rings(uint64_t first, uint64_t value)
{
	struct weir_alarm alarm = weir_alarm_make(first);

	return weir_alarm_rise(&alarm, value);
}
