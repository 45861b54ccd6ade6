#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# No source file is longer than 600 lines and no C function longer than 80. Names the offenders.
set -u -o pipefail
export LC_ALL=C

FILE_LINES_MAX=600
FUNCTION_LINES_MAX=80

cd "${WEIR_SOURCE_ROOT:-$(dirname "$0")/../..}" || exit 1

# Prints "FILE:LINE: NAME: N lines" for every function of the C files given. The layout is that of
# .clang-format: a definition's name begins its line, the braces around its body stand alone.
functions_measure() {
	awk '
		FNR == 1 { name = "" }
		/^[A-Za-z_][A-Za-z0-9_]*\(/ { name = substr($0, 1, index($0, "(") - 1); line = FNR }
		/;$/ && !inside { name = "" }
		/^\{$/ && name { inside = 1 }
		/^\}$/ && inside {
			print FILENAME ":" line ": " name ": " FNR - line + 1 " lines"
			inside = 0
			name = ""
		}' "$@"
}

longer_than() { # LINES, of lines that end in "N lines"
	awk -v max="$1" '$(NF - 1) > max'
}

# A check that cannot say no proves nothing: a function of 81 lines is found, one of 80 passes.
self_check() {
	local sample

	sample=$(mktemp) || exit 1
	{
		printf 'int\nlong_one(void)\n{\n'
		printf '\tx();\n%.0s' {1..78}
		printf '}\n\nint\nshort_one(void)\n{\n'
		printf '\tx();\n%.0s' {1..77}
		printf '}\n'
	} >"$sample"
	functions_measure "$sample" | longer_than "$FUNCTION_LINES_MAX" >"$sample.found"
	if [ "$(cat "$sample.found")" != "$sample:2: long_one: 81 lines" ]; then
		echo "FAILED: of functions of 81 and 80 lines, these were found: $(cat "$sample.found")"
		exit 1
	fi
	rm -f "$sample" "$sample.found"
}

self_check
mapfile -t c_files < <(find lib dataplane tools tests -name '*.[ch]' | sort)
mapfile -t files < <(
	printf '%s\n' "${c_files[@]}"
	find lib dataplane tools tests -type f ! -name '*.[ch]' ! -name '*.md' ! -name '*.pyc' | sort
)
functions=$(functions_measure "${c_files[@]}")
offenders=$(
	wc -l "${files[@]}" | awk '$2 != "total" { print $2 ": " $1 " lines" }' |
		longer_than "$FILE_LINES_MAX"
	longer_than "$FUNCTION_LINES_MAX" <<<"$functions"
)
n_functions=$(grep -c . <<<"$functions")
[ "$n_functions" -gt 0 ] || offenders="no function found in $PWD"
if [ -n "$offenders" ]; then
	sed 's/^/FAILED: /' <<<"$offenders"
	exit 1
fi
echo "${#files[@]} files and $n_functions functions are within the limits"
