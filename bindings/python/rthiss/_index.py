"""Rows that are searched again and again."""

from collections.abc import Iterator
from typing import Any, Literal

from rthiss import _core
from rthiss._inputs import as_count, as_points, as_radius
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
        radius: float,
        *,
        include_self: bool = False,
        return_distance: bool = False,
        progress: ProgressOption = None,
    ) -> NeighborLists:
        """All pairs of rows within ``radius``; see `rthiss.self_join`."""
        return self._run(None, len(self), radius, include_self, return_distance, progress)

    def search(
        self, Q: Any, radius: float, *, return_distance: bool = False, progress: ProgressOption = None
    ) -> NeighborLists:
        """For each row of ``Q`` [m x d] all rows within ``radius``; see `rthiss.radius_search`."""
        queries = as_points(Q, "Q")
        return self._run(queries, queries.rows, radius, False, return_distance, progress)

    def iter_self_join(
        self,
        radius: float,
        *,
        include_self: bool = False,
        return_distance: bool = False,
        memory_limit: int | None = None,
        progress: ProgressOption = None,
    ) -> Iterator[tuple[IdArray, NeighborLists]]:
        """The self-join in blocks of complete rows, for results that need not be in memory at once.

        Parameters
        ----------
        radius, include_self, return_distance, progress
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
        stream = _core.JoinStream(self._core, as_radius(radius), bool(include_self), bool(return_distance), limit)
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
        radius: float,
        include_self: bool,
        return_distance: bool,
        progress: ProgressOption,
    ) -> NeighborLists:
        with reporting(progress) as reports:
            (indptr, indices, distances), statistics = self._core.search(
                queries, as_radius(radius), bool(include_self), bool(return_distance), *reports
            )
        return NeighborLists(as_int64(indptr), indices, distances, (count, len(self)), statistics)

    def __len__(self) -> int:
        return self._points.rows

    def __repr__(self) -> str:
        return f"<rthiss.Index: {self.shape[0]} rows x {self.shape[1]}, {self.dtype}>"
