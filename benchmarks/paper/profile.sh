#!/usr/bin/env bash
# Table VII of the paper: throughput, global loads and bank conflicts of the refinement kernel of preset paper, without
# tiles in shared memory and with both, read by Nsight Compute from the first batch of a count.
# Usage: profile.sh PROGRAM DATA RADIUS     DATA: a file
# Needs ncu (of the CUDA toolkit) and the right to read the device's counters; says so where it lacks one.
set -euo pipefail

if (($# != 3)); then
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
fi
program=$1
data=$2
radius=$3
profiler=$(command -v ncu || echo /usr/local/cuda/bin/ncu)
if [[ ! -x $profiler ]]; then
  echo "profile.sh: no ncu on the PATH or in /usr/local/cuda/bin; it comes with the CUDA toolkit (Nsight Compute)" >&2
  exit 4
fi

metrics=(
  gpu__time_duration.sum
  sm__throughput.avg.pct_of_peak_sustained_elapsed
  smsp__inst_executed_op_global_ld.sum
  l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tiles in none query primitive both; do
  if ! "$profiler" --csv --page raw --print-units base --clock-control none --kernel-name paper_kernel --launch-count 1 \
    --metrics "$(IFS=,; echo "${metrics[*]}")" \
    "$program" count "$data" --radius "$radius" --engine cuda --preset paper --shared-memory "$tiles" --json "$work/count.json" \
    >"$work/$tiles.csv" 2>"$work/log"; then
    status=$?
    cat "$work/$tiles.csv" "$work/log" >&2
    if grep -q ERR_NVGPUCTRPERM "$work/$tiles.csv" "$work/log"; then
      echo "profile.sh: this user may not read the device's counters; NVIDIA's page ERR_NVGPUCTRPERM says how to allow it" >&2
      exit 4
    fi
    exit "$status"
  fi
done

python3 - "$work" <<'PYTHON'
import csv
import sys

NAMES = ("none", "query", "primitive", "both")
TIME, THROUGHPUT, LOADS, SHARED, CONFLICTS = (
    "gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "smsp__inst_executed_op_global_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum")


def read(name):
    with open(f"{sys.argv[1]}/{name}.csv", encoding="utf-8") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    if len(rows) < 2:
        sys.exit(f"profile.sh: ncu saw no launch of the refinement with --shared-memory {name}:\n{''.join(lines)}")
    kernel = rows[1]  # rows[0] holds the units
    return {metric: float(kernel[metric].replace(",", "")) for metric in (TIME, THROUGHPUT, LOADS, SHARED, CONFLICTS)}


seen = {name: read(name) for name in NAMES}
print("| tiles | kernel, ms | compute throughput, % | over none | global load instructions | fewer than none | "
      "bank conflicts of shared loads |")
print("|---|---:|---:|---:|---:|---:|---:|")
none = seen["none"]
for name, row in seen.items():
    conflicts = f"{100 * row[CONFLICTS] / row[SHARED]:.2f} %" if row[SHARED] else ""
    print(f"| {name} | {row[TIME] / 1e6:.3f} | {row[THROUGHPUT]:.1f} | {row[THROUGHPUT] / none[THROUGHPUT]:.2f} | "
          f"{row[LOADS]:.4g} | {100 * (1 - row[LOADS] / none[LOADS]):.2f} % | {conflicts} |")
PYTHON
