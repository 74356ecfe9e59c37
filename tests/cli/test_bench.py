"""bench: every experiment on small rows, the table, the JSON object, and what it refuses."""

import json

import numpy as np
import pytest

import oracle

EXPERIMENTS = ["primitives", "height", "grouping", "shared-memory", "mask", "pruning", "stages", "selectivity",
               "semi-join", "low-dimension", "index"]
ON_CPU = ["primitives", "grouping", "pruning", "stages", "semi-join", "index"]
RUNS = ("--engine", "cpu", "--threads", 1, "--repeats", 2, "--warm-up", 1)


@pytest.fixture
def rows():
    return np.random.default_rng(20261201).normal(size=(120, 5)).astype(np.float32)


@pytest.fixture
def report_of(rthiss, tmp_path):
    def run(*arguments, **how):
        path = tmp_path / "bench.json"
        text = rthiss.run("bench", *arguments, "--json", path, **how).stdout
        return json.loads(path.read_text()), text

    return run


def measured(case):
    return {row["variant"]: row for row in case["rows"] if row["status"] == "measured"}


def true_pairs(rows, radius):
    return len(oracle.join(rows, float(radius)))


@pytest.mark.parametrize("experiment", ON_CPU)
def test_variants_find_the_exact_pairs(report_of, save, rows, experiment):
    data = save("rows.npy", rows)
    report, text = report_of(experiment, data, "--radius", "1.5,2", *RUNS)
    assert report["schema"] == 1 and report["command"] == "bench" and report["experiment"] == experiment
    assert report["equal"] is True and report["repeats"] == 2 and report["warm_up"] == 1
    assert [case["radius"] for case in report["cases"]] == [1.5, 2]
    for case in report["cases"]:
        found = measured(case)
        assert case["equal"] is True and found
        if experiment == "semi-join":
            want = len(oracle.join(rows[0::2], float(case["radius"]), queries=rows[1::2]))
        else:
            want = true_pairs(rows, case["radius"])
        assert {row["pairs"] for row in found.values()} == {want}
        for name, row in found.items():
            assert name in text
            seconds = row["seconds"]
            assert len(seconds["runs"]) == 2 and seconds["first"] > 0
            assert seconds["least"] <= seconds["median"] <= seconds["most"]
            assert seconds["median"] in seconds["runs"]
            assert row["stages"]["total"] == seconds["median"]
            assert row["candidates"]["comparisons"] == sum(row["decided"].values())
            assert row["brute_force"] == row["points"] * row["queries"]
            sizes = row["batch_candidates"]
            assert sizes["least"] <= sizes["mean"] <= sizes["most"]


def test_the_variants_are_what_they_say(report_of, save, rows):
    data = save("rows.npy", rows)
    primitives = measured(report_of("primitives", data, "--radius", 1, *RUNS)[0]["cases"][0])
    assert primitives["point"]["groups"] == 120 and primitives["group"]["groups"] == 16  # 2^floor(ln 120)
    heights = measured(report_of("height", data, "--heights", "2,5", "--radius", 1, *RUNS)[0]["cases"][0])
    assert {name: row["groups"] for name, row in heights.items()} == {"2": 4, "5": 32}
    high = report_of("height", data, "--heights", "6,7", "--radius", 1, *RUNS)[0]["cases"][0]["rows"]
    assert [(row["variant"], row["status"]) for row in high] == [("6", "measured"), ("7", "unavailable")]
    indexes = report_of("index", data, "--radius", 1, *RUNS)[0]["cases"][0]
    assert all(row["index"] == name for name, row in measured(indexes).items())
    assert {"exhaustive", "bvh"} <= set(measured(indexes))
    unavailable = {row["variant"]: row for row in indexes["rows"] if row["status"] == "unavailable"}
    assert unavailable["optix"]["problem"]
    both = measured(report_of("pruning", data, "--radius", 1, *RUNS)[0]["cases"][0])
    assert {name: row["preset"] for name, row in both.items()} == {"paper": "paper", "auto": "auto"}
    one = measured(report_of("pruning", data, "--radius", 1, "--preset", "auto", *RUNS)[0]["cases"][0])
    assert list(one) == ["auto"]


def test_checksums_of_equal_results(report_of, save, rows):
    data = save("rows.npy", rows)
    found = measured(report_of("grouping", data, "--radius", 2, *RUNS)[0]["cases"][0])
    assert len(found) == 4 and len({row["checksum"] for row in found.values()}) == 1
    counted = measured(report_of("grouping", data, "--radius", 2, "--result", "counts", *RUNS)[0]["cases"][0])
    assert {row["checksum"] for row in counted.values()} == {None}
    assert {row["pairs"] for row in counted.values()} == {true_pairs(rows, 2)}


def test_queries_of_their_own(report_of, save, rows):
    data, queries = save("rows.npy", rows), save("queries.npy", rows[:30] + np.float32(0.25))
    report, text = report_of("semi-join", data, "--queries", queries, "--radius", 1.5, *RUNS)
    found = measured(report["cases"][0])
    want = len(oracle.join(rows, 1.5, queries=rows[:30] + np.float32(0.25)))
    assert {name: (row["queries"], row["pairs"]) for name, row in found.items()} == {
        "queries in points": (30, want), "points in queries": (120, want)}
    assert "30 queries" in text


def test_radii_for_numbers_of_neighbours(report_of, save, rows):
    report, _ = report_of("selectivity", save("rows.npy", rows), *RUNS)
    assert [case["wanted_selectivity"] for case in report["cases"]] == [64]  # 128 other rows are not there
    for case in report["cases"]:
        assert all(40 < row["selectivity"] < 90 for row in measured(case).values())


def test_generated_sets(report_of):
    report, _ = report_of("stages", "uniform:90x4", "exponential:80x2", "expo2m16:70", "--radius", 0.5, *RUNS)
    assert [(case["n"], case["d"]) for case in report["cases"]] == [(90, 4), (80, 2), (70, 16)]
    report, _ = report_of("low-dimension", "uniform:90x3", "--selectivity", 8, *RUNS)
    assert set(measured(report["cases"][0])) == {"paper", "auto"}


def test_a_time_limit_stops_variants(report_of, save, rows):
    report, text = report_of("grouping", save("rows.npy", rows), "--radius", 1, "--time-limit", 0, *RUNS)
    assert {row["status"] for row in report["cases"][0]["rows"]} == {"time_limit"}
    assert "stopped" in text


def test_batches_are_told(rthiss, tmp_path):
    path = tmp_path / "join.json"
    data = tmp_path / "rows.npy"
    rthiss.run("generate", "uniform", "-n", 20000, "-d", 3, "-o", data)
    rthiss.run("join", data, "--radius", 0.08, "--engine", "cpu", "--memory-limit", "300k", "--json", path)
    report = json.loads(path.read_text())
    sizes = report["batch_candidates"]
    assert report["batches"] > 1
    assert 0 < sizes["least"] < sizes["mean"] < sizes["most"]
    assert 0 < sizes["deviation"] <= sizes["most"] - sizes["least"]


@pytest.mark.parametrize("arguments, code, words", [
    (["ablation", "DATA"], 2, "subcommand"),
    ([], 2, "subcommand"),
    (["height"], 2, "DATA"),
    (["height", "DATA", "--radius", 1, "--selectivity", 2], 2, "not both"),
    (["height", "DATA", "--radius", "-1"], 2, "--radius"),
    (["height", "DATA", "--heights", "1,x"], 2, "--heights"),
    (["height", "DATA", "--kd-tree-height", 3], 2, "--kd-tree-height"),
    (["index", "DATA", "--index", "bvh"], 2, "--index"),
    (["stages", "DATA", "--repeats", 0], 2, "--repeats"),
    (["stages", "DATA", "--selectivity", 0], 2, "--selectivity"),
    (["stages", "DATA", "--selectivity", 500], 2, "--selectivity"),
    (["stages", "uniform"], 2, "uniform:100000x3"),
    (["stages", "expo2m16:many"], 2, "DATA"),
    (["mask", "DATA", "--preset", "auto"], 2, "paper"),
    (["low-dimension", "DATA", "--radius", 1], 3, "5 columns"),
    (["mask", "DATA", "--radius", 1, "--engine", "cpu"], 4, "cuda"),
    (["stages", "no-such-rows.npy"], 6, "expo2m16"),
])
def test_refusals(rthiss, save, rows, arguments, code, words):
    data = save("rows.npy", rows)
    message = rthiss.refused("bench", *[data if argument == "DATA" else argument for argument in arguments], code=code)
    assert words in message


@pytest.mark.parametrize("experiment", ["shared-memory", "mask"])
def test_ablations_of_cuda_elsewhere(rthiss, save, rows, tmp_path, experiment):
    known = tmp_path / "info.json"
    rthiss.run("info", "--json", known)
    if any(engine["name"] == "cuda" and engine["available"] for engine in json.loads(known.read_text())["engines"]):
        pytest.skip("there is a GPU")
    message = rthiss.refused("bench", experiment, save("rows.npy", rows), "--radius", 1, code=4)
    assert "engine 'cuda' cannot be used" in message


def test_help_names_every_experiment(rthiss):
    text = rthiss.run("bench", "--help").stdout
    assert all(name in text for name in EXPERIMENTS)
