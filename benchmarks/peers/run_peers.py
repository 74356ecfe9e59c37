#!/usr/bin/env python3
"""Times rthiss beside FAISS, scikit-learn, SciPy, nanoflann and snnpy: same data, same threads, one run.

    benchmarks/peers/setup.sh                                   once
    benchmarks/.venv/bin/python benchmarks/peers/run_peers.py fashion

Each peer runs in a process of its own with the given threads, on data in memory, and keeps its result. Its pairs are
compared with the exact answer, worked out by an oracle of the harness. Prints a table; --json and --markdown store it.
The harness clears OPENBLAS_CORETYPE, which may hold a BLAS back.
"""

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import tempfile

try:
    import numpy as np

    import adapters
    import contracts
    import exact
    import machine
    import report
    import workloads
except ImportError as error:
    sys.exit(f"run_peers.py: {error}; run benchmarks/peers/setup.sh and use benchmarks/.venv/bin/python")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# A probe shorter than this says little about the whole.
PROBE_SECONDS = 2.0
PROBE_ROWS = 2_000
# A peer too slow for all rows gets as many as take about this share of the limit.
SUBSET_SHARE = 0.25


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", help=f"{', '.join(workloads.NAMED)} or FILE.npy (with --radius)")
    parser.add_argument("--radius", type=float, action="append", help="plain distance; may be given several times")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rthiss", default=os.path.join(ROOT, "build/release/bin/rthiss"), metavar="PATH")
    parser.add_argument("--nanoflann", metavar="PATH", help="the program nanoflann_join; default: beside --rthiss")
    parser.add_argument("--presets", default="auto", help="presets of rthiss to time, as auto,paper")
    parser.add_argument("--peers", help="only these, as rthiss,faiss,snnpy")
    parser.add_argument("--rows", type=int, help="only this many rows of the workload, evenly spread")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds for one run of a peer (600)")
    parser.add_argument("--quick", action="store_true",
                        help="skip a peer that would pass the limit instead of extrapolating from fewer rows")
    parser.add_argument("--repeats", type=int, default=3, help="runs of a peer that takes less than 60 s (3)")
    parser.add_argument("--no-exact", action="store_true", help="do not work out the exact answer and the differences")
    parser.add_argument("--work-dir", help="keeps tables and exact answers there for the next run")
    parser.add_argument("--fashion-file", default=workloads.FASHION, metavar="IDX.gz")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--markdown", metavar="FILE", help="usually benchmarks/RESULTS.md")
    options = parser.parse_args(arguments)
    if options.threads < 1 or options.repeats < 1:
        parser.error("--threads and --repeats must be at least 1")
    if options.rows is not None and options.rows < 2:
        parser.error("--rows must be at least 2")
    if options.nanoflann is None:
        options.nanoflann = os.path.join(os.path.dirname(options.rthiss), "nanoflann_join")
    return options


class Harness:
    """Runs tasks in child processes and keeps the files that they share."""

    def __init__(self, options, work_dir, scratch):
        self.options = options
        self.work_dir = work_dir
        self.scratch = scratch
        self.presets = options.presets.split(",")
        self.programs = {"rthiss": options.rthiss, "nanoflann_join": options.nanoflann}
        self.peers = adapters.all_peers(self.programs, self.presets)
        self.wanted = options.peers.split(",") if options.peers else list(self.peers)
        unknown = [word for word in self.wanted if word not in self.peers]
        if unknown:
            raise ValueError(f"no peer '{unknown[0]}': {', '.join(self.peers)}")

    def task(self, kind, timeout=None, **fields):
        answer = os.path.join(self.scratch, "answer.json")
        task_file = os.path.join(self.scratch, "task.json")
        with open(task_file, "w", encoding="utf-8") as file:
            json.dump({"kind": kind, "answer": answer, "scratch": self.scratch, "threads": self.options.threads,
                       "programs": self.programs, "presets": self.presets, **fields}, file)
        if os.path.exists(answer):
            os.remove(answer)
        try:
            done = subprocess.run([sys.executable, os.path.join(HERE, "worker.py"), task_file], check=False,
                                  env=machine.child_environment(self.options.threads), timeout=timeout,
                                  stderr=subprocess.PIPE, text=True)
        except subprocess.TimeoutExpired:
            return {"failed": f"stopped after {timeout:.0f} s"}
        if not os.path.exists(answer):
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            return {"failed": f"its process ended with {done.returncode}: {last}"}
        with open(answer, encoding="utf-8") as file:
            return json.load(file)

    def store(self, points):
        path = os.path.join(self.work_dir, workloads.digest(points)[:16] + ".npy")
        if not os.path.exists(path):
            np.save(path, points)
        return path

    def exact_keys(self, case, path):
        """The path of the exact pairs and where they come from."""
        keys = f"{path[:-4]}-{case.radius!r}.exact.npy"
        if not os.path.exists(keys):
            say(f"  working out the exact answer ({case.label})")
            answer = self.task("oracle", points=path, radius=case.radius, keys=keys + ".part.npy")
            if "pairs" not in answer:
                raise RuntimeError(f"the oracle failed: {answer.get('failed') or answer.get('unavailable')}")
            os.replace(keys + ".part.npy", keys)
        return keys

    def time_peer(self, word, path, radius, expected_pairs, keys):
        limit = self.options.time_limit
        # The limit is for one run; a process also loads the data, measures its BLAS and sorts the pairs.
        return self.task("peer", timeout=limit * 1.5 + 60 * self.options.repeats + 120, peer=word, points=path,
                         radius=radius, expected_pairs=expected_pairs, keys=keys, repeat_below=60.0,
                         repeats=self.options.repeats if keys else 1)

    def rows_within_limit(self, word, case):
        """How many rows the peer can join within the limit and the seconds estimated for all of them."""
        n = len(case.points)
        rows = PROBE_ROWS
        estimate = None
        while rows < n // 2 and not word.startswith("rthiss"):
            part = self.store(case.points[workloads.spread(n, rows)])
            answer = self.time_peer(word, part, case.radius, 0, None)
            if "seconds" not in answer:
                return n, None
            estimate = answer["seconds"] * (n / rows) ** 2
            if answer["seconds"] >= PROBE_SECONDS:
                break
            rows *= 2
        if estimate is None or estimate <= self.options.time_limit:
            return n, estimate
        affordable = int(n * (self.options.time_limit * SUBSET_SHARE / estimate) ** 0.5)
        return min(n, max(rows, affordable)), estimate


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure_peer(harness, word, case, path, exact_path):
    peer = harness.peers[word]
    row = {"peer": word, "name": peer.name}
    n, d = case.points.shape
    say(f"  {peer.name}")
    rows, estimate = harness.rows_within_limit(word, case)
    if rows < n and harness.options.quick:
        return {**row, "status": f"skipped: about {estimate:,.0f} s, more than the limit"}
    selected = workloads.spread(n, rows)
    points = case.points if rows == n else np.ascontiguousarray(case.points[selected])
    part = path if rows == n else harness.store(points)
    expected = np.load(exact_path, mmap_mode="r") if exact_path else None
    expected_pairs = len(expected) if expected is not None else case.known_pairs or 0
    keys = os.path.join(harness.scratch, "pairs.npy")
    answer = harness.time_peer(word, part, case.radius, expected_pairs, keys)
    if "seconds" not in answer:
        return {**row, "status": answer.get("unavailable") or f"failed: {answer.get('failed')}"}
    scale = (n / rows) ** 2
    contract = peer.contract(points.dtype)
    row |= {"rows": rows, "extrapolated": rows < n, "measured_seconds": answer["seconds"],
            "seconds": answer["seconds"] * scale, "gflops": 2.0 * rows**2 * d / answer["seconds"] / 1e9,
            "note": peer.note, "contract": None if word.startswith("rthiss") else contract.describe()}
    row |= {key: answer[key] for key in ("runs", "all_seconds", "pairs", "version", "blas_gflops", "process_seconds",
                                         "stats") if key in answer}
    if expected is not None:
        target = expected if rows == n else exact.restrict(np.asarray(expected), n, selected)
        row["difference"] = contracts.compare(np.load(keys), np.asarray(target), points, case.radius, contract)
    return row


def run_case(harness, case):
    n, d = case.points.shape
    say(f"{case.label}: {n:,} x {d}, radius {case.radius!r}, {harness.options.threads} threads")
    path = harness.store(case.points)
    entry = {"label": case.label, "n": n, "d": d, "dtype": str(case.points.dtype), "radius": case.radius,
             "sha256": workloads.digest(case.points), "exact_pairs": case.known_pairs, "exact_source": "known",
             "peers": []}
    exact_path = None
    if not harness.options.no_exact:
        exact_path = harness.exact_keys(case, path)
        entry["exact_pairs"] = len(np.load(exact_path, mmap_mode="r"))
        entry["exact_source"] = "oracle of the harness"
        if case.known_pairs is not None:
            if case.known_pairs != entry["exact_pairs"]:
                raise RuntimeError(f"{case.label}: the oracle finds {entry['exact_pairs']:,} pairs, "
                                   f"{case.known_pairs:,} are known")
            entry["exact_source"] = "known, and the oracle of the harness agrees"
    for word in harness.wanted:
        entry["peers"].append(measure_peer(harness, word, case, path, exact_path))
    return entry


def shown_command(arguments):
    """The command as a reader would type it: without the folders of this machine."""
    shown = [os.path.relpath(word, ROOT) if os.path.isabs(word) and word.startswith(ROOT) else
             os.path.basename(word) if os.path.isabs(word) else word for word in arguments]
    return "benchmarks/.venv/bin/python benchmarks/peers/run_peers.py " + shlex.join(shown)


def run(options, arguments, work_dir, scratch):
    options.work_dir = work_dir
    harness = Harness(options, work_dir, scratch)
    workload = workloads.load(options.workload, options)
    rates = harness.task("machine")
    if "numpy_gflops" not in rates:
        raise RuntimeError(f"measuring the BLAS failed: {rates.get('failed') or rates.get('unavailable')}")
    result = {
        "schema": 1, "workload": workload.name, "description": workload.description, "threads": options.threads,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "command": shown_command(arguments),
        "machine": {"processor": machine.processor(), "cpus": os.cpu_count(), **rates}, "cases": [],
    }
    print("\n".join([workload.description, *report.machine_lines(result)]), flush=True)
    for case in workload.cases:
        entry = run_case(harness, case)
        result["cases"].append(entry)
        shown = f"{entry['exact_pairs']:,}" if entry["exact_pairs"] is not None else "not worked out"
        print(f"\n{entry['label']}, radius {entry['radius']!r}, exact pairs: {shown}\n{report.table(entry)}")
        print("\n".join(report.remarks(entry)), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    if options.markdown:
        report.replace_section(options.markdown, workload.name, report.markdown_section(result))
    return result


def main(arguments):
    options = parse_arguments(arguments)
    # The parent's own linear algebra (radius estimates) obeys --threads too.
    from threadpoolctl import threadpool_limits

    try:
        with tempfile.TemporaryDirectory(prefix="rthiss-peers-") as scratch, threadpool_limits(options.threads):
            work_dir = options.work_dir or scratch
            os.makedirs(work_dir, exist_ok=True)
            run(options, arguments, work_dir, scratch)
    except (ValueError, RuntimeError, OSError) as error:
        sys.exit(f"run_peers.py: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
