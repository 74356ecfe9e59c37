"""join and count: known answers through files, formats of results, limits."""

import json
import math

import numpy as np
import pytest
import scipy.sparse

import oracle


def join_pairs(rthiss, data, radius, tmp_path, *more):
    """Ordered pairs as stored, checked to be sorted."""
    output = tmp_path / "pairs.npy"
    rthiss.run("join", data, "--radius", repr(radius), "--output", output, *more)
    pairs = [tuple(pair) for pair in np.load(output).tolist()]
    assert pairs == sorted(set(pairs))
    return pairs


def ordered(undirected):
    return sorted([(i, j) for i, j in undirected] + [(j, i) for i, j in undirected])


FOUR = np.nextafter(np.float32(4), np.float32(5))
SHARED = [[5, i] for i in range(33)]
KNOWN = {
    "cancellation": (np.array([[400000, 400000], [400000, 400001], [400000, 400005]], np.float32), 2.0, [(0, 1)]),
    "far apart": (np.array([[512695], [512804]], np.float32), 108.5, []),
    "far apart, on the radius": (np.array([[512695], [512804]], np.float32), 109.0, [(0, 1)]),
    "boundary": (np.array([[0, 0], [3, 4], [3, FOUR]], np.float32), 5.0, [(0, 1), (1, 2)]),
    "boundary, one below": (np.array([[0, 0], [3, 4], [3, FOUR]], np.float32), math.nextafter(5, 0), [(1, 2)]),
    "stored above the radius": (np.array([[0], [0.1]], np.float32), 0.1, []),
    "radius as stored": (np.array([[0], [0.1]], np.float32), float(np.float32(0.1)), [(0, 1)]),
    "radius is a distance": (np.array([[0, 0, 0], [1, 1, 1]], np.float32), math.sqrt(3), [(0, 1)]),
    "no cap": (np.array([[0.01 * i, 0, 0] for i in range(34)]), 10.0,
               [(i, j) for i in range(34) for j in range(i + 1, 34)]),
    "constant column": (np.array(SHARED, np.float32), 1.0, [(i, i + 1) for i in range(32)]),
    "constant column, below": (np.array(SHARED, np.float32), 0.999, []),
    "constant column, two": (np.array(SHARED, np.float32), 2.0,
                             [(i, i + k) for i in range(33) for k in (1, 2) if i + k < 33]),
    "float64 beyond float32": (np.array([[1654272000 + 8 * i] for i in range(26)], np.float64), 8.0,
                               [(i, i + 1) for i in range(25)]),
    "chain": (np.array([[0], [0.9], [1.8]]), 1.0, [(0, 1), (1, 2)]),
    "subnormal": (np.array([[0.0], [-0.0], [5e-324]]), 0.0, [(0, 1)]),
    "everything": (np.array([[0.0], [1e308], [-1e308]]), math.inf, [(0, 1), (0, 2), (1, 2)]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(rthiss, save, tmp_path, name):
    rows, radius, undirected = KNOWN[name]
    assert join_pairs(rthiss, save("rows.npy", rows), radius, tmp_path) == ordered(undirected)


@pytest.mark.parametrize("columns, distance", [(1000, 0.031624254335), (1536, 0.039193667321), (4096, 0.064002990723)])
def test_small_difference_in_many_columns(rthiss, save, tmp_path, columns, distance):
    rows = np.ones((2, columns), np.float32)
    rows[1] = np.float32(1.001)
    data = save("rows.npy", rows)
    assert join_pairs(rthiss, data, distance + 1e-11, tmp_path) == [(0, 1), (1, 0)]
    assert join_pairs(rthiss, data, distance - 1e-11, tmp_path) == []


TABLE = np.arange(12).reshape(4, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", ">f4", ">f8", "i1", "u1", "i2", ">u2", "i4", ">i4", "u4", "i8", ">u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dtypes_and_orders(rthiss, save, tmp_path, dtype, order):
    data = save("rows.npy", np.array(TABLE, dtype=dtype, order=order))
    assert join_pairs(rthiss, data, 5.2, tmp_path) == ordered([(0, 1), (1, 2), (2, 3)])


def test_bool_rows(rthiss, save, tmp_path):
    data = save("rows.npy", np.array([[False, True], [True, True], [False, True]]))
    assert join_pairs(rthiss, data, 0.0, tmp_path) == [(0, 2), (2, 0)]


@pytest.mark.parametrize("squared", [1, 2, 3, 5, 7, 48, 49, 1000, 9999])
def test_every_distance_as_a_radius_includes_its_pair(rthiss, save, tmp_path, squared):
    rows, left = [0, 0, 0, 0], squared
    for k in range(4):  # four squares, greedily searched
        for first in range(math.isqrt(left), -1, -1):
            if _is_sum_of_squares(left - first * first, 3 - k):
                rows[k], left = first, left - first * first
                break
    data = save("rows.npy", np.array([[0, 0, 0, 0], rows], np.float32))
    assert join_pairs(rthiss, data, math.sqrt(squared), tmp_path) == [(0, 1), (1, 0)]
    assert join_pairs(rthiss, data, math.nextafter(math.sqrt(squared), 0), tmp_path) == []


def _is_sum_of_squares(value, terms):
    if terms == 0:
        return value == 0
    return any(_is_sum_of_squares(value - f * f, terms - 1) for f in range(math.isqrt(value), -1, -1))


@pytest.mark.parametrize("preset", ["auto", "paper"])
@pytest.mark.parametrize("shape, radius, undirected", [
    ((257, 37, 256), 486, 317), ((257, 37, 256), 516, 953), ((257, 37, 256), 554, 3253), ((257, 37, 256), 635, 16296),
    ((513, 128, 64), 258, 1155), ((513, 128, 64), 275, 12959), ((513, 128, 64), 295, 65569)])
def test_lattice(rthiss, save, preset, shape, radius, undirected):
    data = save("rows.npy", np.array(oracle.lattice(*shape), np.float32))
    done = rthiss.run("count", data, "--radius", radius, "--preset", preset, "--json", "-")
    assert json.loads(done.stdout)["pairs"] == 2 * undirected


@pytest.mark.parametrize("engine, index, preset, projection", [
    ("cpu", "bvh", "auto", "pca"), ("cpu", "exhaustive", "paper", "variance"), ("reference", "bvh", "auto", "none"),
    ("auto", "auto", "auto", "auto")])
@pytest.mark.parametrize("size", [0, 1, 2, 31, 32, 33, 65])
def test_equal_to_exact_arithmetic(rthiss, save, tmp_path, engine, index, preset, projection, size):
    rows = np.random.default_rng(size).integers(-4, 5, (size, 3)) * 0.1  # many near-ties: 0.3 != 3 * 0.1
    data = save("rows.npy", rows)
    for radius in (0.0, 0.1, math.sqrt(2) * 0.1, 0.2, 0.5):
        pairs = join_pairs(rthiss, data, radius, tmp_path, "--engine", engine, "--index", index, "--preset", preset,
                           "--projection", projection)
        assert pairs == oracle.join(rows, radius)


def test_semi_join_keeps_equal_rows(rthiss, save, tmp_path):
    rows = np.random.default_rng(1).integers(0, 4, (40, 3)).astype(np.float32)
    queries = np.concatenate([rows[:5], rows[:2] + 1])
    pairs = join_pairs(rthiss, save("rows.npy", rows), 1.0, tmp_path, "--queries", save("queries.npy", queries))
    assert pairs == oracle.join(rows, 1.0, queries)
    assert (0, 0) in pairs


@pytest.mark.parametrize("rows, queries", [(0, None), (0, 3), (3, 0), (0, 0)])
def test_nothing_to_find(rthiss, save, tmp_path, rows, queries):
    more = [] if queries is None else ["--queries", save("queries.npy", np.ones((queries, 2)))]
    data = save("rows.npy", np.ones((rows, 2)))
    assert join_pairs(rthiss, data, 1.0, tmp_path, *more) == []
    output = tmp_path / "lists.npz"
    rthiss.run("join", data, "--radius", 1, "--output", output, *more)
    assert scipy.sparse.load_npz(output).shape == (rows if queries is None else queries, rows)


DUPLICATES = np.array([[0, 0], [0, 0], [1, 0]], np.float32)


@pytest.mark.parametrize("include_self, entries", [(False, 6), (True, 9)])
def test_npz_keeps_explicit_zeros(rthiss, save, tmp_path, include_self, entries):
    output = tmp_path / "lists.npz"
    rthiss.run("join", save("rows.npy", DUPLICATES), "--radius", 1, "--distances", "--output", output,
               *(["--include-self"] if include_self else []))
    matrix = scipy.sparse.load_npz(output)
    assert matrix.nnz == entries
    assert matrix.indices.dtype == np.int32
    assert matrix[0, 1] == 0 and matrix[0, 2] == 1
    assert sorted(matrix.data.tolist()) == [0.0] * (entries - 4) + [1.0] * 4


def test_npz_without_distances_holds_ones(rthiss, save, tmp_path):
    output = tmp_path / "lists.npz"
    rthiss.run("join", save("rows.npy", DUPLICATES), "--radius", 1, "--output", output)
    assert scipy.sparse.load_npz(output).data.tolist() == [1.0] * 6


def test_distances_are_rounded_once(rthiss, save, tmp_path):
    rows = np.random.default_rng(5).normal(size=(20, 7))
    output = tmp_path / "pairs.csv"
    rthiss.run("join", save("rows.npy", rows), "--radius", "inf", "--distances", "--output", output)
    lines = output.read_text().splitlines()
    assert lines[0] == "query,neighbor,distance" and len(lines) == 1 + 20 * 19
    exact = oracle.exact_rows(rows)
    for line in lines[1:]:
        i, j, distance = line.split(",")
        total = oracle.squared(exact[int(i)], exact[int(j)])
        assert oracle.within(total, float(distance))
        assert not oracle.within(total, math.nextafter(float(distance), 0))


def test_counts(rthiss, save, tmp_path):
    data = save("rows.npy", np.array(SHARED, np.uint8))
    output = tmp_path / "counts.npy"
    done = rthiss.run("count", data, "--radius", 1, "--output", output)
    counts = np.load(output)
    assert counts.dtype == np.uint64
    assert counts.tolist() == [1] + [2] * 31 + [1]
    assert "64 ordered" in done.stdout
    assert "least 1, median 2, most 2" in done.stdout
    again = tmp_path / "again.npy"
    rthiss.run("join", data, "--radius", 1, "--output", again, "--format", "counts")
    assert again.read_bytes() == output.read_bytes()


def test_cosine(rthiss, save, tmp_path):
    rows = np.array([[1, 0, 0], [.6, .8, 0], [.8, .6, 0], [0, 1, 0], [2, 0, 0]])
    expected = ordered([(0, 2), (0, 4), (1, 2), (1, 3), (2, 4)])
    data, output = save("rows.npy", rows), tmp_path / "pairs.npy"
    rthiss.run("join", data, "--cosine", "0.79", "--output", output)
    assert [tuple(pair) for pair in np.load(output).tolist()] == expected
    assert join_pairs(rthiss, data, 0.21, tmp_path, "--metric", "cosine") == expected
    zero = save("zero.npy", np.vstack([rows, np.zeros((1, 3))]))
    assert "5" in rthiss.refused("join", zero, "--cosine", "0.79", code=3)
    rthiss.run("join", zero, "--cosine", "0.79", "--nonfinite", "ignore", "--output", output)
    assert [tuple(pair) for pair in np.load(output).tolist()] == expected


def test_nonfinite_rows(rthiss, save, tmp_path):
    rows = np.array([[0, 0], [0, np.nan], [0, 1], [np.inf, 0]])
    data = save("rows.npy", rows)
    message = rthiss.refused("join", data, "--radius", 1, code=3)
    assert "row 1" in message and "column 1" in message
    assert join_pairs(rthiss, data, math.inf, tmp_path, "--nonfinite", "ignore", "--include-self") == [
        (0, 0), (0, 2), (2, 0), (2, 2)]


def test_max_results_refuses_with_the_number(rthiss, save, tmp_path):
    data, output = save("rows.npy", np.zeros((100, 2))), tmp_path / "pairs.npy"
    message = rthiss.refused("join", data, "--radius", 0, "--max-results", 9899, "--output", output, code=5)
    assert "9900" in message and "9899" in message
    assert not output.exists()
    rthiss.run("join", data, "--radius", 0, "--max-results", 9900, "--output", output)
    assert len(np.load(output)) == 9900


def test_radius_is_parsed_exactly(rthiss, save):
    data = save("rows.npy", DUPLICATES)
    for text in ("0.1", "1e-320", "0x1.999999999999ap-4", "5e-324", "1.7976931348623157e308", "-0.0"):
        value = float.fromhex(text) if "x" in text else float(text)
        done = rthiss.run("join", data, "--radius", text, "--json", "-")
        assert json.loads(done.stdout)["radius"] == value


def test_selectivity_sets_the_radius(rthiss, save):
    rows = np.random.default_rng(3).normal(size=(2000, 8)).astype(np.float32)
    done = rthiss.run("join", save("rows.npy", rows), "--selectivity", 20, "--json", "-")
    report = json.loads(done.stdout)
    assert 15 < report["selectivity"] < 25
    assert report["radius"] > 0 and "interval" in report["chosen"]["radius"]


SCHEMA = {
    "schema", "command", "n", "queries", "d", "dtype", "radius", "metric", "includes_self", "pairs", "selectivity",
    "engine", "index", "preset", "projection", "groups", "kd_tree_height", "threads", "devices", "batches",
    "batch_candidates", "candidates", "accepted_whole", "decided", "seconds", "peak_bytes", "chosen"}
SECONDS = {"total", "read", "order", "group", "bound", "index", "fit", "plan", "count", "fill", "refine", "compact",
           "output"}


@pytest.mark.parametrize("command", ["join", "count"])
def test_json(rthiss, save, tmp_path, command):
    data = save("rows.npy", np.array(oracle.lattice(513, 16, 64), np.float32))
    file = tmp_path / "report.json"
    done = rthiss.run(command, data, "--radius", 60, "--include-self", "--threads", 2, "--json", file)
    assert "ordered" in done.stdout  # the summary stays
    report = json.loads(file.read_text())
    assert set(report) == SCHEMA
    assert report["schema"] == 1 and report["command"] == command
    assert (report["n"], report["queries"], report["d"], report["dtype"]) == (513, 513, 16, "float32")
    assert report["radius"] == 60 and report["metric"] == "euclidean" and report["includes_self"] is True
    assert report["selectivity"] == (report["pairs"] - 513) / 513
    assert report["threads"] == 2 and report["devices"] == []
    assert set(report["candidates"]) == {"query_group", "comparisons"}
    assert set(report["batch_candidates"]) == {"least", "mean", "most", "deviation"}
    assert set(report["decided"]) == {"filter", "double", "double_double", "exact"}
    assert sum(report["decided"].values()) == report["candidates"]["comparisons"]
    assert set(report["seconds"]) == SECONDS
    parts = sum(seconds for stage, seconds in report["seconds"].items() if stage != "total")
    assert 0 < parts <= report["seconds"]["total"] * 1.01
    assert report["peak_bytes"]["host"] > 0 and report["peak_bytes"]["device"] == 0
    assert isinstance(report["chosen"], dict)


def test_json_writes_infinity_as_text(rthiss, save):
    done = rthiss.run("join", save("rows.npy", DUPLICATES), "--radius", "inf", "--json", "-")
    assert json.loads(done.stdout)["radius"] == "inf"


def test_explain_lists_the_choices(rthiss, save):
    data = save("rows.npy", np.array(oracle.lattice(513, 16, 64), np.float32))
    plain = rthiss.run("join", data, "--radius", 60).stdout
    explained = rthiss.run("join", data, "--radius", 60, "--explain").stdout
    assert "expected_pairs: " in explained and "expected_pairs: " not in plain


def test_results_on_standard_output(rthiss, save):
    done = rthiss.run("join", save("rows.npy", DUPLICATES), "--radius", 0, "--output", "-", "--format", "pairs-csv")
    assert done.stdout == "query,neighbor\n0,1\n1,0\n"
    assert "ordered" in done.stderr


def test_points_from_standard_input(rthiss, save):
    done = rthiss.run("count", "-", "--radius", 0, "--json", "-", input=save("rows.npy", DUPLICATES).read_bytes(),
                      text=False)
    assert json.loads(done.stdout)["pairs"] == 2
