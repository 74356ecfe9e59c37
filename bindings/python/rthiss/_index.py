"""Rows that are searched again and again."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rthiss import _core
from rthiss._analysis import Clustering, Components, FarPair, NearDuplicates
from rthiss._inputs import as_count, as_neighborhood, as_points, as_radius
from rthiss._neighbor_lists import IdArray, NeighborLists, as_int64
from rthiss._options import Metric, make_options
from rthiss._progress import ProgressOption, reporting

# Of the blocks of iter_self_join, where the caller says nothing: large beside what starting a block costs.
_BLOCK_BYTES = 256 << 20


class Index:
    """Rows to search in, checked once and then searched at many radii.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows: NumPy arrays of bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or float64 with any
        strides and byte order, anything that speaks DLPack in host memory, or what ``numpy.asarray`` takes. Values are
        taken as they are stored; 64-bit integers beyond 2^53 are refused.
    copy : bool, default True
        Keep a copy of the rows. With False the index reads the caller's memory, which must not change while the index
        lives.
    metric : {"euclidean", "cosine", "cosine_similarity"}, default "euclidean"
        What a radius bounds: the distance, ``1 - cos``, or from below the cosine itself.
    engine, index : str, default "auto"
        By name; `rthiss info` lists what there is.
    preset : {"auto", "paper"}, default "auto"
        "paper" searches as the RT-HiSS paper does.
    threads : int, optional
        By default all processors that the process may use.
    memory_limit : int, optional
        Bytes that a search may add, its result included. By default half of the free memory.
    max_results : int, optional
        Refuse with MemoryError where there are more pairs than this.
    nonfinite : {"error", "ignore"}, default "error"
        With "ignore" a row that holds NaN or an infinity is nobody's neighbour, nor its own; with a cosine metric
        neither is a row of zeros.
    seed : int, default 1
        Of the samples that steer how the search goes. The result does not depend on it.
    progress : callable or bool, optional
        As in `self_join`.

    Raises
    ------
    ValueError
        A wrong shape, dtype or option; NaN or infinity in the data, with row and column.
    NotImplementedError
        An engine or index that is not there, with the reason; memory of a device.
    MemoryError
        Over a limit, with the figure and the option to change.

    Notes
    -----
    On engine "cpu" (and "reference") the first search prepares the rows (projection, groups, a reordered copy), and later
    ones, `knn` and `search` too, take that up where it suits their radius. It stays in memory as long as the index: about
    the size of the rows, for each of the threads that search at once, and for each combination of `include_self` and
    `return_distance`. Engine "cuda" prepares anew each time.

    Any number of threads may use one index at once. An index does not survive a fork.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> index = rthiss.Index(np.arange(10.0).reshape(-1, 1))
    >>> [index.self_join(radius).nnz for radius in (0.5, 1.0, 2.0)]
    [0, 18, 34]
    >>> index.search([[2.5]], 1.5)[0]
    array([1, 2, 3, 4], dtype=int32)
    """

    def __init__(
        self,
        X: Any,
        *,
        copy: bool = True,
        metric: Metric = "euclidean",
        engine: str = "auto",
        index: str = "auto",
        preset: Literal["auto", "paper"] = "auto",
        threads: int | None = None,
        memory_limit: int | None = None,
        max_results: int | None = None,
        nonfinite: Literal["error", "ignore"] = "error",
        seed: int = 1,
        progress: ProgressOption = None,
    ) -> None:
        options = make_options(
            metric=metric,
            engine=engine,
            index=index,
            preset=preset,
            threads=threads,
            memory_limit=memory_limit,
            max_results=max_results,
            nonfinite=nonfinite,
            seed=seed,
        )
        points = as_points(X, "X")
        if copy:
            points = points.copied()
        self._points = points
        self._memory_limit = memory_limit
        with reporting(progress) as reports:
            self._core = _core.SearchIndex(points, options, *reports)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self._points.rows, self._points.columns

    @property
    def dtype(self) -> str:
        """Name of the element type, as stored."""
        return self._points.dtype

    def self_join(
        self,
        radius: Any,
        *,
        min_radius: float | None = None,
        max_neighbors: int | None = None,
        include_self: bool = False,
        return_distance: bool = False,
        progress: ProgressOption = None,
    ) -> NeighborLists:
        """All pairs of rows within ``radius``; see `rthiss.self_join`."""
        neighborhood = as_neighborhood(radius, len(self), min_radius, max_neighbors)
        return self._run(None, len(self), neighborhood, include_self, return_distance, progress)

    def search(
        self,
        Q: Any,
        radius: Any,
        *,
        min_radius: float | None = None,
        max_neighbors: int | None = None,
        return_distance: bool = False,
        progress: ProgressOption = None,
    ) -> NeighborLists:
        """For each row of ``Q`` [m x d] all rows within ``radius``; see `rthiss.radius_search`."""
        queries = as_points(Q, "Q")
        neighborhood = as_neighborhood(radius, queries.rows, min_radius, max_neighbors)
        return self._run(queries, queries.rows, neighborhood, False, return_distance, progress)

    def knn(
        self, k: int, Q: Any = None, *, progress: ProgressOption = None
    ) -> tuple[npt.NDArray[np.float64], IdArray]:
        """The k nearest rows of each row of ``Q`` [m x d], or of ``X``; see `rthiss.knn`."""
        queries = None if Q is None else as_points(Q, "Q")
        with reporting(progress) as reports:
            (distances, indices), _ = _core.knn(self._core, queries, as_count(k, "k", 1), *reports)
        return distances, indices

    def dbscan(self, radius: float, min_points: int, *, progress: ProgressOption = None) -> Clustering:
        """Clusters of the rows; see `rthiss.dbscan`."""
        least = as_count(min_points, "min_points", 1)
        with reporting(progress) as reports:
            labels, core, clusters = _core.dbscan(self._core, as_radius(radius), least, *reports)
        return Clustering(as_int64(labels), core, clusters)

    def connected_components(self, radius: float, *, progress: ProgressOption = None) -> Components:
        """Components of the rows; see `rthiss.connected_components`."""
        with reporting(progress) as reports:
            labels, sizes, chained, far = _core.connected_components(self._core, as_radius(radius), *reports)
        return Components(as_int64(labels), as_int64(sizes), chained, None if far is None else FarPair(*far))

    def near_duplicates(self, radius: float, *, progress: ProgressOption = None) -> NearDuplicates:
        """Groups of near duplicates of the rows; see `rthiss.near_duplicates`."""
        with reporting(progress) as reports:
            labels, keep, groups, chained, far = _core.near_duplicates(self._core, as_radius(radius), *reports)
        pair = None if far is None else FarPair(*far)
        return NearDuplicates(as_int64(labels), as_int64(keep), groups, chained, pair)

    def iter_self_join(
        self,
        radius: Any,
        *,
        min_radius: float | None = None,
        max_neighbors: int | None = None,
        include_self: bool = False,
        return_distance: bool = False,
        memory_limit: int | None = None,
        progress: ProgressOption = None,
    ) -> Iterator[tuple[IdArray, NeighborLists]]:
        """The self-join in blocks of complete rows, for results that need not be in memory at once.

        Parameters
        ----------
        radius, min_radius, max_neighbors, include_self, return_distance, progress
            As in `self_join`.
        memory_limit : int, optional
            Bytes that the search of one block may add; by default that of the index, at most 256 MiB. A few blocks
            exist at a time: the one that is worked on, two that wait, and yours.

        Yields
        ------
        row_ids : ndarray of int32 or int64, shape (rows,)
            Which rows of ``X`` this block answers, ascending. Every row is in exactly one block; the order of blocks is
            not specified.
        lists : NeighborLists
            Their neighbours: list ``i`` belongs to row ``row_ids[i]``.

        Notes
        -----
        The search runs ahead in a thread of its own; leaving the loop stops it.

        Examples
        --------
        >>> import numpy as np, rthiss
        >>> index = rthiss.Index(np.arange(1000.0).reshape(-1, 1))
        >>> sum(lists.nnz for row_ids, lists in index.iter_self_join(3.0))
        5988
        """
        if memory_limit is None:
            memory_limit = min(self._memory_limit or _BLOCK_BYTES, _BLOCK_BYTES)
        limit = as_count(memory_limit, "memory_limit", 1)
        neighborhood = as_neighborhood(radius, len(self), min_radius, max_neighbors)
        stream = _core.JoinStream(self._core, neighborhood, bool(include_self), bool(return_distance), limit)
        return self._blocks(stream, progress)

    def _blocks(
        self, stream: _core.JoinStream, progress: ProgressOption
    ) -> Iterator[tuple[IdArray, NeighborLists]]:
        try:
            with reporting(progress) as reports:
                while (block := stream.next(*reports)) is not None:
                    row_ids, indptr, indices, distances = block
                    yield row_ids, NeighborLists(as_int64(indptr), indices, distances, (len(row_ids), len(self)))
        finally:
            stream.close()

    def _run(
        self,
        queries: _core.Points | None,
        count: int,
        neighborhood: _core.Neighborhood,
        include_self: bool,
        return_distance: bool,
        progress: ProgressOption,
    ) -> NeighborLists:
        with reporting(progress) as reports:
            (indptr, indices, distances), statistics = self._core.search(
                queries, neighborhood, bool(include_self), bool(return_distance), *reports
            )
        return NeighborLists(as_int64(indptr), indices, distances, (count, len(self)), statistics)

    def __len__(self) -> int:
        return self._points.rows

    def __repr__(self) -> str:
        return f"<rthiss.Index: {self.shape[0]} rows x {self.shape[1]}, {self.dtype}>"
