"""The results as a table for the terminal and as a section of RESULTS.md."""

import os
import re

HEADER = ("peer", "rows", "seconds", "over rthiss", "pairs", "missing", "extra", "ties", "threshold", "arithmetic",
          "2n²d/s")
INTRODUCTION = """# Measured against other software

Written by `benchmarks/peers/run_peers.py`, one section a workload; a new run replaces its section.

- **seconds**: data in memory to all neighbour lists in memory, index building counted in; the median of the runs. For
  rthiss the search without reading the input and writing the result; its whole process stands below the table.
- **over rthiss**: the peer's seconds divided by those of rthiss in the same run, on the same data and threads.
- **pairs**: ordered pairs without self pairs. **missing / extra**: against the exact answer.
- **ties**: differing pairs whose distance, rounded to double, is the radius itself. **threshold**: those that the
  peer's own comparison (strict, or a squared radius rounded to its type) turns around. **arithmetic**: those that
  come from cancellation and rounding in the peer's distances.
- **2n²d/s**: GFLOP/s that a plain matrix product would need to do all pairs in the same time.
- **~**: measured on the rows given, evenly spread, and the time extrapolated with the square of their number (too high
  for a tree on data of few dimensions); its pairs are those of the rows that were searched.
"""


def _number(value):
    return "" if value is None else f"{value:,}"


def _seconds(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1 else f"{value:.3f}"


def _cells(row, base):
    if "status" in row:
        return (row["name"], row["status"])
    difference = row.get("difference") or {}
    reasons = difference.get("reasons") or {}
    estimated = "~" if row["extrapolated"] else ""
    about = "≈" if reasons.get("sampled") else ""
    return (
        row["name"], _number(row["rows"]), estimated + _seconds(row["seconds"]),
        f"{estimated}{row['seconds'] / base:.2f}" if base else "", _number(row.get("pairs")),
        _number(difference.get("missing")), _number(difference.get("extra")),
        *(about + _number(reasons.get(reason)) if reasons else "" for reason in ("ties", "threshold", "arithmetic")),
        f"{row['gflops']:.1f}",
    )


def base_seconds(rows):
    """Seconds of rthiss as people run it, or None where it did not run in full."""
    first = rows[0] if rows else {}
    return first.get("seconds") if first.get("peer") == "rthiss" and not first.get("extrapolated") else None


def table(case, markdown=False):
    rows = [_cells(row, base_seconds(case["peers"])) for row in case["peers"]]
    if markdown:
        lines = ["| " + " | ".join(HEADER) + " |", "|---" + "|---:" * (len(HEADER) - 1) + "|"]
        for row in rows:
            padded = row + ("",) * (len(HEADER) - len(row))
            lines.append("| " + " | ".join(padded) + " |")
        return "\n".join(lines)
    full = [HEADER] + [row for row in rows if len(row) == len(HEADER)]
    widths = [max(len(row[column]) for row in full) for column in range(len(HEADER))]
    widths[0] = max(len(row[0]) for row in rows + [HEADER])
    lines = []
    for row in [HEADER] + rows:
        cells = [row[0].ljust(widths[0])]
        cells += [row[1]] if len(row) == 2 else [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def remarks(case):
    """What does not fit the table: rthiss as a process, the fastest peer, each peer's rate and contract."""
    lines = []
    base = base_seconds(case["peers"])
    measured = [row for row in case["peers"] if "status" not in row]
    others = [row for row in measured if not row["peer"].startswith("rthiss")]
    for row in measured:
        if "process_seconds" in row:
            lines.append(f"{row['name']} as a whole process, reading and writing included: "
                         f"{_seconds(row['process_seconds'])} s.")
    if others:
        fastest = min(others, key=lambda row: row["seconds"])
        ratio = f", {fastest['seconds'] / base:.1f} times the time of rthiss" if base else ""
        lines.append(f"Fastest peer: {fastest['name']}, {_seconds(fastest['seconds'])} s{ratio}.")
    for row in measured:
        details = [f"{row['runs']} run{'s' if row['runs'] > 1 else ''}"]
        if row.get("contract"):
            details.append(row["contract"])
        if row.get("note"):
            details.append(row["note"])
        if row.get("blas_gflops"):
            details.append(f"its BLAS did {row['blas_gflops']:.1f} GFLOP/s right before")
        if row["extrapolated"]:
            details.append(f"{_seconds(row['measured_seconds'])} s measured on {row['rows']:,} rows")
        lines.append(f"{row['name']} {row.get('version') or ''}: {'; '.join(details)}.")
    return lines


def machine_lines(report):
    machine = report["machine"]
    rates = [f"numpy {name} {rate:.1f}" for name, rate in machine["numpy_gflops"].items()]
    rates += [f"scipy {name} {rate:.1f}" for name, rate in machine["scipy_gflops"].items()]
    if machine.get("faiss_sgemm_gflops"):
        rates.append(f"faiss float32 {machine['faiss_sgemm_gflops']:.1f}")
    kernels = [f"{info['library']} {info['version']} ({info['kernel']}, {info['threads']} threads)"
               for info in machine["blas"]]
    return [f"{report['date']}, {machine['processor']}, {report['threads']} threads.",
            f"Matrix product, GFLOP/s: {', '.join(rates)}.", f"BLAS: {'; '.join(kernels)}."]


def markdown_section(report):
    lines = [f"## {report['workload']}", "", report["description"] + ".", ""]
    lines += machine_lines(report) + ["", f"`{report['command']}`", ""]
    for case in report["cases"]:
        exact = f"{case['exact_pairs']:,} ordered pairs ({case['exact_source']})" if case["exact_pairs"] is not None \
            else "no exact count"
        lines += [f"### {case['label']}", "", f"{case['n']:,} x {case['d']}, radius {case['radius']!r}, {exact}.", "",
                  table(case, markdown=True), ""]
        lines += [f"- {line}" for line in remarks(case)] + [""]
    return "\n".join(lines)


def replace_section(path, name, section):
    """Puts the section of a workload into the file, in place of its last one."""
    begin, end = f"<!-- workload {name} -->", f"<!-- end of {name} -->"
    block = f"{begin}\n{section.rstrip()}\n{end}\n"
    text = INTRODUCTION
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    pattern = re.compile(re.escape(begin) + r".*?" + re.escape(end) + r"\n", re.DOTALL)
    if pattern.search(text):
        text = pattern.sub(lambda _: block, text)
    else:
        text = text.rstrip() + "\n\n" + block
    partial = path + ".part"
    with open(partial, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(partial, path)
