"""The estimators, beside scikit-learn's own."""

import pickle

import numpy as np
import pytest
from sklearn import cluster, neighbors
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from rthiss.sklearn import DBSCAN, NearestNeighbors, RadiusNeighborsTransformer

ESTIMATORS = [RadiusNeighborsTransformer(), NearestNeighbors()]


@parametrize_with_checks([*ESTIMATORS, DBSCAN()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def rows(rng):
    return rng.random((500, 4))


@pytest.fixture
def queries(rng):
    return rng.random((60, 4))


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_transformer(mode, rows, queries):
    ours = RadiusNeighborsTransformer(mode=mode, radius=0.3).fit(rows)
    theirs = neighbors.RadiusNeighborsTransformer(mode=mode, radius=0.3, algorithm="brute").fit(rows)
    for X in (rows, queries):
        graph, expected = ours.transform(X), theirs.transform(X)
        assert np.array_equal(graph.indptr, expected.indptr)
        assert np.allclose(graph.toarray(), expected.toarray(), atol=1e-7)
        assert graph.nnz == expected.nnz
    assert ours.get_feature_names_out()[0] == "radiusneighborstransformer0"


def test_graph_is_sorted_by_distance(rows):
    graph = RadiusNeighborsTransformer(radius=0.3).fit_transform(rows)
    for begin, end in zip(graph.indptr[:-1], graph.indptr[1:]):
        assert np.all(np.diff(graph.data[begin:end]) >= 0)
    assert np.all(graph.indices[graph.indptr[:-1]] == np.arange(len(rows)))


def test_radius_neighbors(rows, queries):
    ours = NearestNeighbors(radius=0.3).fit(rows)
    theirs = neighbors.NearestNeighbors(radius=0.3, algorithm="kd_tree").fit(rows)
    for X in (None, rows, queries):
        distances, indices = ours.radius_neighbors(X, sort_results=True)
        expected_distances, expected = theirs.radius_neighbors(X, sort_results=True)
        assert [row.tolist() for row in indices] == [row.tolist() for row in expected]
        for row, expected_row in zip(distances, expected_distances):
            assert np.allclose(row, expected_row, atol=1e-12)
        graph = ours.radius_neighbors_graph(X, mode="distance", sort_results=True)
        assert np.allclose(graph.toarray(), theirs.radius_neighbors_graph(X, mode="distance").toarray())
        assert [row.tolist() for row in ours.radius_neighbors(X, 0.1, return_distance=False)] == [
            sorted(row.tolist()) for row in theirs.radius_neighbors(X, 0.1, return_distance=False)
        ]


def test_exact_where_scikit_learn_rounds():
    X = np.float32([[400000, 400000], [400000, 400001], [400000, 400005]])
    assert NearestNeighbors(radius=2.0).fit(X).radius_neighbors_graph().toarray().tolist() == [
        [0, 1, 0], [1, 0, 0], [0, 0, 0],
    ]  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_pickling_and_cloning(estimator, rows):
    fitted = clone(estimator).set_params(radius=0.2).fit(rows)
    again = pickle.loads(pickle.dumps(fitted))
    for model in (fitted, again):
        graph = model.transform(rows) if hasattr(model, "transform") else model.radius_neighbors_graph(rows)
        assert graph.nnz > len(rows)


def test_changing_the_caller_s_rows_changes_nothing():
    rows = np.array([[0.0], [1.0]])
    model = NearestNeighbors(radius=1.0).fit(rows)
    rows[:] = 9.0
    assert model.radius_neighbors_graph([[0.0]]).nnz == 2


def test_wrong_parameters(rows):
    with pytest.raises(ValueError, match="mode"):
        RadiusNeighborsTransformer(mode="weight").fit(rows)
    with pytest.raises(ValueError, match="return_distance"):
        NearestNeighbors().fit(rows).radius_neighbors(return_distance=False, sort_results=True)


def test_kneighbors(rows, queries):
    ours = NearestNeighbors(n_neighbors=4).fit(rows)
    theirs = neighbors.NearestNeighbors(n_neighbors=4, algorithm="kd_tree").fit(rows)
    for X in (None, queries):
        distances, indices = ours.kneighbors(X)
        expected_distances, expected = theirs.kneighbors(X)
        assert np.array_equal(indices, expected)
        assert np.allclose(distances, expected_distances, atol=1e-12)
        assert np.array_equal(ours.kneighbors(X, 2, return_distance=False), expected[:, :2])
        for mode in ("connectivity", "distance"):
            graph = ours.kneighbors_graph(X, mode=mode)
            assert np.allclose(graph.toarray(), theirs.kneighbors_graph(X, mode=mode).toarray(), atol=1e-12)


@pytest.mark.parametrize(("eps", "min_samples"), [(0.1, 5), (0.15, 5), (0.15, 1), (0.2, 20), (1e-9, 2), (9.0, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dbscan_has_scikit_learns_labels(eps, min_samples, dtype, rng):
    centers = rng.random((12, 4))
    rows = (centers[rng.integers(0, 12, 800)] + 0.05 * rng.standard_normal((800, 4))).astype(dtype)
    ours = DBSCAN(eps=eps, min_samples=min_samples).fit(rows)
    theirs = cluster.DBSCAN(eps=eps, min_samples=min_samples, algorithm="kd_tree").fit(rows.astype(np.float64))
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert np.array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    assert np.array_equal(ours.components_, theirs.components_.astype(dtype))
    assert np.array_equal(ours.fit_predict(rows), theirs.labels_)
