"""Choosing a radius."""

from typing import Any, Literal, NamedTuple

from rthiss import _core
from rthiss._inputs import as_points
from rthiss._options import make_options
from rthiss._progress import ProgressOption, reporting


class CurvePoint(NamedTuple):
    """Distances at one number of neighbours k.

    Attributes
    ----------
    k : int
    radius : float
        At which queries have k neighbours in the mean.
    low, median, high : float
        Distance to the k-th neighbour: of 10 %, 50 % and 90 % of the queries at most this.
    """

    k: int
    radius: float
    low: float
    median: float
    high: float


class RadiusEstimate(NamedTuple):
    """A radius for a wanted number of neighbours.

    Attributes
    ----------
    radius : float
        In the unit of the data (with a cosine metric the cosine distance).
    interval : tuple of float
        95 % confidence interval of the radius that has exactly the wanted mean.
    sampled_queries, sampled_points : int
        What the estimate rests on.
    curve : tuple of CurvePoint
        The k-distance curve; empty where it was not asked for.
    """

    radius: float
    interval: tuple[float, float]
    sampled_queries: int
    sampled_points: int
    curve: tuple[CurvePoint, ...]


def estimate_radius(
    X: Any,
    selectivity: float,
    *,
    queries: Any = None,
    curve: bool = False,
    metric: Literal["euclidean", "cosine"] = "euclidean",
    threads: int | None = None,
    nonfinite: Literal["error", "ignore"] = "error",
    seed: int = 1,
    progress: ProgressOption = None,
) -> RadiusEstimate:
    """The radius at which rows have ``selectivity`` neighbours in the mean, from a sample.

    The estimate only helps to choose a radius; a search at that radius is exact.

    Parameters
    ----------
    X : array_like, shape (n, d)
        The rows; `rthiss.Index` says which arrays are taken.
    selectivity : float
        Wanted mean number of neighbours, a row itself not counted; above 0.
    queries : array_like, shape (m, d), optional
        The rows whose neighbours are meant; by default those of ``X``.
    curve : bool, default False
        Also the k-distance curve.
    metric, threads, nonfinite
        As in `rthiss.Index`; no similarity.
    seed : int, default 1
        Of the sample.
    progress : callable or bool, optional
        As in `rthiss.self_join`.

    Returns
    -------
    RadiusEstimate

    Raises
    ------
    ValueError
        A selectivity that is not above 0, or above the number of other rows.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> X = np.random.default_rng(0).random((2000, 3))
    >>> estimate = rthiss.estimate_radius(X, selectivity=20)
    >>> estimate.interval[0] <= estimate.radius <= estimate.interval[1]
    True
    >>> bool(18 < rthiss.self_join(X, estimate.radius).counts.mean() < 22)
    True
    """
    if metric not in ("euclidean", "cosine"):
        raise ValueError(f"a radius is estimated for the metrics euclidean and cosine, not for {metric!r}")
    options = make_options(metric=metric, threads=threads, nonfinite=nonfinite, seed=seed)
    points = as_points(X, "X")
    asked = None if queries is None else as_points(queries, "queries")
    with reporting(progress) as reports:
        radius, low, high, sampled_queries, sampled_points, steps = _core.estimate_radius(
            points, asked, options, float(selectivity), bool(curve), *reports
        )
    return RadiusEstimate(
        radius, (low, high), sampled_queries, sampled_points, tuple(CurvePoint(*step) for step in steps)
    )
