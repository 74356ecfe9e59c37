"""What analyses return."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class FarPair(NamedTuple):
    """Two rows of one component or group that are not within the radius of one another.

    Attributes
    ----------
    first, second : int
        Row numbers.
    distance : float
        Or the similarity with that metric.
    """

    first: int
    second: int
    distance: float


class Clustering(NamedTuple):
    """Clusters of DBSCAN.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Cluster of each row, from 0; -1 for noise.
    core : ndarray of bool, shape (n,)
        Which rows are core points.
    n_clusters : int
    """

    labels: npt.NDArray[np.int64]
    core: npt.NDArray[np.bool_]
    n_clusters: int


class Components(NamedTuple):
    """Connected components of the graph that joins rows within the radius.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Component of each row, numbered by its lowest row; -1 for rows that ``nonfinite="ignore"`` takes out.
    sizes : ndarray of int64, shape (components,)
        Rows of each component.
    n_chained : int
        Components that hold two rows farther apart than the radius.
    far : FarPair or None
        Two such rows.
    """

    labels: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    n_chained: int
    far: FarPair | None


class NearDuplicates(NamedTuple):
    """Groups of near duplicates, and which rows to keep.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Group of each row, numbered by its lowest row; -1 for rows without near duplicates.
    keep : ndarray of int64
        Rows to keep, ascending: no two of them are within the radius.
    n_groups : int
    n_chained : int
        Groups that hold two rows farther apart than the radius; of such a group several rows may be kept.
    far : FarPair or None
        Two such rows.
    """

    labels: npt.NDArray[np.int64]
    keep: npt.NDArray[np.int64]
    n_groups: int
    n_chained: int
    far: FarPair | None
