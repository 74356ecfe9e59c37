#!/usr/bin/env python3
"""Runs rthiss_micro and puts the table into RESULTS.md.

    python3 benchmarks/micro/run_micro.py build/ci/bin/rthiss_micro

Each benchmark runs several times; the run with the least processor time counts, because other programs on the machine
only ever add to it.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
import report  # noqa: E402  (the sections of RESULTS.md are put in place by the same code)

SECTION = "micro"
HEADER = ("benchmark", "axes", "time", "items/s", "GB/s", "GFLOP/s", "% of peak", "found")
EXPLANATION = """- **time**: processor time of one call, one thread, the least of the runs. A call is 256 pairs
  (pair_distances), 496 pairs (decide), one tile, one matrix product, one whole stage.
- **items**: rows (gemm, project_points, build_kd_tree, bound_groups), point and box (near_boxes), pairs of
  points (tiles, pair_distances, decide, joins: all n² of them), ids (sort_ids), 64 x 64 matrices
  (transpose_bits), groups (bvh_build), pairs of groups (bvh_count, bvh_fill), neighbours (compact).
- **GB/s**: bytes read and written, each array once; a pair's two rows for each pair.
- **% of peak**: of the rate of independent fused multiply-adds of one thread (peak_fma), measured by the same program.
  A squared difference takes two instructions of which the peak counts four operations and these only three: 75 % is the
  most that difference_tile and pair_distances_float can reach.
- **found**: candidates (bvh) or ordered pairs without self pairs (joins, ties)."""
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def short(number):
    """Three digits and a unit's letter."""
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g} {letter}"
    return f"{number:.3g}"


def time_of(run):
    seconds = run["cpu_time"] * UNITS[run["time_unit"]]
    for limit, letter in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= limit:
            return f"{seconds / limit:.3g} {letter}"
    return f"{seconds / 1e-9:.3g} ns"


def best_runs(runs):
    """By name, in the order of the run, the one with the least processor time."""
    best = {}
    for run in runs:
        if run.get("run_type") == "aggregate":
            continue
        if run.get("error_occurred"):
            raise SystemExit(f"{run['name']}: {run['error_message']}")
        name = run["run_name"]
        if name not in best or run["cpu_time"] < best[name]["cpu_time"]:
            best[name] = run
    return best


def cells(name, run):
    title, *axes = name.split("/")
    axes = [axis.replace(":", " ") for axis in axes if axis != "process_time"]
    found = run.get("pairs", run.get("candidates"))
    return (
        title, ", ".join(axes), time_of(run),
        short(run["items_per_second"]) if "items_per_second" in run else "",
        f"{run['bytes_per_second'] / 1e9:.3g}" if "bytes_per_second" in run else "",
        f"{run['flops'] / 1e9:.3g}" if "flops" in run else "",
        f"{run['peak_percent']:.0f}" if "peak_percent" in run else "",
        f"{found:,.0f}" if found is not None else "",
    )


def ratios(best):
    """What has a limit: float64 against float32, ties against none, the inner kernel against the peak."""
    def seconds(name):
        run = best.get(name)
        return run and run["cpu_time"] * UNITS[run["time_unit"]]

    lines = []
    for preset in ("auto", "paper"):
        times = [seconds(f"join_{dtype}/preset_{preset}/process_time") for dtype in ("float32", "float64", "uint8")]
        if all(times):
            lines.append(f"Preset {preset}: float64 input takes {times[1] / times[0]:.2f} times the time of float32 "
                         f"(at most 2.5 is the aim), uint8 {times[2] / times[0]:.2f} times.")
    ties, general = seconds("ties_binary/process_time"), seconds("ties_general_position/process_time")
    if ties and general:
        lines.append(f"Binary codes with a tenth of all pairs on the radius take {ties / general:.2f} times the time "
                     "of general position (at most 1 is the aim).")
    tiles = [run["peak_percent"] for name, run in best.items() if name.startswith("dense_tile/")]
    if tiles:
        lines.append(f"Refinement's inner kernel (dense_tile): {min(tiles):.0f} to {max(tiles):.0f} % of the peak "
                     "(60 % or more is the aim).")
    return lines


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return "unknown processor"


def markdown_section(result, command, load, note):
    best = best_runs(result["benchmarks"])
    context = result["context"]
    lines = ["## Micro-benchmarks", "", "Each stage by itself, one thread.", "", EXPLANATION, "",
             f"{datetime.date.today()}, {processor()}, {context['num_cpus']} processors, load {load:.1f} before the "
             f"run, {context['simd']}, peak {float(context['peak_flops']) / 1e9:.1f} GFLOP/s (float32, one thread)."
             + (f" {note}" if note else ""), "",
             f"`{command}`", "", "| " + " | ".join(HEADER) + " |", "|---|---" + "|---:" * (len(HEADER) - 2) + "|"]
    lines += ["| " + " | ".join(cells(name, run)) + " |" for name, run in best.items()]
    lines += [""] + [f"- {line}" for line in ratios(best)]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", help="path of rthiss_micro")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--min-time", type=float, default=0.05, help="seconds of each repetition")
    parser.add_argument("--note", default="", help="a sentence about the machine, for the section")
    parser.add_argument("--output", default=str(HERE.parent / "RESULTS.md"))
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    run = subprocess.run(
        [arguments.program, "--benchmark_format=json", f"--benchmark_repetitions={arguments.repetitions}",
         f"--benchmark_min_time={arguments.min_time}"], stdout=subprocess.PIPE, check=True)
    command = f"python3 benchmarks/micro/run_micro.py {os.path.relpath(arguments.program)}"
    command += f" --repetitions {arguments.repetitions} --min-time {arguments.min_time}"
    section = markdown_section(json.loads(run.stdout), command, load, arguments.note)
    print(section)
    report.replace_section(arguments.output, SECTION, section)


if __name__ == "__main__":
    main()
