"""A radius for each query, shells, the nearest within a radius, and the k nearest: against rational arithmetic."""

from fractions import Fraction
from math import nan, nextafter, sqrt

import numpy as np
import oracle
import pytest

import rthiss


@pytest.fixture(params=["lattice", "uniform"])
def rows(request, rng):
    """With many ties, and without."""
    if request.param == "lattice":
        return rng.integers(0, 4, (65, 3)).astype(np.float32)
    return rng.random((65, 3)) * 4


def squares(rows, queries):
    exact = oracle.exact_rows(rows)
    return [[oracle.squared(x, y) for y in exact] for x in oracle.exact_rows(queries)]


def nearest(row, candidates, k):
    """The first k by (rounded distance, number); distances of these data round apart or are equal."""
    return sorted(sorted(candidates, key=lambda j: (float(row[j]), j))[:k])


def lists(near):
    return [ids.tolist() for ids in near]


def test_a_radius_for_each_query(rows, rng, way):
    radii = np.sqrt(rng.integers(0, 12, len(rows)).astype(float))
    table = squares(rows, rows)
    expected = [
        [j for j, total in enumerate(row) if j != i and oracle.within(total, radii[i])] for i, row in enumerate(table)
    ]
    assert lists(rthiss.self_join(rows, radii, **way)) == expected
    queries = rows[::3]
    near = rthiss.radius_search(rows, queries, radii[::3], return_distance=True, **way)
    assert lists(near) == [sorted([*expected[i], i]) for i in range(0, len(rows), 3)]
    assert lists(rthiss.self_join(rows, radii.tolist(), **way)) == expected


def test_shells(rows, way):
    table = squares(rows, rows)
    for inner, outer in [(0.0, 1.0), (1.0, sqrt(5)), (sqrt(5), 3.0), (3.0, 3.0)]:
        expected = [
            [j for j, total in enumerate(row) if i != j and oracle.within(total, outer) and not oracle.within(total, inner)]
            for i, row in enumerate(table)
        ]
        assert lists(rthiss.self_join(rows, outer, min_radius=inner, **way)) == expected


@pytest.mark.parametrize("k", [1, 3, 64, 1000])
def test_the_nearest_within_a_radius(rows, k, way):
    table = squares(rows, rows)
    expected = [
        nearest(row, [j for j, total in enumerate(row) if j != i and oracle.within(total, 2.0)], k)
        for i, row in enumerate(table)
    ]
    near = rthiss.self_join(rows, 2.0, max_neighbors=k, return_distance=True, **way)
    assert lists(near) == expected
    whole = rthiss.self_join(rows, 2.0, return_distance=True)
    for i in range(len(rows)):
        kept = np.isin(whole[i], near[i])
        assert np.array_equal(near.distances_of(i), whole.distances_of(i)[kept])


@pytest.mark.parametrize("k", [1, 2, 7, 64])
def test_k_nearest(rows, k, way):
    table = squares(rows, rows)
    distances, indices = rthiss.knn(rows, k, **way)
    assert (distances.shape, indices.shape) == ((65, k), (65, k))
    assert (distances.dtype, indices.dtype) == (np.float64, np.int32)
    for i, row in enumerate(table):
        expected = sorted((j for j in range(65) if j != i), key=lambda j: (float(row[j]), j))[:k]
        assert indices[i].tolist() == expected
    near = rthiss.self_join(rows, np.inf, return_distance=True)
    for i in range(65):
        by_id = dict(zip(near[i].tolist(), near.distances_of(i).tolist()))
        assert distances[i].tolist() == [by_id[j] for j in indices[i].tolist()]


def test_k_nearest_of_queries(rows):
    queries = np.vstack([rows[:5], rows[5:9] + 0.25])
    distances, indices = rthiss.Index(rows).knn(65, queries)
    for i, row in enumerate(squares(rows, queries)):
        assert indices[i].tolist() == sorted(range(65), key=lambda j: (float(row[j]), j))
    assert distances[:5, 0].tolist() == [0.0] * 5
    assert rthiss.knn(rows, 3, np.empty((0, 3)))[0].shape == (0, 3)


def test_k_nearest_of_rows_that_are_left_out():
    rows = np.array([[0.0], [nan], [1.0], [5.0]])
    distances, indices = rthiss.knn(rows, 2, nonfinite="ignore")
    assert indices.tolist() == [[2, 3], [-1, -1], [0, 3], [2, 0]]
    assert np.isnan(distances[1]).all()
    with pytest.raises(ValueError, match="k"):
        rthiss.knn(rows, 3, nonfinite="ignore")


def test_blocks_of_neighborhoods(rng):
    rows = rng.random((3000, 3))
    index = rthiss.Index(rows)
    radii = rng.random(3000) * 0.2
    whole = index.self_join(radii, max_neighbors=9)
    for row_ids, block in index.iter_self_join(radii, max_neighbors=9, memory_limit=1 << 18):
        for place, row in enumerate(row_ids):
            assert np.array_equal(block[place], whole[row])


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (ValueError, r"shape \(3,\)", {"radius": [1.0, 2.0, 3.0]}),
        (ValueError, "shape", {"radius": np.ones((5, 1))}),
        (TypeError, "object", {"radius": np.array([1, 2, None, 4, 5])}),
        (TypeError, "longdouble|float128", {"radius": np.ones(5, np.longdouble)}),
        (ValueError, "not a double", {"radius": np.array([1, 2, 3, 4, 2**53 + 1])}),
        (ValueError, "radius", {"radius": [1.0, 2.0, -1.0, 4.0, 5.0]}),
        (ValueError, "radius", {"radius": [1.0, 2.0, nan, 4.0, 5.0]}),
        (ValueError, "min_radius", {"min_radius": -1.0}),
        (ValueError, "max_neighbors", {"max_neighbors": 0}),
        (TypeError, "max_neighbors", {"max_neighbors": 1.5}),
    ],
)
def test_errors(error, match, arguments):
    rows = np.arange(5.0).reshape(-1, 1)
    with pytest.raises(error, match=match):
        rthiss.self_join(rows, **{"radius": 1.0, **arguments})


def test_radii_are_taken_as_they_are():
    rows = np.float32([[0], [0.1]])
    assert rthiss.self_join(rows, np.float32([0.1, 0.1])).nnz == 2
    assert rthiss.self_join(rows, np.array([0.1, 0.1])).nnz == 0
    third = Fraction(1, 3)
    assert oracle.within(third**2, nextafter(1 / 3, 1)) and rthiss.self_join([[0.0], [1 / 3]], [1 / 3, 0.3]).nnz == 1
