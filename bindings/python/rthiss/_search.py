"""Searches in one call."""

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from rthiss._index import Index
from rthiss._neighbor_lists import IdArray, NeighborLists
from rthiss._options import SearchKeywords, spell_out_options
from rthiss._progress import ProgressOption


@spell_out_options
def self_join(
    X: Any,
    radius: Any,
    *,
    min_radius: float | None = None,
    max_neighbors: int | None = None,
    include_self: bool = False,
    return_distance: bool = False,
    progress: ProgressOption = None,
    **options: Unpack[SearchKeywords],
) -> NeighborLists:
    """All pairs of rows of ``X`` within ``radius``, both ways round.

    Row ``j`` is a neighbour of row ``i`` if their true Euclidean distance, rounded once to double, is at most
    ``radius``. Nothing is left out, however many there are.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows; `rthiss.Index` says which arrays are taken. Read in place, never changed, not kept.
    radius : float, or array_like of shape (n,)
        In the unit of the data (never squared), 0 or more; infinity for all pairs. With an array row i has a radius of
        its own, and ``j`` may be a neighbour of ``i`` but not ``i`` of ``j``.
    min_radius : float, optional
        Only neighbours beyond it: ``min_radius < distance <= radius``.
    max_neighbors : int, optional
        Of each row only the nearest so many, the lower row number first at equal distances.
    include_self : bool, default False
        Also the pairs (i, i). Equal rows are neighbours at distance 0 either way.
    return_distance : bool, default False
        Also the distances.
    progress : callable or bool, optional
        A callable is given a `rthiss.Progress` several times a second, and may raise to stop the search. True shows a
        bar, for which the package tqdm is needed.
    **options
        ``metric``, ``engine``, ``index``, ``preset``, ``threads``, ``memory_limit``, ``max_results``, ``nonfinite``,
        ``seed``, as in `rthiss.Index`.

    Returns
    -------
    NeighborLists
        n lists; ``lists[i]`` holds the neighbours of row i in ascending order.

    Raises
    ------
    ValueError, TypeError, NotImplementedError, MemoryError
        As `rthiss.Index`; ValueError for a radius that is negative or NaN.
    KeyboardInterrupt
        After Ctrl-C, within two seconds.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> X = np.array([[0, 0], [1, 1], [5, 5]], dtype=np.uint8)
    >>> rthiss.self_join(X, 2**0.5).pairs()
    array([[0, 1],
           [1, 0]])
    """
    return Index(X, copy=False, **options).self_join(
        radius,
        min_radius=min_radius,
        max_neighbors=max_neighbors,
        include_self=include_self,
        return_distance=return_distance,
        progress=progress,
    )


@spell_out_options
def radius_search(
    X: Any,
    Q: Any,
    radius: Any,
    *,
    min_radius: float | None = None,
    max_neighbors: int | None = None,
    return_distance: bool = False,
    progress: ProgressOption = None,
    **options: Unpack[SearchKeywords],
) -> NeighborLists:
    """For each row of ``Q`` all rows of ``X`` within ``radius``.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows to search in; `rthiss.Index` says which arrays are taken. Read in place, never changed, not kept.
    Q : array_like, shape (m, d)
        The queries, of any of these types too. A row of ``X`` that equals a query is its neighbour like any other.
    radius : float, or array_like of shape (m,)
        As in `rthiss.self_join`; an array holds one radius for each query.
    min_radius, max_neighbors, return_distance, progress, **options
        As in `rthiss.self_join`.

    Returns
    -------
    NeighborLists
        m lists of row numbers of ``X``, ascending.

    Raises
    ------
    ValueError, TypeError, NotImplementedError, MemoryError
        As `rthiss.self_join`; ValueError where ``X`` and ``Q`` have different numbers of columns.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> near = rthiss.radius_search(X, [[0.9], [7.0]], 1.0, return_distance=True)
    >>> near.counts
    array([2, 0])
    >>> near[0], near.distances_of(0)
    (array([0, 1], dtype=int32), array([0.9, 0.1]))
    """
    return Index(X, copy=False, **options).search(
        Q,
        radius,
        min_radius=min_radius,
        max_neighbors=max_neighbors,
        return_distance=return_distance,
        progress=progress,
    )


@spell_out_options
def knn(
    X: Any, k: int, Q: Any = None, *, progress: ProgressOption = None, **options: Unpack[SearchKeywords]
) -> tuple[npt.NDArray[np.float64], IdArray]:
    """The exact k nearest rows of ``X``, of each row of ``Q`` or of ``X`` itself.

    Found by searches within radii that grow. Neighbours are in ascending order of (distance, row number), the distance
    being the true one, rounded once.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows to search in; `rthiss.Index` says which arrays are taken.
    k : int
        1 or more.
    Q : array_like, shape (m, d), optional
        The queries. Without them the neighbours of the rows of ``X``, a row itself left out.
    progress, **options
        As in `rthiss.self_join`.

    Returns
    -------
    distances : ndarray of float64, shape (m, k)
        In the unit of the data; similarities in descending order with ``metric="cosine_similarity"``. NaN for rows that
        ``nonfinite="ignore"`` takes out.
    indices : ndarray of int32 or int64, shape (m, k)
        Row numbers; -1 beside NaN.

    Raises
    ------
    ValueError
        k above the number of (other) rows, and as in `rthiss.self_join`.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> distances, indices = rthiss.knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> distances.ravel(), indices.ravel()
    (array([1., 1., 2.]), array([1, 0, 1], dtype=int32))
    """
    return Index(X, copy=False, **options).knn(k, Q, progress=progress)
