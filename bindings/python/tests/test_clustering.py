"""DBSCAN, components and near duplicates, against plain loops over the pairs of a search."""

import numpy as np
import pytest

import rthiss

WAYS_OF_WORK = [{}, {"threads": 1}, {"memory_limit": 1 << 20}, {"engine": "reference", "preset": "paper"}]


@pytest.fixture(params=WAYS_OF_WORK, ids=str)
def work(request):
    return request.param


@pytest.fixture(params=["clusters", "lattice"])
def rows(request, rng):
    if request.param == "lattice":
        return rng.integers(0, 12, (300, 2)).astype(np.uint8)
    return rng.random((10, 3))[rng.integers(0, 10, 300)] + 0.05 * rng.standard_normal((300, 3))


@pytest.fixture
def radius(rows):
    return 1.0 if rows.dtype == np.uint8 else 0.08


def plain_components(n, neighbors, members):
    """Labels by lowest member, of the rows of `members`; -1 for others."""
    labels = np.full(n, -1)
    count = 0
    for start in members:
        if labels[start] >= 0:
            continue
        labels[start] = count
        waiting = [start]
        while waiting:
            for j in neighbors[waiting.pop()].tolist():
                if j in members and labels[j] < 0:
                    labels[j] = count
                    waiting.append(j)
        count += 1
    return labels, count


@pytest.mark.parametrize("min_points", [1, 2, 4, 9])
def test_dbscan(rows, radius, min_points, work):
    near = rthiss.self_join(rows, radius)
    core = near.counts + 1 >= min_points
    labels, count = plain_components(len(rows), near, dict.fromkeys(np.flatnonzero(core).tolist()))
    expected = [
        labels[i] if core[i] else min((labels[j] for j in near[i].tolist() if core[j]), default=-1)
        for i in range(len(rows))
    ]
    clustering = rthiss.dbscan(rows, radius, min_points, **work)
    assert clustering.labels.tolist() == expected
    assert clustering.core.tolist() == core.tolist()
    assert clustering.n_clusters == count
    assert (clustering.labels.dtype, clustering.core.dtype) == (np.int64, np.bool_)


def test_connected_components(rows, radius, work):
    near = rthiss.self_join(rows, radius)
    labels, count = plain_components(len(rows), near, dict.fromkeys(range(len(rows))))
    components = rthiss.connected_components(rows, radius, **work)
    assert components.labels.tolist() == labels.tolist()
    assert components.sizes.tolist() == np.bincount(labels).tolist()
    chained = [c for c in range(count) if not is_clique(np.flatnonzero(labels == c), near)]
    assert components.n_chained == len(chained)
    assert labels[components.far.first] == labels[components.far.second] == chained[0]
    assert components.far.second not in near[components.far.first]
    assert components.far.distance > radius


def is_clique(members, near):
    return all(near.counts[i] == len(members) - 1 for i in members)


def test_near_duplicates(rows, radius, work):
    near = rthiss.self_join(rows, radius)
    kept = []
    for i in range(len(rows)):
        if not np.isin(near[i], kept).any():
            kept.append(i)
    duplicates = rthiss.near_duplicates(rows, radius, **work)
    assert duplicates.keep.tolist() == kept
    grouped = dict.fromkeys(np.flatnonzero(near.counts).tolist())
    labels, count = plain_components(len(rows), near, grouped)
    assert duplicates.labels.tolist() == labels.tolist()
    assert duplicates.n_groups == count
    assert duplicates.far is None or duplicates.far.distance > radius


def test_chaining_is_told():
    rows = np.array([[0.0], [0.9], [1.8], [9.0]])
    components = rthiss.connected_components(rows, 1.0)
    assert components.labels.tolist() == [0, 0, 0, 1]
    assert components.n_chained == 1
    assert components.far == rthiss.FarPair(0, 2, 1.8)
    assert rthiss.near_duplicates(rows, 1.0).keep.tolist() == [0, 2, 3]


def test_cosine():
    rows = np.array([[1, 0, 0], [0.6, 0.8, 0], [0.8, 0.6, 0], [0, 1, 0], [2, 0, 0]])
    assert rthiss.near_duplicates(rows, cosine=0.99).labels.tolist() == [0, -1, -1, -1, 0]
    assert rthiss.near_duplicates(rows, 0.01, metric="cosine").keep.tolist() == [0, 1, 2, 3]
    assert rthiss.dbscan(rows, 0.21, 3, metric="cosine").labels.tolist() == [0, 0, 0, 0, 0]
    with pytest.raises(TypeError, match="either"):
        rthiss.near_duplicates(rows)
    with pytest.raises(TypeError, match="either"):
        rthiss.near_duplicates(rows, 1.0, cosine=0.9)


def test_small_inputs():
    for n in (0, 1, 2):
        rows = np.zeros((n, 2))
        assert rthiss.dbscan(rows, 1.0, 2).labels.tolist() == ([0, 0] if n == 2 else [-1] * n)
        assert rthiss.connected_components(rows, 1.0).sizes.tolist() == ([] if n == 0 else [n])
        assert rthiss.near_duplicates(rows, 1.0).keep.tolist() == [0][:n]
    with pytest.raises(ValueError, match="min_points"):
        rthiss.dbscan(np.zeros((2, 2)), 1.0, 0)
    with pytest.raises(ValueError, match="radius"):
        rthiss.dbscan(np.zeros((2, 2)), -1.0, 2)
