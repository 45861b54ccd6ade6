/* SPDX-License-Identifier: BSD-3-Clause */
/* The names that options choose from, by index; NULL past the end. */
#ifndef WEIR_DATAPLANE_OPTION_CHOICES_H
#define WEIR_DATAPLANE_OPTION_CHOICES_H

const char *overflow_name_at(unsigned int index);
const char *order_name_at(unsigned int index);
const char *flow_hash_name_at(unsigned int index);
const char *worker_calls_name_at(unsigned int index);
const char *depth_mode_name_at(unsigned int index);
const char *flow_depth_name_at(unsigned int index);

#endif
