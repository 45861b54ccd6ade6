#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Short runs of tests/chaos/chaos: workers are killed, stopped, paused, drained, added and removed at
# random under load, and every packet must be accounted for (A15, A16, A17, X11).
. "$(dirname "$0")/common.sh"
: "${STAMP_COMPARE:?}"

chaos() { # OPTION...
	timeout -k 5 120 "$PYTHON" "$WEIR_SOURCE_ROOT/tests/chaos/chaos" "$@" || fail "chaos $*"
}

chaos --seconds 10 --worker-mode thread
chaos --seconds 12 --worker-mode process
chaos --seconds 12 --worker-mode process --redeliver
