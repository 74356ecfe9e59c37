"""What callers hand over as rows, as views that the C++ side reads in place."""

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from rthiss import _core

_LARGEST_EXACT = 2**53


def as_points(data: Any, role: str) -> _core.Points:
    """A view of ``data`` [n x d], without a copy where it is an array; the view keeps ``data`` alive.

    Raises
    ------
    ValueError
        Not two-dimensional, or a dtype whose values would change.
    TypeError
        Nothing that can be read as an array: sparse or masked.
    NotImplementedError
        An array in the memory of a device.
    """
    if isinstance(data, np.ndarray):
        return _from_numpy(data, role)
    if hasattr(data, "__dlpack__"):
        return _from_dlpack(data, role)
    if hasattr(data, "__cuda_array_interface__"):
        raise NotImplementedError(
            f"{role}: the array lies in the memory of a GPU, and rows are read from host memory; hand over a copy in "
            "host memory (Numba: x.copy_to_host(), CuPy: x.get())"
        )
    if hasattr(data, "toarray"):
        raise TypeError(f"{role}: a sparse matrix cannot be searched; hand over {role}.toarray()")
    array = np.asarray(data)
    _refuse_rounded_integers(data, array, role)
    return _from_numpy(array, role)


def _from_numpy(array: npt.NDArray[Any], role: str) -> _core.Points:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{role}: masked arrays are not supported; fill or drop the masked rows first")
    _check_shape(array.shape, role)
    name = _dtype_name(array.dtype)
    if name is None:
        raise ValueError(
            f"{role}: dtype {array.dtype} cannot be taken without changing values; known: bool, int8 to int64, "
            "uint8 to uint64, float16, bfloat16, float32, float64"
        )
    # One row or column may have any stride; where nothing is read there may be no address either.
    address = array.__array_interface__["data"][0]
    rows, columns = array.shape
    row_stride, column_stride = array.strides
    swapped = not array.dtype.isnative
    return _core.points_at(array, address, rows, columns, name, row_stride, column_stride, swapped)


def _dtype_name(dtype: np.dtype[Any]) -> str | None:
    if dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize <= 8) or (dtype.kind == "f" and dtype.itemsize <= 8):
        return dtype.name
    return "bfloat16" if dtype.name == "bfloat16" else None


def _check_shape(shape: tuple[int, ...], role: str) -> None:
    if len(shape) == 2:
        return
    hint = f"; one column: {role}.reshape(-1, 1), one row: {role}.reshape(1, -1)" if len(shape) == 1 else ""
    raise ValueError(f"{role}: expected a two-dimensional array [n x d], got shape {shape}{hint}")


def _from_dlpack(data: Any, role: str) -> _core.Points:
    points = _core.points_from_dlpack(data, role)
    if points is None:
        data.__dlpack__()  # says why
        raise TypeError(f"{role}: the DLPack export of {type(data).__name__} cannot be read")
    return points


def _refuse_rounded_integers(data: Any, array: npt.NDArray[Any], role: str) -> None:
    """Lists and data frames that mix integers with floating point become float64: fine only up to 2^53."""
    if array.dtype.kind != "f" or array.size == 0:
        return
    if hasattr(data, "dtypes") and hasattr(data, "iloc"):
        columns = [data.iloc[:, j].to_numpy() for j in range(data.shape[1])]
        ends = [end for column in columns if column.dtype.kind in "iu" for end in (column.min(), column.max())]
    elif isinstance(data, (list, tuple)):
        values = np.asarray(data, dtype=object).ravel()
        ends = [value for value in values if isinstance(value, (int, np.integer))]
    else:
        return
    largest = max((abs(int(end)) for end in ends), default=0)
    if largest > _LARGEST_EXACT:
        raise ValueError(
            f"{role}: integers beyond 2^53 beside floating point cannot be taken without changing values (found one of "
            f"magnitude {largest})"
        )


def as_radius(radius: Any, name: str = "radius") -> float:
    """The number as a double, unchanged. Negative and NaN are refused by the search itself."""
    value = np.asarray(radius)
    if value.ndim != 0 or value.dtype.kind not in "iuf":
        raise TypeError(f"{name}: expected a real number, got {radius!r}")
    exact = value.item()  # a Python number, or a long double as it is
    number = float(exact)
    if number == number and number != exact:
        raise ValueError(f"{name}: {exact!r} is not a double; round it to one yourself")
    return number


def as_radii(radii: Any, count: int) -> npt.NDArray[np.float64]:
    """One radius for each of ``count`` queries, as doubles, unchanged."""
    values = np.asarray(radii)
    if values.shape != (count,):
        raise ValueError(f"radius: expected a number, or one for each of {count} queries; got shape {values.shape}")
    if values.dtype.kind not in "iuf" or _is_wide_float(values.dtype):
        raise TypeError(f"radius: dtype {values.dtype} cannot be taken without changing values")
    if values.dtype.kind in "iu" and values.size and max(-int(values.min()), int(values.max())) > _LARGEST_EXACT:
        raise ValueError("radius: an integer beyond 2^53 is not a double; round it to one yourself")
    return np.ascontiguousarray(values, dtype=np.float64)


def _is_wide_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize > 8


def as_neighborhood(radius: Any, count: int, min_radius: Any, max_neighbors: Any) -> _core.Neighborhood:
    """What is a neighbour of each of ``count`` queries."""
    many = np.ndim(radius) > 0
    return _core.Neighborhood(
        0.0 if many else as_radius(radius),
        as_radii(radius, count) if many else None,
        None if min_radius is None else as_radius(min_radius, "min_radius"),
        None if max_neighbors is None else as_count(max_neighbors, "max_neighbors", 1),
    )


def as_count(value: Any, name: str, least: int) -> int:
    """A whole number of at least ``least``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected a whole number, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return number
