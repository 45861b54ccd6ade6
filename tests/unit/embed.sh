#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The example of tools/examples sends every packet, and says so.
# From meson: EMBED, the program.
set -u -o pipefail
export LC_ALL=C

: "${EMBED:?}"
expected='1000 packets lent, 1000 worked on and sent'
said=$("$EMBED")
status=$?
if [ "$status" != 0 ] || [ "$said" != "$expected" ]; then
	echo "FAILED: exit status $status, said '$said', expected '$expected'"
	exit 1
fi
