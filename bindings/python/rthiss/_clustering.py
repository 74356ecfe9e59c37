"""Analyses in one call, streamed: in memory is a label for each row, never all pairs."""

from typing import Any, Unpack

from rthiss._analysis import Clustering, Components, NearDuplicates
from rthiss._index import Index
from rthiss._inputs import as_radius
from rthiss._options import SearchKeywords, spell_out_options
from rthiss._progress import ProgressOption


@spell_out_options
def dbscan(
    X: Any, radius: float, min_points: int, *, progress: ProgressOption = None, **options: Unpack[SearchKeywords]
) -> Clustering:
    """DBSCAN, exact: the same labels whatever the threads, memory or order of work.

    A row is a core point if at least ``min_points`` rows, itself counted, are within ``radius``. Core points within the
    radius of one another are in one cluster; clusters are numbered by their lowest core point. Another row joins the
    lowest-numbered cluster with a core point within its radius, or is noise.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows; `rthiss.Index` says which arrays are taken.
    radius : float
        In the unit of the data; scikit-learn's ``eps``.
    min_points : int
        1 or more; scikit-learn's ``min_samples``.
    progress, **options
        As in `rthiss.self_join`.

    Returns
    -------
    Clustering

    Raises
    ------
    ValueError, TypeError, NotImplementedError, MemoryError
        As `rthiss.self_join`.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> rthiss.dbscan(np.array([[0.0], [1.0], [2.0], [9.0]]), radius=1.0, min_points=2).labels
    array([ 0,  0,  0, -1])
    """
    return Index(X, copy=False, **options).dbscan(radius, min_points, progress=progress)


@spell_out_options
def connected_components(
    X: Any, radius: float, *, progress: ProgressOption = None, **options: Unpack[SearchKeywords]
) -> Components:
    """Connected components of the graph that joins rows within ``radius``.

    A component is no clique: two of its rows may be farther apart than the radius, joined by a chain of others. How
    many components are like that, and one such pair, is told.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows; `rthiss.Index` says which arrays are taken.
    radius : float
        In the unit of the data.
    progress, **options
        As in `rthiss.self_join`.

    Returns
    -------
    Components

    Raises
    ------
    ValueError, TypeError, NotImplementedError, MemoryError
        As `rthiss.self_join`.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> components = rthiss.connected_components(np.array([[0.0], [0.9], [1.8], [9.0]]), radius=1.0)
    >>> components.labels, components.sizes, components.n_chained
    (array([0, 0, 0, 1]), array([3, 1]), 1)
    >>> components.far
    FarPair(first=0, second=2, distance=1.8)
    """
    return Index(X, copy=False, **options).connected_components(radius, progress=progress)


@spell_out_options
def near_duplicates(
    X: Any,
    radius: float | None = None,
    *,
    cosine: float | None = None,
    progress: ProgressOption = None,
    **options: Unpack[SearchKeywords],
) -> NearDuplicates:
    """Groups of rows within ``radius``, and which rows to keep.

    A group is a connected component, and no clique. The rows to keep are chosen greedily by ascending row number: a row
    is kept unless a kept one before it is within the radius. So no two kept rows are within the radius, and each
    dropped row is within the radius of a kept one.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows; `rthiss.Index` says which arrays are taken.
    radius : float
        In the unit of the data.
    cosine : float
        In place of a radius: rows whose cosine is at least this, as ``metric="cosine_similarity"``.
    progress, **options
        As in `rthiss.self_join`.

    Returns
    -------
    NearDuplicates

    Raises
    ------
    ValueError, TypeError, NotImplementedError, MemoryError
        As `rthiss.self_join`; TypeError for none or both of ``radius`` and ``cosine``.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> duplicates = rthiss.near_duplicates(np.array([[0.0], [0.1], [5.0], [5.1], [9.0]]), radius=0.2)
    >>> duplicates.labels, duplicates.keep
    (array([ 0,  0,  1,  1, -1]), array([0, 2, 4]))
    """
    if (radius is None) == (cosine is None):
        raise TypeError("near_duplicates takes either a radius or a cosine")
    if cosine is not None:
        if options.get("metric", "cosine_similarity") != "cosine_similarity":
            raise TypeError("cosine stands in place of a metric and a radius")
        options["metric"] = "cosine_similarity"
    index = Index(X, copy=False, **options)
    bound = as_radius(radius) if cosine is None else as_radius(cosine, "cosine")
    return index.near_duplicates(bound, progress=progress)
