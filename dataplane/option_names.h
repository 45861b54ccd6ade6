/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of options that have a choice: each function gives the word at `index` of its list,
 * NULL past the end. That of worker modes is in options.h, since others ask for it too.
 */
#ifndef WEIR_DATAPLANE_OPTION_NAMES_H
#define WEIR_DATAPLANE_OPTION_NAMES_H

const char *option_depth_mode_name(unsigned int index);
const char *option_flow_depth_name(unsigned int index);
const char *option_flow_hash_name(unsigned int index);
const char *option_order_name(unsigned int index);
const char *option_overflow_name(unsigned int index);
const char *option_worker_calls_name(unsigned int index);

#endif
