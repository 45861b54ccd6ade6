#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every C file has the layout that .clang-format describes. Names the files that have not.
set -u -o pipefail
export LC_ALL=C

cd "${WEIR_SOURCE_ROOT:-$(dirname "$0")/../..}" || exit 1

# What clang-format makes of the text on stdin, as if it lay in FILE.
laid_out() { # FILE
	clang-format --style=file --fallback-style=none --assume-filename="$1"
}

# A check that cannot say no proves nothing.
sample=$(laid_out lib/sample.c <<<'int   x ;') || exit 1
if [ "$sample" != 'int x;' ]; then
	echo "FAILED: of 'int   x ;' clang-format makes '$sample'"
	exit 1
fi

n=0
offenders=()
while read -r file; do
	n=$((n + 1))
	laid_out "$file" <"$file" | cmp -s - "$file" || offenders+=("$file")
done < <(find lib dataplane tools tests -name '*.[ch]' | sort)
[ "$n" -gt 0 ] || offenders+=("(no C file found in $PWD)")
if [ ${#offenders[@]} -gt 0 ]; then
	printf 'FAILED: clang-format -i %s\n' "${offenders[@]}"
	exit 1
fi
echo "$n files are laid out as .clang-format says"
