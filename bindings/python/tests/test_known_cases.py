"""Inputs of which other radius searches are known to get the answer wrong, with answers from exact arithmetic."""

import os
import subprocess
import sys
from math import inf, nextafter, sqrt

import numpy as np
import oracle
import pytest
from conftest import undirected

import rthiss


def test_cancellation_far_from_the_origin(way):
    rows = [[400000, 400000], [400000, 400001], [400000, 400005]]
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        near = rthiss.self_join(np.array(rows, dtype), 2, return_distance=True, **way)
        assert undirected(near) == [(0, 1)]
        assert near.distances.tolist() == [1.0, 1.0]
        line = np.array([[512695], [512804]], dtype)
        assert undirected(rthiss.self_join(line, 108.5, **way)) == []
        assert undirected(rthiss.self_join(line, 109, **way)) == [(0, 1)]


@pytest.mark.parametrize("power", range(0, 51, 10))
def test_differences_at_every_offset(power):
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 5.0]]) + 2.0**power
    assert undirected(rthiss.self_join(rows, 1.0)) == [(0, 1)]
    assert undirected(rthiss.self_join(rows, nextafter(1.0, 0.0))) == []
    assert undirected(rthiss.self_join(rows, 5.0)) == [(0, 1), (0, 2), (1, 2)]


def test_boundary(way):
    above = np.nextafter(np.float32(4), np.float32(5))
    for dtype in (np.float32, np.float64):
        rows = np.array([[0, 0], [3, 4], [3, above]], dtype)
        assert undirected(rthiss.self_join(rows, 5.0, **way)) == [(0, 1), (1, 2)]
        assert undirected(rthiss.self_join(rows, nextafter(5.0, 0.0), **way)) == [(1, 2)]


def test_float32_data_with_a_double_radius(way):
    rows = np.array([[0], [0.1]], np.float32)
    assert undirected(rthiss.self_join(rows, 0.1, **way)) == []
    assert undirected(rthiss.self_join(rows, np.float32(0.1), **way)) == [(0, 1)]


def test_radius_that_is_itself_a_distance(way):
    for dtype in (np.float32, np.float64, np.uint8, np.bool_):
        rows = np.array([[0, 0, 0], [1, 1, 1]], dtype)
        assert undirected(rthiss.self_join(rows, sqrt(3), **way)) == [(0, 1)]
        assert undirected(rthiss.self_join(rows, nextafter(sqrt(3), 0), **way)) == []


def test_every_squared_distance_up_to_10000():
    rows, there = [[0, 0, 0, 0]], set()
    for a in range(101):
        for b in range(a + 1):
            for c in range(b + 1):
                for d in range(c + 1):
                    total = a * a + b * b + c * c + d * d
                    if 0 < total <= 10000 and total not in there:
                        there.add(total)
                        rows.append([a, b, c, d])
    assert len(rows) == 10001
    rows = np.array(rows, np.float32)
    index = rthiss.Index(rows)
    near = index.search(rows[:1], 100.0, return_distance=True)
    squares = (rows.astype(np.int64) ** 2).sum(axis=1)
    assert near.distances.tolist() == [sqrt(squares[i]) for i in near[0]]
    for total in [*range(1, 40), *range(40, 10001, 331)]:
        assert index.search(rows[:1], sqrt(total)).nnz == total + 1
        assert index.search(rows[:1], nextafter(sqrt(total), 0)).nnz == total


def test_no_silent_cap(way):
    rows = np.zeros((34, 3))
    rows[:, 0] = [0.01 * i for i in range(34)]
    for dtype in (np.float32, np.float64):
        assert len(undirected(rthiss.self_join(rows.astype(dtype), 10, **way))) == 561


@pytest.mark.parametrize(("d", "about"), [(1000, 0.031624254335), (1536, 0.039193667321), (4096, 0.064002990723)])
def test_small_difference_in_many_dimensions(d, about):
    rows = np.ones((2, d), np.float32)
    rows[1] = 1.001
    distance = rthiss.self_join(rows, inf, return_distance=True).distances[0]
    assert abs(distance - about) < 1e-12
    assert undirected(rthiss.self_join(rows, distance)) == [(0, 1)]
    assert undirected(rthiss.self_join(rows, nextafter(distance, 0))) == []


def test_shared_coordinates_and_constant_columns(way):
    for dtype in (np.float32, np.float64, np.uint8):
        rows = np.array([[5, i] for i in range(33)], dtype)
        counts = [len(undirected(rthiss.self_join(rows, radius, **way))) for radius in (1, 0.999, 2)]
        assert counts == [32, 0, 63]
        wide = np.full((33, 8), 7, dtype)
        wide[:, 7] = range(33)
        assert len(undirected(rthiss.self_join(wide, 1, **way))) == 32


def test_zero_distances_stay(way):
    rows = np.array([[0, 0], [0, 0], [1, 0]], np.float32)
    near = rthiss.self_join(rows, 1, return_distance=True, **way)
    assert near.indices.tolist() == [1, 2, 0, 2, 0, 1]
    assert near.distances.tolist() == [0, 1, 0, 1, 1, 1]
    sparse = near.to_scipy()
    assert sparse.nnz == 6
    assert sparse.data.tolist() == [0, 1, 0, 1, 1, 1]
    assert rthiss.self_join(rows, 1, include_self=True, **way).to_scipy().nnz == 9


def test_float64_that_float32_cannot_hold(way):
    rows = np.array([[1654272000 + 8 * i] for i in range(26)])
    for dtype in (np.float64, np.int64):
        assert len(undirected(rthiss.self_join(rows.astype(dtype), 8, **way))) == 25
        assert len(undirected(rthiss.self_join(rows.astype(dtype), nextafter(8.0, 0), **way))) == 0


@pytest.mark.parametrize(
    ("shape", "first", "total", "answers"),
    [
        ((257, 37, 256), [181, 160, 250, 207, 35, 232], 1205413, {486: 317, 516: 953, 554: 3253, 635: 16296}),
        ((513, 128, 64), None, 2063283, {258: 1155, 275: 12959, 295: 65569}),
    ],
)
def test_lattices(shape, first, total, answers):
    rows = np.array(oracle.lattice(*shape))
    assert rows.sum() == total
    assert first is None or rows[0, :6].tolist() == first
    for dtype in (np.float32, np.uint8, np.float64):
        for preset in ("auto", "paper"):
            index = rthiss.Index(rows.astype(dtype), preset=preset)
            assert {radius: index.self_join(radius).nnz for radius in answers} == {
                radius: 2 * pairs for radius, pairs in answers.items()
            }
    assert len(undirected(index.self_join(min(answers)))) == answers[min(answers)]
    if 516 in answers:  # one pair lies on it
        assert index.self_join(nextafter(516.0, 0)).nnz == 2 * 952


def test_cosine(way):
    rows = np.array([[1, 0, 0], [0.6, 0.8, 0], [0.8, 0.6, 0], [0, 1, 0], [2, 0, 0], [0, 0, 0]])
    expected = [(0, 2), (0, 4), (1, 2), (1, 3), (2, 4)]
    with pytest.raises(ValueError, match="row 5"):
        rthiss.self_join(rows, 0.79, metric="cosine_similarity", **way)
    near = rthiss.self_join(rows, 0.79, metric="cosine_similarity", nonfinite="ignore", **way)
    assert undirected(near) == expected
    assert undirected(rthiss.self_join(rows, 0.21, metric="cosine", nonfinite="ignore", **way)) == expected


def test_chaining(way):
    assert undirected(rthiss.self_join(np.array([[0], [0.9], [1.8]]), 1, **way)) == [(0, 1), (1, 2)]


PROCESS_STATE = """
import threading
import numpy as np
def halves(out):
    out.append(2.2250738585072014e-308 / 2)
results = []
halves(results)
import rthiss
halves(results)
rthiss.self_join(np.random.default_rng(0).random((500, 9), np.float32), 0.5)
halves(results)
later = threading.Thread(target=halves, args=(results,))
later.start()
later.join()
assert len(results) == 4 and all(results), results
import ctypes, ctypes.util
rounding = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")
FE_UPWARD = 0x800
before = rthiss.self_join(np.random.default_rng(0).random((500, 9)), 0.5, return_distance=True)
assert rounding.fesetround(FE_UPWARD) == 0
after = rthiss.self_join(np.random.default_rng(0).random((500, 9)), 0.5, return_distance=True)
assert rounding.fegetround() == FE_UPWARD
assert rounding.fesetround(0) == 0
assert before.indices.tolist() == after.indices.tolist()
assert before.distances.tolist() == after.distances.tolist()
"""


def test_process_state_stays():
    subprocess.run([sys.executable, "-c", PROCESS_STATE], check=True)


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_of_many_calls_is_flat():
    rows = np.random.default_rng(1).random((100, 45), np.float32)

    def join(times):
        for _ in range(times):
            rthiss.self_join(rows, 2.0, return_distance=True, threads=2).pairs()

    join(100)
    before = resident_bytes()
    join(1000)
    assert resident_bytes() < before + (8 << 20)
