#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The strategies and the handler of tools/examples are built as their comments say, by somebody who
# has nothing but the public headers: without a warning, and with the symbol and the section that Weir
# looks for.
# From meson: WEIR_SOURCE_ROOT, WEIR_HAS_BPF.
set -u -o pipefail
export LC_ALL=C

: "${WEIR_SOURCE_ROOT:?}" "${WEIR_HAS_BPF:?}"
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT

fail() {
	echo "FAILED: $*"
	exit 1
}

cp -R "$WEIR_SOURCE_ROOT/lib/include/weir" "$WEIR_SOURCE_ROOT/tools/examples" "$WORK" || exit 1
cd "$WORK/examples" || exit 1
for name in warm_up weighted top_flows; do
	kind=strategy
	[ $name != top_flows ] || kind=handler
	grep -qF "cc -O2 -shared -fPIC $name.c " $name.c || fail "$name.c does not say how"
	for standard in c11 gnu11; do
		"${CC:-cc}" -std=$standard -Wall -Wextra -pedantic -Werror -I"$WORK" \
			-O2 -shared -fPIC $name.c -o $name.so || fail "$name.c, $standard"
	done
	nm -D --defined-only $name.so | grep -q " weir_${kind}_plugin\$" ||
		fail "$name.so exports $(nm -D --defined-only $name.so)"
	! nm -D --undefined-only $name.so | grep ' weir_' || fail "$name.so needs a library"
	if [ "$WEIR_HAS_BPF" = 0 ] || [ $kind = handler ]; then
		continue
	fi
	grep -qF "clang -O2 -target bpf -mcpu=v2 " $name.bpf.c || fail "$name.bpf.c does not say how"
	clang -O2 -Wall -Wextra -Werror -target bpf -mcpu=v2 -I"$WORK" -c $name.bpf.c -o $name.o ||
		fail "$name.bpf.c"
	readelf -SW $name.o | grep -q ' weir/pick ' || fail "$name.o has no section weir/pick"
done
