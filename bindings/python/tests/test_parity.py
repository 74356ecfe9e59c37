"""Answers compared for equality with rational arithmetic, and with SciPy where SciPy is exact."""

from fractions import Fraction
from math import inf, isqrt, nextafter, sqrt

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

import rthiss

SIZES = [0, 1, 2, 31, 32, 33, 63, 64, 65]


def exact_distance(x, y):
    """RN64(sqrt(sum)) in integers: the root of a rational, rounded once."""
    total = oracle.squared([Fraction(v) for v in x], [Fraction(v) for v in y])
    if total == 0:
        return 0.0
    # A root with far more bits than a double, its last bit set where it is not exact: rounds as the true root does.
    shift = 2 * max(0, 130 - (total.numerator.bit_length() - total.denominator.bit_length()) // 2)
    whole, rest = divmod(total.numerator << shift, total.denominator)
    root = isqrt(whole)
    sticky = rest != 0 or root * root != whole
    try:
        return float(Fraction(2 * root + sticky, 2 ** (shift // 2 + 1)))
    except OverflowError:
        return inf


def tables(dtype, **values):
    shape = st.tuples(st.integers(1, 9), st.integers(1, 5))
    elements = hnp.from_dtype(np.dtype(dtype), **values)
    return shape.flatmap(lambda shape: hnp.arrays(dtype, shape, elements=elements, fill=st.nothing()))


FLOATS = {"allow_nan": False, "allow_infinity": False}
ANY_TABLE = st.one_of(
    tables(np.float64, **FLOATS),
    tables(np.float64, min_value=-4.0, max_value=4.0),
    tables(np.float32, **FLOATS),
    tables(np.float16, **FLOATS),
    tables(np.int64, min_value=-(2**53), max_value=2**53),
    tables(np.int8),
    tables(np.uint8),
    tables(np.bool_),
)


@settings(max_examples=150, deadline=None)
@given(rows=ANY_TABLE, data=st.data())
def test_self_join_at_one_of_its_distances(rows, data):
    n = len(rows)
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    radius = exact_distance(rows[i].tolist(), rows[j].tolist())
    side = data.draw(st.sampled_from([-1, 0, 1]))
    radius = max(0.0, nextafter(radius, side * np.inf)) if side else radius
    near = rthiss.self_join(rows, radius, include_self=True, return_distance=True, threads=1)
    expected = oracle.join(rows, radius, include_self=True)
    assert [tuple(pair) for pair in near.pairs().tolist()] == expected
    exact = [exact_distance(rows[a].tolist(), rows[b].tolist()) for a, b in expected]
    assert near.distances.tolist() == exact


@settings(max_examples=75, deadline=None)
@given(rows=tables(np.float64, min_value=-2.0, max_value=2.0), queries=tables(np.float32, min_value=-2.0, max_value=2.0),
       radius=st.floats(0.0, 4.0))  # fmt: skip
def test_radius_search(rows, queries, radius):
    columns = min(rows.shape[1], queries.shape[1])
    rows, queries = rows[:, :columns], queries[:, :columns]
    near = rthiss.radius_search(rows, queries, radius, threads=1)
    assert near.shape == (len(queries), len(rows))
    assert [tuple(pair) for pair in near.pairs().tolist()] == oracle.join(rows, radius, queries)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("d", [1, 3, 33])
def test_sizes(n, d, rng):
    rows = rng.integers(0, 4, (n, d)).astype(np.float32)
    radius = sqrt(2 * d)
    near = rthiss.self_join(rows, radius, return_distance=True)
    assert [tuple(pair) for pair in near.pairs().tolist()] == oracle.join(rows, radius)
    assert near.distances.tolist() == [exact_distance(rows[i].tolist(), rows[j].tolist()) for i, j in near.pairs()]


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
def test_equal_to_scipy_on_integers(dtype, rng, way):
    """Squares of small integers are exact in SciPy's doubles, and so are its sums."""
    rows = rng.integers(0, 16, (400, 6)).astype(dtype)
    squares = cdist(rows.astype(np.int64), rows.astype(np.int64), "sqeuclidean").astype(np.int64)
    for square in (5, 40, 90):
        near = rthiss.self_join(rows, sqrt(square), include_self=True, return_distance=True, **way)
        i, j = np.nonzero(squares <= square)
        assert np.array_equal(near.pairs(), np.column_stack([i, j]))
        assert np.array_equal(near.distances, np.sqrt(squares[i, j]))


def test_equal_to_ckdtree_without_ties(rng):
    rows = rng.random((3000, 3))
    near = rthiss.self_join(rows, 0.07, include_self=True)
    tree = cKDTree(rows).query_ball_point(rows, 0.07, return_sorted=True)
    assert near.counts.tolist() == [len(row) for row in tree]
    assert near.indices.tolist() == [j for row in tree for j in row]


def test_all_ways_agree_on_rounded_data(rng, way):
    """Many ties: coordinates with few bits far from the origin."""
    rows = np.round(rng.random((300, 5)) * 32) / 32 + 2.0**23
    expected = rthiss.self_join(rows, 0.5, return_distance=True, engine="reference", index="exhaustive")
    near = rthiss.self_join(rows, 0.5, return_distance=True, **way)
    assert np.array_equal(near.indptr, expected.indptr)
    assert np.array_equal(near.indices, expected.indices)
    assert np.array_equal(near.distances, expected.distances)
