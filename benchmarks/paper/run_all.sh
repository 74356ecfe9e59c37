#!/usr/bin/env bash
# All experiments of the paper on this machine, one JSON file each, for draw.py.
# Usage: run_all.sh PROGRAM FOLDER [ENGINE]     ENGINE: cuda (default) or cpu, which leaves out what only cuda can
# Environment: SETS, HEIGHT_SETS, LOW_SETS (names as for `rthiss bench`), REPEATS, TIME_LIMIT (seconds of one run), INDEX, and
# DEVICE_MEMORY (of experiment mask, so small that there are batches to compare); ONLY names experiments to run.
set -euo pipefail

if (($# < 2 || $# > 3)); then
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
fi
program=$1
folder=$2
engine=${3:-cuda}
all_sets=${SETS:-embed1m128:150000 expo2m16:300000 susylike5m18:300000}
read -r -a sets <<<"$all_sets"
read -r -a height_sets <<<"${HEIGHT_SETS:-$all_sets}"
read -r -a low_sets <<<"${LOW_SETS:-uniform:1000000x3 exponential:1000000x3}"
engine_only=(--engine "$engine" --repeats "${REPEATS:-3}" --time-limit "${TIME_LIMIT:-10}" --progress off)
common=("${engine_only[@]}" --index "${INDEX:-auto}")
mkdir -p "$folder"

# run EXPERIMENT ARGUMENT...
run() {
  local name=$1 code=0 begin=$SECONDS
  shift
  [[ -z ${ONLY:-} || " $ONLY " == *" $name "* ]] || return 0
  "$program" bench "$name" "$@" --json "$folder/$name.json" || code=$?
  # 4: not supported here, which is an answer.
  ((code == 0 || code == 4)) || exit "$code"
  echo "# $name: $((SECONDS - begin)) s"
  echo
}

"$program" info --json "$folder/machine.json" >/dev/null
run primitives "${sets[@]}" "${common[@]}"
run height "${height_sets[@]}" "${common[@]}"
run grouping "${sets[@]}" "${common[@]}"
if [[ $engine == cuda ]]; then
  run shared-memory "${sets[@]}" "${common[@]}"
  run mask "${sets[@]}" "${common[@]}" --selectivity 256,4096 --device-memory-limit "${DEVICE_MEMORY:-2GiB}"
fi
run pruning "${sets[@]}" "${common[@]}" --selectivity 256,1024,4096
run stages "${sets[@]}" "${common[@]}" --selectivity 256,1024,4096
run selectivity "${sets[-1]}" "${common[@]}"
run semi-join "${sets[@]}" "${common[@]}"
run low-dimension "${low_sets[@]}" "${common[@]}"
run index "${sets[@]}" "${engine_only[@]}"
