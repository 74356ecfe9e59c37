"""The extension module: what C++ offers to the package. Not public."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

_Ids = npt.NDArray[np.int32] | npt.NDArray[np.int64]
_Lists = tuple[npt.NDArray[np.int64], _Ids, npt.NDArray[np.float64] | None]
_Block = tuple[_Ids, npt.NDArray[np.int64], _Ids, npt.NDArray[np.float64] | None]
_ProgressCallback = Callable[[str, int, int, int, int, int], object] | None
_LogCallback = Callable[[str], object] | None

version: str

class Options:
    def __init__(
        self,
        *,
        metric: str,
        engine: str,
        index: str,
        preset: str,
        threads: int,
        memory_limit: int,
        max_results: int,
        nonfinite: str,
        seed: int,
    ) -> None: ...

class Points:
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    def copied(self) -> Points: ...

def points_at(
    owner: object,
    address: int,
    rows: int,
    columns: int,
    dtype: str,
    row_stride: int,
    column_stride: int,
    byte_swapped: bool,
) -> Points: ...
def points_from_dlpack(array: object, role: str) -> Points | None: ...

class Neighborhood:
    def __init__(
        self,
        radius: float,
        radii: npt.NDArray[np.float64] | None,
        min_radius: float | None,
        max_neighbors: int | None,
    ) -> None: ...

class SearchIndex:
    def __init__(
        self, points: Points, options: Options, progress: _ProgressCallback, log: _LogCallback
    ) -> None: ...
    def search(
        self,
        queries: Points | None,
        neighborhood: Neighborhood,
        include_self: bool,
        distances: bool,
        progress: _ProgressCallback,
        log: _LogCallback,
    ) -> tuple[_Lists, dict[str, Any]]: ...

class JoinStream:
    def __init__(
        self, index: SearchIndex, neighborhood: Neighborhood, include_self: bool, distances: bool, memory_limit: int
    ) -> None: ...
    def next(self, progress: _ProgressCallback, log: _LogCallback) -> _Block | None: ...
    def close(self) -> None: ...

def estimate_radius(
    points: Points,
    queries: Points | None,
    options: Options,
    selectivity: float,
    curve: bool,
    progress: _ProgressCallback,
    log: _LogCallback,
) -> tuple[float, float, float, int, int, list[tuple[int, float, float, float, float]]]: ...
def knn(
    index: SearchIndex, queries: Points | None, k: int, progress: _ProgressCallback, log: _LogCallback
) -> tuple[tuple[npt.NDArray[np.float64], _Ids], dict[str, Any]]: ...
def dbscan(
    index: SearchIndex, radius: float, min_points: int, progress: _ProgressCallback, log: _LogCallback
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], int]: ...
def connected_components(
    index: SearchIndex, radius: float, progress: _ProgressCallback, log: _LogCallback
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int, tuple[int, int, float] | None]: ...
def near_duplicates(
    index: SearchIndex, radius: float, progress: _ProgressCallback, log: _LogCallback
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int, int, tuple[int, int, float] | None]: ...
def engines() -> list[tuple[str, bool, str]]: ...
def indexes() -> list[tuple[str, bool, str]]: ...
def stop_all_jobs() -> None: ...
