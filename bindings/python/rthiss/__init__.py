"""Exact radius search: for every vector all vectors within a distance.

The answer is the mathematically right set of pairs: a row is a neighbour if its true distance, rounded once to the
nearest double, is at most the radius. No input value is ever cast to a narrower type, and every option gives the same
answer.

>>> import numpy as np
>>> import rthiss
>>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
>>> near = rthiss.self_join(X, radius=5.0)
>>> near.pairs()
array([[0, 1],
       [1, 0],
       [1, 2],
       [2, 1]])
"""

import atexit as _atexit

from rthiss import _core
from rthiss._analysis import Clustering, Components, FarPair, NearDuplicates
from rthiss._clustering import connected_components, dbscan, near_duplicates
from rthiss._index import Index
from rthiss._neighbor_lists import NeighborLists
from rthiss._progress import Progress
from rthiss._radius import CurvePoint, RadiusEstimate, estimate_radius
from rthiss._search import knn, radius_search, self_join

__version__: str = _core.version
__all__ = [
    "Clustering",
    "Components",
    "CurvePoint",
    "FarPair",
    "Index",
    "NearDuplicates",
    "NeighborLists",
    "Progress",
    "RadiusEstimate",
    "connected_components",
    "dbscan",
    "estimate_radius",
    "knn",
    "near_duplicates",
    "radius_search",
    "self_join",
]

# Threads of a search that was interrupted must not outlive the interpreter.
_atexit.register(_core.stop_all_jobs)
