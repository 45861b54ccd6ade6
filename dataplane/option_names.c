/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_names.h"

#include <stddef.h>

#include "options.h"

const char *
option_overflow_name(unsigned int index)
{
	const struct weir_overflow_policy *policy = weir_overflow_at(index);

	return policy ? policy->name : NULL;
}

static const char *const order_names[] = { "flow", "none" };

const char *
option_order_name(unsigned int index)
{
	return index < sizeof(order_names) / sizeof(order_names[0]) ? order_names[index] : NULL;
}

static const char *const flow_hash_names[] = {
	[FLOW_HASH_SOFT] = "soft",
	[FLOW_HASH_NIC] = "nic",
	[FLOW_HASH_AUTO] = "auto",
};

const char *
option_flow_hash_name(unsigned int index)
{
	return index < sizeof(flow_hash_names) / sizeof(flow_hash_names[0]) ? flow_hash_names[index]
									    : NULL;
}

static const char *const worker_mode_names[] = {
	[WORKER_MODE_THREAD] = "thread",
	[WORKER_MODE_PROCESS] = "process",
	[WORKER_MODE_ATTACHED] = "attached",
};

const char *
worker_mode_name(unsigned int mode)
{
	return mode < sizeof(worker_mode_names) / sizeof(worker_mode_names[0])
		       ? worker_mode_names[mode]
		       : NULL;
}

static const char *const worker_calls_names[] = {
	[WORKER_CALLS_FILTERED] = "filtered",
	[WORKER_CALLS_ANY] = "any",
};

const char *
option_worker_calls_name(unsigned int index)
{
	return index < sizeof(worker_calls_names) / sizeof(worker_calls_names[0])
		       ? worker_calls_names[index]
		       : NULL;
}

static const char *const depth_mode_names[] = {
	[WEIR_DEPTH_OUTSTANDING] = "outstanding",
	[WEIR_DEPTH_QUEUED] = "queued",
};

const char *
option_depth_mode_name(unsigned int index)
{
	return index < sizeof(depth_mode_names) / sizeof(depth_mode_names[0])
		       ? depth_mode_names[index]
		       : NULL;
}

static const char *const flow_depth_names[] = {
	[WEIR_FLOW_INNER] = "inner",
	[WEIR_FLOW_OUTER] = "outer",
};

const char *
option_flow_depth_name(unsigned int index)
{
	return index < sizeof(flow_depth_names) / sizeof(flow_depth_names[0])
		       ? flow_depth_names[index]
		       : NULL;
}
