#!/usr/bin/env bash
# Builds the fuzz targets (clang) and runs each for its share of the time; fails on the first crash and says where the
# input lies. Inputs worth keeping belong into tests/fuzz/corpus/NAME, which the ordinary tests read too.
#   scripts/fuzz.sh [SECONDS]   SECONDS in all, 60 if left out
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
if [[ ! $seconds =~ ^[1-9][0-9]*$ ]] || (($# > 1)); then
  sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
cmake --preset fuzz
cmake --build --preset fuzz -j "$(nproc)"

targets=(build/fuzz/bin/fuzz_*)
for target in "${targets[@]}"; do
  name=${target##*/fuzz_}
  echo "--- $name"
  mkdir -p "build/fuzz/corpus/$name"
  # What the fuzzer finds goes to the first folder; the second, which is kept, only starts it.
  "$target" -max_total_time=$((seconds / ${#targets[@]} + 1)) -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name"
done
