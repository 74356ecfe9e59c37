#!/usr/bin/env bash
# Checks that C++ sources are formatted by .clang-format and hold ASCII only. --fix formats them.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=clang-format-14  # another version formats differently
if ! command -v "$formatter" >/dev/null; then
  echo "check_format.sh: $formatter not found; run scripts/install_dependencies.sh --test" >&2
  exit 1
fi
folders=()
for folder in include src cli bindings tests benchmarks examples; do
  [[ -d $folder ]] && folders+=("$folder")
done
mapfile -d '' files < <(find "${folders[@]}" -name '.venv' -prune -o -type f \( -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | sort -z)

status=0
if [[ ${1:-} == --fix ]]; then
  "$formatter" -i "${files[@]}"
else
  "$formatter" --dry-run --Werror "${files[@]}" || status=1
fi
if LC_ALL=C grep -nP '[^\x00-\x7F]' "${files[@]}"; then
  echo "check_format.sh: the lines above hold characters outside ASCII" >&2
  status=1
fi
((status == 0)) && echo "${#files[@]} files are formatted."
exit "$status"
