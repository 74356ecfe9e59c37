"""Shapes, types and conversions of results."""

import pickle

import numpy as np
import pytest

import rthiss


def line(n):
    return np.arange(float(n)).reshape(-1, 1)


@pytest.mark.parametrize("return_distance", [False, True])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_empty_results_have_the_right_shapes(n, return_distance):
    near = rthiss.self_join(line(n) * 9, 1.0, return_distance=return_distance)
    assert near.shape == (n, n)
    assert len(near) == n
    assert (near.indptr.dtype, near.indptr.shape) == (np.int64, (n + 1,))
    assert (near.indices.dtype, near.indices.shape) == (np.int32, (0,))
    assert near.counts.tolist() == [0] * n
    assert near.pairs().shape == (0, 2)
    assert near.to_scipy().shape == (n, n)
    assert (near.distances is not None) == return_distance
    if return_distance:
        assert (near.distances.dtype, near.distances.shape) == (np.float64, (0,))


def test_no_queries():
    near = rthiss.radius_search(line(4), np.empty((0, 1)), 1.0)
    assert near.shape == (0, 4)
    assert near.indptr.tolist() == [0]
    assert rthiss.radius_search(np.empty((0, 1)), line(3), 1.0).shape == (3, 0)


def test_lists():
    near = rthiss.radius_search(line(10), [[2.5], [100.0], [9.0]], 1.5, return_distance=True)
    assert near.shape == (3, 10)
    assert near.indptr.tolist() == [0, 4, 4, 6]
    assert [near[i].tolist() for i in range(3)] == [[1, 2, 3, 4], [], [8, 9]]
    assert near[-1].tolist() == [8, 9]
    assert near.distances_of(0).tolist() == [1.5, 0.5, 0.5, 1.5]
    assert [row.tolist() for row in near] == [[1, 2, 3, 4], [], [8, 9]]
    assert near.pairs().tolist() == [[0, 1], [0, 2], [0, 3], [0, 4], [2, 8], [2, 9]]
    assert near.pairs().dtype == np.int64
    assert "3 queries, 10 rows, 6 pairs" in repr(near)
    with pytest.raises(IndexError):
        near[3]
    with pytest.raises(ValueError, match="return_distance"):
        rthiss.self_join(line(3), 1.0).distances_of(0)


def test_to_scipy():
    pytest.importorskip("scipy")
    near = rthiss.self_join(line(5), 1.0)
    sparse = near.to_scipy()
    assert sparse.shape == (5, 5)
    assert sparse.indices.dtype == np.int32
    assert sparse.toarray().tolist() == [[float(abs(i - j) == 1) for j in range(5)] for i in range(5)]
    assert (sparse != sparse.T).nnz == 0


def test_results_outlive_the_index_and_can_be_pickled():
    index = rthiss.Index(line(1000))
    near = index.self_join(1.0, return_distance=True)
    del index
    again = pickle.loads(pickle.dumps(near))
    assert np.array_equal(again.indices, near.indices)
    assert again.shape == near.shape
    assert near.indices.sum() == 2 * sum(range(1000)) - 999
    near.indices[:] = 0  # it is the caller's


def test_include_self_and_duplicates():
    rows = np.zeros((3, 2))
    assert rthiss.self_join(rows, 0.0).counts.tolist() == [2, 2, 2]
    assert rthiss.self_join(rows, 0.0, include_self=True).counts.tolist() == [3, 3, 3]
    assert rthiss.radius_search(rows, rows, 0.0).counts.tolist() == [3, 3, 3]


def test_an_index_over_many_radii(rng):
    rows = rng.random((2000, 4))
    index = rthiss.Index(rows)
    for radius in (0.0, 0.05, 0.1, 0.2, 0.1):
        for return_distance in (False, True):
            near = index.self_join(radius, return_distance=return_distance)
            assert np.array_equal(near.indices, rthiss.self_join(rows, radius).indices)
    assert (len(index), index.shape, index.dtype) == (2000, (2000, 4), "float64")
    assert repr(index) == "<rthiss.Index: 2000 rows x 4, float64>"


@pytest.mark.parametrize("return_distance", [False, True])
@pytest.mark.parametrize("memory_limit", [None, 1 << 17])
def test_blocks_make_up_the_whole(memory_limit, return_distance, rng):
    rows = rng.random((6000, 3))
    index = rthiss.Index(rows)
    whole = index.self_join(0.1, return_distance=return_distance)
    seen = np.zeros(len(rows), int)
    blocks = 0
    for row_ids, lists in index.iter_self_join(0.1, return_distance=return_distance, memory_limit=memory_limit):
        blocks += 1
        assert lists.shape == (len(row_ids), len(rows))
        assert np.all(np.diff(row_ids) > 0)
        seen[row_ids] += 1
        for place, row in enumerate(row_ids):
            assert np.array_equal(lists[place], whole[row])
            assert not return_distance or np.array_equal(lists.distances_of(place), whole.distances_of(row))
    assert np.all(seen == 1)
    assert memory_limit is None or blocks > 3


def test_blocks_of_nothing():
    assert sum(lists.nnz for _, lists in rthiss.Index(np.empty((0, 2))).iter_self_join(1.0)) == 0


def test_searches_during_an_iteration_and_an_early_end():
    index = rthiss.Index(np.random.default_rng(3).random((5000, 3)))
    for row_ids, lists in index.iter_self_join(0.1, memory_limit=1 << 20):
        assert np.array_equal(index.self_join(0.1)[row_ids[0]], lists[0])
        break
    assert index.self_join(0.01).shape == (5000, 5000)


def test_errors_of_an_iteration_come_at_once():
    index = rthiss.Index(line(5))
    with pytest.raises(TypeError, match="radius"):
        index.iter_self_join("1")
    with pytest.raises(ValueError, match="memory_limit"):
        index.iter_self_join(1.0, memory_limit=0)
    with pytest.raises(ValueError, match="radius"):
        list(index.iter_self_join(-1.0))


def test_statistics():
    near = rthiss.self_join(line(100), 1.0, engine="cpu", index="bvh", threads=2)
    statistics = near.statistics
    assert (statistics["n"], statistics["pairs"], statistics["threads"]) == (100, 198, 2)
    assert (statistics["engine"], statistics["index"]) == ("cpu", "bvh")
    assert sum(statistics["decided"].values()) == statistics["comparisons"]
    assert statistics["seconds"]["total"] > 0


def test_estimate_radius(rng):
    rows = rng.random((4000, 3))
    estimate = rthiss.estimate_radius(rows, 30, curve=True)
    assert estimate.interval[0] <= estimate.radius <= estimate.interval[1]
    assert 27 < rthiss.self_join(rows, estimate.radius).counts.mean() < 33
    assert [point.k for point in estimate.curve] == sorted({point.k for point in estimate.curve})
    assert all(point.low <= point.median <= point.high for point in estimate.curve)
    assert rthiss.estimate_radius(rows, 30) == estimate._replace(curve=())
    queries = rthiss.estimate_radius(rows, 30, queries=rows[:500])
    assert abs(queries.radius / estimate.radius - 1) < 0.1
    cosine = rthiss.estimate_radius(rows, 30, metric="cosine")
    assert 25 < rthiss.self_join(rows, cosine.radius, metric="cosine").counts.mean() < 35
    for wrong in (0, -1, 4000, float("nan")):
        with pytest.raises(ValueError, match="selectivity"):
            rthiss.estimate_radius(rows, wrong)
