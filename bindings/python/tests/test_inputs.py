"""Which arrays are taken, how, and what is refused."""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from conftest import undirected

import rthiss

DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
]  # fmt: skip
ROWS = np.arange(12).reshape(4, 3)
PAIRS = [(0, 1), (1, 2), (2, 3)]


def layouts(array):
    """The same values in memory of every kind."""
    strided = np.zeros((2 * len(array), 3 * array.shape[1]), array.dtype)
    strided[::2, ::3] = array
    unaligned = np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    read_only = array.copy()
    read_only.flags.writeable = False
    return {
        "C": np.ascontiguousarray(array),
        "Fortran": np.asfortranarray(array),
        "swapped": array.astype(array.dtype.newbyteorder()),
        "swapped Fortran": np.asfortranarray(array.astype(array.dtype.newbyteorder())),
        "reversed": np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1],
        "strided": strided[::2, ::3],
        "unaligned": unaligned,
        "read-only": read_only,
    }


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_memory_layout_and_byte_order(dtype):
    for name, array in layouts(ROWS.astype(dtype)).items():
        before = array.tobytes()
        for copy in (False, True):
            assert undirected(rthiss.Index(array, copy=copy).self_join(5.2)) == PAIRS, name
        assert undirected(rthiss.self_join(array, 5.2)) == PAIRS, name
        assert rthiss.radius_search(array, array, 5.2).nnz == 10, name
        assert array.tobytes() == before, name
        assert rthiss.Index(array).dtype == dtype


def test_bool():
    rows = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0]], bool)
    for array in layouts(rows).values():
        assert undirected(rthiss.self_join(array, 1)) == [(0, 1)]


def test_every_dtype_keeps_its_smallest_differences():
    for dtype in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16):
        tiny = ml_dtypes.finfo(dtype).smallest_subnormal
        rows = np.array([[0], [tiny], [2 * tiny]], dtype)
        near = rthiss.self_join(rows, float(tiny), return_distance=True)
        assert undirected(near) == [(0, 1), (1, 2)]
        assert set(near.distances) == {float(tiny)}
        assert rthiss.self_join(rows, 0.0).nnz == 0


def test_bfloat16():
    rows = ROWS.astype(ml_dtypes.bfloat16)
    assert undirected(rthiss.self_join(rows, 5.2)) == PAIRS
    assert rthiss.Index(rows).dtype == "bfloat16"


def test_dtypes_may_differ_between_points_and_queries():
    for first in DTYPES[1:]:
        for second in ("uint8", "float32", "float64"):
            near = rthiss.radius_search(ROWS.astype(first), ROWS.astype(second), 5.2)
            assert near.nnz == 10


def test_integers_beyond_two_to_the_53():
    rows = np.array([[2**53], [0]], np.int64)
    assert rthiss.self_join(rows, 2.0**53).nnz == 2
    rows[0] += 1
    with pytest.raises(ValueError, match=r"row 0.*column 0"):
        rthiss.self_join(rows, 1.0)
    with pytest.raises(ValueError, match="2\\^53"):
        rthiss.self_join([[2**53 + 1], [0.5]], 1.0)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "longdouble", "object", "datetime64[s]", "U3"])
def test_dtypes_that_would_change_are_refused_by_name(dtype):
    array = np.zeros((3, 2), dtype)
    with pytest.raises(ValueError, match="dtype " + str(array.dtype).replace("[", r"\[").replace("<", "<")):
        rthiss.self_join(array, 1.0)


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match=r"shape \(3,\).*reshape"):
        rthiss.self_join(np.zeros(3), 1.0)
    with pytest.raises(ValueError, match="two-dimensional"):
        rthiss.self_join(np.zeros((2, 2, 2)), 1.0)
    with pytest.raises(ValueError, match="column"):
        rthiss.self_join(np.zeros((2, 0)), 1.0)
    with pytest.raises(TypeError, match="masked"):
        rthiss.self_join(np.ma.masked_array(np.zeros((2, 2))), 1.0)


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        rthiss.self_join(sparse.csr_matrix((2, 2)), 1.0)


def test_lists_are_taken_as_numpy_takes_them():
    assert undirected(rthiss.self_join([[0.0], [1.0]], 1)) == [(0, 1)]
    assert undirected(rthiss.self_join(((0,), (1,)), 1)) == [(0, 1)]


class Exported:
    """An array known by its DLPack export alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_dlpack(dtype):
    for name, array in layouts(ROWS.astype(dtype)).items():
        if name in ("unaligned", "swapped", "swapped Fortran"):
            continue  # NumPy does not export them
        exported = Exported(array)
        assert undirected(rthiss.self_join(exported, 5.2)) == PAIRS, name
        for copy in (False, True):
            assert undirected(rthiss.Index(exported, copy=copy).self_join(5.2)) == PAIRS, name


def test_dlpack_refusals():
    with pytest.raises(ValueError, match="complex64"):
        rthiss.self_join(Exported(np.zeros((2, 2), np.complex64)), 1.0)
    with pytest.raises(ValueError, match="two-dimensional"):
        rthiss.self_join(Exported(np.zeros(2)), 1.0)

    class Failing:
        def __dlpack__(self, **_):
            raise BufferError("needs detach()")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(BufferError, match="detach"):
        rthiss.self_join(Failing(), 1.0)


def dlpack_capsule(device_type):
    """A tensor of one float32 that claims to lie on a device."""

    class DLTensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
        ]  # fmt: skip

    class Managed(ctypes.Structure):
        _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    shape = (ctypes.c_int64 * 2)(1, 1)
    managed = Managed(DLTensor(None, device_type, 3, 2, 2, 32, 1, shape, None, 0), None, None)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(managed), b"dltensor", None), (managed, shape)


def test_memory_of_a_device_is_refused_with_advice():
    class OnDevice:
        def __dlpack__(self, **_):
            capsule, self.kept = dlpack_capsule(device_type=2)
            return capsule

        def __dlpack_device__(self):
            return (2, 3)

    with pytest.raises(NotImplementedError, match=r"device.*number 3.*cpu\(\)"):
        rthiss.self_join(OnDevice(), 1.0)


def test_memory_of_a_gpu_without_dlpack_is_refused_with_advice():
    class OnDevice:
        __cuda_array_interface__ = {"shape": (2, 1), "typestr": "<f4", "data": (4096, False), "version": 3}

    with pytest.raises(NotImplementedError, match=r"Q: .*GPU.*copy_to_host"):
        rthiss.radius_search(np.zeros((2, 1)), OnDevice(), 1.0)


def test_an_index_reads_a_copy_unless_told_otherwise():
    rows = np.array([[0.0], [1.0]])
    copied, shared = rthiss.Index(rows), rthiss.Index(rows, copy=False)
    rows[1] = 5.0
    assert copied.self_join(1.0).nnz == 2
    assert shared.self_join(1.0).nnz == 0


def test_the_array_lives_as_long_as_an_index_that_shares_it():
    index = rthiss.Index(np.arange(1000.0).reshape(-1, 1) * 1.0, copy=False)
    junk = [np.full(1000, -1.0) for _ in range(100)]
    assert index.self_join(1.0).nnz == 1998
    del junk


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.float64, torch.uint8, torch.bfloat16, torch.float16):
        assert undirected(rthiss.self_join(torch.arange(12).reshape(4, 3).to(dtype), 5.2)) == PAIRS
    assert undirected(rthiss.self_join(torch.arange(12.0).reshape(3, 4).T, 1.8)) == PAIRS


def test_jax_arrays():
    jnp = pytest.importorskip("jax.numpy")
    for dtype in (jnp.float32, jnp.uint8, jnp.bfloat16):
        assert undirected(rthiss.self_join(jnp.arange(12).reshape(4, 3).astype(dtype), 5.2)) == PAIRS


def test_pandas_frames():
    pandas = pytest.importorskip("pandas")
    assert undirected(rthiss.self_join(pandas.DataFrame(ROWS), 5.2)) == PAIRS
    with pytest.raises(ValueError, match="2\\^53"):
        rthiss.self_join(pandas.DataFrame({"a": [2**53 + 1, 1], "b": [0.5, 1.0]}), 1.0)
