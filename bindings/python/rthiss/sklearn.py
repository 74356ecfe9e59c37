"""Estimators for scikit-learn pipelines. Needs scikit-learn 1.6 or newer.

They differ from scikit-learn's own in being exact: a row at the radius is in, float32 data are not searched with
rounded squares, and large or far-off values lose no neighbours.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rthiss._clustering import dbscan
from rthiss._index import Index
from rthiss._neighbor_lists import NeighborLists

__all__ = ["DBSCAN", "NearestNeighbors", "RadiusNeighborsTransformer"]

_Mode = Literal["connectivity", "distance"]
_Metric = Literal["euclidean", "cosine"]


class _Searching(BaseEstimator):  # type: ignore[misc]
    """Keeps a copy of the rows of `fit` and an index over it."""

    radius: float
    metric: _Metric
    engine: str
    threads: int | None
    memory_limit: int | None

    def _fit_rows(self, X: Any) -> None:
        self._rows = validate_data(self, X, dtype="numeric", copy=True)
        self.n_samples_fit_ = self._rows.shape[0]
        self._build_index()

    def _build_index(self) -> None:
        self._index = Index(
            self._rows,
            copy=False,
            metric=self.metric,
            engine=self.engine,
            threads=self.threads,
            memory_limit=self.memory_limit,
        )

    def _search(self, X: Any, radius: float | None, return_distance: bool) -> NeighborLists:
        """Neighbours of rows; of the fitted rows themselves, each without itself, where X is None."""
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        if X is None:
            return self._index.self_join(radius, return_distance=return_distance)
        queries = validate_data(self, X, dtype="numeric", reset=False)
        return self._index.search(queries, radius, return_distance=return_distance)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_index", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_rows" in state:
            self._build_index()


def _by_distance(lists: NeighborLists, distances: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """The order of all entries by row, then distance, then row number."""
    rows = np.repeat(np.arange(len(lists)), lists.counts)
    return np.lexsort((distances, rows))


def _graph(lists: NeighborLists, mode: str, sort_results: bool) -> scipy.sparse.csr_matrix:
    graph = lists.to_scipy()
    if sort_results and lists.distances is not None:
        order = _by_distance(lists, lists.distances)
        graph = scipy.sparse.csr_matrix(
            (lists.distances[order], lists.indices[order], lists.indptr), shape=lists.shape
        )
    if mode == "connectivity":
        graph.data = np.ones(lists.nnz)
    return graph


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode must be 'connectivity' or 'distance', not {mode!r}")


class RadiusNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Searching):  # type: ignore[misc]
    """Turns rows into a sparse graph of all their neighbours within a radius among the fitted rows.

    For estimators with ``metric="precomputed"``, like scikit-learn's class of this name. A row that was fitted is its
    own neighbour at distance 0; zeros stay explicit, and each row is sorted by distance.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default "distance"
        Values of the graph: distances, or 1.0.
    radius : float, default 1.0
    metric : {"euclidean", "cosine"}, default "euclidean"
    engine : str, default "auto"
    threads, memory_limit : int, optional
        As in `rthiss.Index`.

    Attributes
    ----------
    n_samples_fit_ : int
        Rows that were fitted, and columns of the graph. A copy of them is kept.
    n_features_in_ : int

    Examples
    --------
    >>> from rthiss.sklearn import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=1.0).fit_transform([[0.0], [1.0], [9.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """

    def __init__(
        self,
        *,
        mode: _Mode = "distance",
        radius: float = 1.0,
        metric: _Metric = "euclidean",
        engine: str = "auto",
        threads: int | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.metric = metric
        self.engine = engine
        self.threads = threads
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None) -> "RadiusNeighborsTransformer":
        """Keeps the rows ``X`` [n x d]."""
        _check_mode(self.mode)
        self._fit_rows(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def transform(self, X: Any) -> scipy.sparse.csr_matrix:
        """Graph [m x n] of the fitted rows within the radius of each row of ``X`` [m x d]."""
        return _graph(self._search(X, None, return_distance=True), self.mode, sort_results=True)


class NearestNeighbors(_Searching):
    """Queries for neighbours, with the methods of scikit-learn's class of this name.

    Parameters
    ----------
    n_neighbors : int, default 5
    radius : float, default 1.0
    metric : {"euclidean", "cosine"}, default "euclidean"
    engine : str, default "auto"
    threads, memory_limit : int, optional
        As in `rthiss.Index`.

    Attributes
    ----------
    n_samples_fit_ : int
        Rows that were fitted. A copy of them is kept.
    n_features_in_ : int

    Examples
    --------
    >>> from rthiss.sklearn import NearestNeighbors
    >>> model = NearestNeighbors(radius=1.5).fit([[0.0], [1.0], [9.0]])
    >>> distances, indices = model.radius_neighbors([[0.5]])
    >>> distances[0], indices[0]
    (array([0.5, 0.5]), array([0, 1], dtype=int32))
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        metric: _Metric = "euclidean",
        engine: str = "auto",
        threads: int | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.engine = engine
        self.threads = threads
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None) -> "NearestNeighbors":
        """Keeps the rows ``X`` [n x d]."""
        self._fit_rows(X)
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest fitted rows of each row of ``X`` [m x d]; of the fitted rows themselves without ``X``.

        Returns
        -------
        distances : ndarray of float64, shape (m, n_neighbors)
            Left out without ``return_distance``.
        indices : ndarray of int32 or int64, shape (m, n_neighbors)
            By distance, then number. A fitted row that is its own query is left out.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        queries = None if X is None else validate_data(self, X, dtype="numeric", reset=False)
        distances, indices = self._index.knn(k, queries)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: _Mode = "connectivity"
    ) -> scipy.sparse.csr_matrix:
        """The same as a sparse matrix [m x n] of 1.0 or, with ``mode="distance"``, of distances."""
        _check_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        rows, k = indices.shape
        data = np.ones(rows * k) if mode == "connectivity" else distances.ravel()
        return scipy.sparse.csr_matrix(
            (data, indices.ravel(), np.arange(0, rows * k + 1, k)), shape=(rows, self.n_samples_fit_)
        )

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """All fitted rows within a radius of each row of ``X`` [m x d]; of the fitted rows themselves without ``X``.

        Returns
        -------
        distances : ndarray of m arrays of float64
            Left out without ``return_distance``.
        indices : ndarray of m arrays of int32 or int64
            By ascending number, or with ``sort_results`` by distance. A fitted row that is its own query is left out.
        """
        if sort_results and not return_distance:
            raise ValueError("sort_results=True needs return_distance=True")
        lists = self._search(X, radius, return_distance)
        indices, distances = lists.indices, lists.distances
        if sort_results and distances is not None:
            order = _by_distance(lists, distances)
            indices, distances = indices[order], distances[order]
        if distances is None:
            return _split(indices, lists.indptr)
        return _split(distances, lists.indptr), _split(indices, lists.indptr)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: _Mode = "connectivity", sort_results: bool = False
    ) -> scipy.sparse.csr_matrix:
        """The same as a sparse matrix [m x n] of 1.0 or, with ``mode="distance"``, of distances."""
        _check_mode(mode)
        lists = self._search(X, radius, return_distance=mode == "distance" or sort_results)
        return _graph(lists, mode, sort_results)


def _split(values: npt.NDArray[Any], indptr: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    rows = np.empty(len(indptr) - 1, dtype=object)
    rows[:] = np.split(values, indptr[1:-1]) if len(rows) else []
    return rows


class DBSCAN(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """DBSCAN with the labels of scikit-learn's class of this name, exact also where that one rounds.

    Streamed: neighbours are never all in memory, unlike there.

    Parameters
    ----------
    eps : float, default 0.5
        The radius, in the unit of the data; the ball is closed.
    min_samples : int, default 5
        Rows within the radius, itself counted, that make a row a core point.
    metric : {"euclidean", "cosine"}, default "euclidean"
    engine : str, default "auto"
    threads, memory_limit : int, optional
        As in `rthiss.Index`.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        Cluster of each row, -1 for noise.
    core_sample_indices_ : ndarray of int64
        Rows that are core points, ascending.
    components_ : ndarray, shape (core points, d)
        Copies of those rows.
    n_features_in_ : int

    Examples
    --------
    >>> from rthiss.sklearn import DBSCAN
    >>> DBSCAN(eps=1.0, min_samples=2).fit_predict([[0.0], [1.0], [2.0], [9.0]])
    array([ 0,  0,  0, -1])
    """

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: _Metric = "euclidean",
        engine: str = "auto",
        threads: int | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.engine = engine
        self.threads = threads
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any = None) -> "DBSCAN":
        """Clusters the rows ``X`` [n x d]."""
        rows = validate_data(self, X, dtype="numeric")
        clustering = dbscan(
            rows,
            self.eps,
            self.min_samples,
            metric=self.metric,
            engine=self.engine,
            threads=self.threads,
            memory_limit=self.memory_limit,
        )
        self.labels_ = clustering.labels
        self.core_sample_indices_ = np.flatnonzero(clustering.core)
        self.components_ = rows[self.core_sample_indices_]
        return self
