/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weir: steers packets to the shallowest worker. Five calls make a dispatcher:
 *
 *   weir_pool_create   workers, lanes, strategy, overflow policy
 *   weir_dispatch      lend a burst                     (dispatcher's thread)
 *   weir_take          borrow a burst                   (worker's thread)
 *   weir_complete      give it back with verdicts       (worker's thread)
 *   weir_harvest       bring it home to transmit or free (dispatcher's thread)
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <weir/alarm.h>
#include <weir/cached_depth.h>
#include <weir/decide.h>
#include <weir/depth.h>
#include <weir/flow.h>
#include <weir/handler.h>
#include <weir/health.h>
#include <weir/lane.h>
#include <weir/overflow.h>
#include <weir/packet.h>
#include <weir/plugin.h>
#include <weir/polarisation.h>
#include <weir/pool.h>
#include <weir/rule.h>
#include <weir/slot.h>
#include <weir/stats.h>
#include <weir/strategy.h>
#include <weir/why.h>

#endif
