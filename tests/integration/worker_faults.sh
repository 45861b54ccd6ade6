#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Worker processes that crash, exit, hang, spoil their memory or meet a poisoned packet, one fault a
# run: tests/chaos/faults (A16, X11).
# A sanitizer that handles the signals would make other deaths of them.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:handle_segv=0:handle_abort=0:handle_sigbus=0"
. "$(dirname "$0")/common.sh"
: "${STAMP_COMPARE:?}" "${TEST_PLUGINS:?}"

timeout -k 5 250 "$PYTHON" "$WEIR_SOURCE_ROOT/tests/chaos/faults" || fail "faults"
