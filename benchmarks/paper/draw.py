#!/usr/bin/env python3
"""Pictures and a table from the JSON files of `run_all.sh`: the paper's message beside what was seen.

Usage: draw.py FOLDER [OUTPUT]    writes OUTPUT/*.svg and OUTPUT/summary.md (OUTPUT: FOLDER unless given)

Needs matplotlib. Times are medians; a variant that was stopped or is not available has no bar.
"""

import json
import math
import sys
from pathlib import Path
from statistics import geometric_mean

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "rthiss", "font.size": 8, "axes.grid": True,
                            "axes.axisbelow": True, "grid.alpha": 0.4})
from matplotlib import pyplot as plt  # noqa: E402

PASSES = ("fit", "count", "fill")


def rows_of(case):
    """{variant: row} of what was measured."""
    return {row["variant"]: row for row in case["rows"] if row["status"] == "measured"}


def label_of(case):
    wanted = case["wanted_selectivity"]
    return case["set"] + (f"\n{wanted:g} neighbours" if wanted else f"\nradius {case['radius']:g}")


def seconds(row):
    return row["seconds"]["median"]


def ratios(report, slow, fast):
    """Seconds of `slow` over those of `fast`, by case; a lower bound where `slow` was stopped."""
    found = []
    for case in report["cases"]:
        rows = rows_of(case)
        if fast not in rows:
            continue
        stopped = any(row["variant"] == slow and row["status"] == "time_limit" for row in case["rows"])
        if slow in rows:
            found.append((case, seconds(rows[slow]) / seconds(rows[fast]), ""))
        elif stopped and report["time_limit"]:
            found.append((case, report["time_limit"] / seconds(rows[fast]), "over "))
    return found


def factors_text(found):
    return "; ".join(f"{mark}{ratio:.2f} ({case['set']}"
                     + (f", {case['wanted_selectivity']:g})" if case["wanted_selectivity"] else ")")
                     for case, ratio, mark in found)


# Each judge returns (what was seen, True: agrees, False: does not, None: nothing to agree with).


def judge_primitives(report):
    found = ratios(report, "point", "group")
    if not found:
        return "nothing measured", None
    return f"groups faster by {factors_text(found)}", all(ratio > 1 for _, ratio, _ in found)


def judge_height(report):
    seen, near = [], True
    for case in report["cases"]:
        rows = rows_of(case)
        if not rows:
            continue
        published = str(int(math.log(case["n"])))
        best = min(rows, key=lambda name: seconds(rows[name]))
        if published not in rows:
            continue
        ratio = seconds(rows[published]) / seconds(rows[best])
        near = near and ratio <= 1.25
        seen.append(f"{case['set']}: best {best}, floor(ln n) = {published} takes {ratio:.2f} times as long")
    return "; ".join(seen) or "floor(ln n) was not among the heights", near if seen else None


def judge_grouping(report):
    seen, best_everywhere = [], True
    for case in report["cases"]:
        rows = rows_of(case)
        if "kd-tree" not in rows:
            continue
        best = min(rows, key=lambda name: seconds(rows[name]))
        ratio = seconds(rows["kd-tree"]) / seconds(rows[best])
        best_everywhere = best_everywhere and ratio <= 1.05
        seen.append(f"{case['set']}: best {best}, kd-tree takes {ratio:.2f} times as long")
    return "; ".join(seen) or "nothing measured", best_everywhere if seen else None


def judge_shared_memory(report):
    primitive, both, query = (ratios(report, "none", name) for name in ("primitive", "both", "query"))
    if not primitive or not both:
        return "nothing measured", None
    mean = [geometric_mean([ratio for _, ratio, _ in found]) for found in (primitive, both, query)]
    text = (f"against none, geometric means: primitive {mean[0]:.2f}, both {mean[1]:.2f}, query {mean[2]:.2f}; "
            f"both: {factors_text(both)}")
    return text, all(ratio > 1 for _, ratio, _ in primitive + both)


def judge_mask(report):
    compressed = ratios(report, "plain", "compressed")
    batches, more = [], True
    for case in report["cases"]:
        rows = rows_of(case)
        if {"compressed", "plain", "pairs"} <= set(rows):
            numbers = [rows[name]["batches"] for name in ("compressed", "plain", "pairs")]
            more = more and numbers[2] > numbers[0]
            batches.append("/".join(map(str, numbers)))
    if not compressed:
        return "nothing measured", None
    mean = geometric_mean([ratio for _, ratio, _ in compressed])
    return (f"compressed {mean:.2f} times as fast as plain (geometric mean); batches compressed/plain/pairs: "
            f"{', '.join(batches)}"), mean > 1 and more


def judge_pruning(report):
    seen = []
    for case in report["cases"]:
        shares = [f"{name} {100 - 100 * row['candidates']['comparisons'] / row['brute_force']:.1f} %"
                  + (" (each unordered pair once)" if name == "auto" and case["self_join"] else "")
                  for name, row in rows_of(case).items()]
        seen.append(f"{case['set']}, {case['wanted_selectivity'] or case['radius']:g}: {', '.join(shares)}")
    return "saved: " + "; ".join(seen), None


def shares_of(row):
    stages = row["stages"]
    return {name: stages[name] / stages["total"] for name in stages if name != "total"}


def judge_stages(report):
    refine, passes, group = [], [], []
    for case in report["cases"]:
        for row in rows_of(case).values():
            shares = shares_of(row)
            refine.append(shares["refine"])
            passes.append(sum(shares[name] for name in PASSES))
            group.append(shares["group"])
    if not refine:
        return "nothing measured", None
    mean = [100 * sum(values) / len(values) for values in (refine, group, passes)]
    text = f"refine {mean[0]:.1f} %, grouping {mean[1]:.1f} %, FIT and both passes {mean[2]:.1f} % on average"
    return text, mean[0] > 50 and mean[2] < 10


def judge_selectivity(report):
    found = ratios(report, "paper", "auto")
    return f"preset auto faster than paper by {factors_text(found)}" if found else "nothing measured", None


def judge_semi_join(report):
    return "the same pairs both ways round" if report["equal"] else "results differ", report["equal"]


def judge_low_dimension(report):
    found = ratios(report, "paper", "auto")
    if not found:
        return "nothing measured", None
    return f"preset auto faster by {factors_text(found)}", all(ratio > 1 for _, ratio, _ in found)


def judge_index(report):
    seen = []
    for case in report["cases"]:
        parts = []
        for row in case["rows"]:
            if row["status"] == "measured":
                share = sum(row["stages"][name] for name in PASSES)
                parts.append(f"{row['variant']} {1000 * share:.1f} ms of {1000 * seconds(row):.0f}")
            else:
                parts.append(f"{row['variant']} {'stopped' if row['status'] == 'time_limit' else 'not available'}")
        seen.append(f"{case['set']}: {', '.join(parts)}")
    return "FIT and both passes: " + "; ".join(seen), None


def draw_bars(report, axes):
    """Seconds by variant, one cluster a case."""
    names = list(dict.fromkeys(row["variant"] for case in report["cases"] for row in case["rows"]))
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        places, values = [], []
        for at, case in enumerate(report["cases"]):
            row = rows_of(case).get(name)
            if row:
                places.append(at - 0.4 + (i + 0.5) * width)
                values.append(seconds(row))
        axes.bar(places, values, width, label=name)
    axes.set_xticks(range(len(report["cases"])), [label_of(case) for case in report["cases"]])
    axes.set_ylabel("seconds")
    axes.set_yscale("log")
    axes.legend()


def draw_height(report, axes):
    for case in report["cases"]:
        rows = rows_of(case)
        if not rows:
            continue
        least = min(seconds(row) for row in rows.values())
        heights = [int(name) for name in rows]
        line, = axes.plot(heights, [seconds(row) / least for row in rows.values()], marker=".", label=label_of(case))
        published = str(int(math.log(case["n"])))
        if published in rows:
            axes.plot([int(published)], [seconds(rows[published]) / least], marker="^", color=line.get_color(), markersize=9)
    axes.set_xlabel("height of the kd-tree (triangle: floor(ln n))")
    axes.set_ylabel("seconds over the least")
    axes.legend()


def draw_selectivity(report, axes):
    names = list(dict.fromkeys(row["variant"] for case in report["cases"] for row in case["rows"]))
    for name in names:
        for set_name in dict.fromkeys(case["set"] for case in report["cases"]):
            points = [(rows_of(case)[name]["selectivity"], seconds(rows_of(case)[name])) for case in report["cases"]
                      if case["set"] == set_name and name in rows_of(case)]
            axes.plot(*zip(*sorted(points)), marker=".", label=f"{name}, {set_name}") if points else None
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("neighbours of a query")
    axes.set_ylabel("seconds")
    axes.legend()


def draw_shares(report, axes, stages, values_of, unit):
    """Stacked bars, one a row."""
    bars = [(f"{label_of(case)}\n{name}", values_of(row)) for case in report["cases"]
            for name, row in rows_of(case).items()]
    bottom = [0.0] * len(bars)
    axes.set_prop_cycle(color=plt.get_cmap("tab20").colors)
    for stage in stages:
        heights = [values.get(stage, 0.0) for _, values in bars]
        axes.bar(range(len(bars)), heights, 0.7, bottom=bottom, label=stage)
        bottom = [a + b for a, b in zip(bottom, heights)]
    axes.set_xticks(range(len(bars)), [label for label, _ in bars], rotation=90 if len(bars) > 4 else 0)
    axes.set_ylabel(unit)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def draw_stages(report, axes):
    stages = ["order", "group", "bound", "index", "fit", "plan", "count", "fill", "refine", "compact", "read", "output"]
    draw_shares(report, axes, stages, shares_of, "share of the time")


def draw_index(report, axes):
    draw_shares(report, axes, PASSES, lambda row: row["stages"], "seconds")


def draw_pruning(report, axes):
    draw_shares(report, axes, ["left"],
                lambda row: {"left": 100 * row["candidates"]["comparisons"] / row["brute_force"]},
                "% of all distance calculations")


EXPERIMENTS = {
    "primitives": (judge_primitives, draw_bars),
    "height": (judge_height, draw_height),
    "grouping": (judge_grouping, draw_bars),
    "shared-memory": (judge_shared_memory, draw_bars),
    "mask": (judge_mask, draw_bars),
    "pruning": (judge_pruning, draw_pruning),
    "stages": (judge_stages, draw_stages),
    "selectivity": (judge_selectivity, draw_selectivity),
    "semi-join": (judge_semi_join, draw_bars),
    "low-dimension": (judge_low_dimension, draw_bars),
    "index": (judge_index, draw_index),
}


def picture(report, draw, message, verdict, path):
    bars = sum(len(case["rows"]) for case in report["cases"])
    figure, axes = plt.subplots(figsize=(min(11, max(6, 0.35 * bars + 2)), 4), layout="constrained")
    draw(report, axes)
    axes.set_title(f"{report['experiment']}: {verdict}", loc="left")
    figure.supxlabel("Published: " + message, fontsize=6.5, x=0.01, ha="left", wrap=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    output = Path(sys.argv[-1])
    output.mkdir(parents=True, exist_ok=True)
    published = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))
    lines = ["*Agrees* speaks of the direction of an effect, not of its size: data and machine are others.", "",
             "| experiment | published | message | seen here | |", "|---|---|---|---|---|"]
    for name, (judge, draw) in EXPERIMENTS.items():
        path = folder / f"{name}.json"
        told = published["experiments"][name]
        if not path.exists():
            lines.append(f"| {name} | {told['figure']} | {told['message']} | not run | |")
            continue
        report = json.loads(path.read_text(encoding="utf-8"))
        if not report["equal"]:
            sys.exit(f"{path}: the variants found different pairs")
        seen, agrees = judge(report)
        verdict = {True: "agrees", False: "does not agree", None: "no verdict"}[agrees]
        picture(report, draw, told["message"], verdict, output / f"{name}.svg")
        lines.append(f"| [{name}]({name}.svg) | {told['figure']} | {told['message']} | {seen} | {verdict} |")
    (output / "summary.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
