"""What the numbers were measured on: processor, BLAS kernels and their rate, versions."""

import ctypes
import os
import platform
import time

import numpy as np

MATRIX_SIZE = 2048
# Overrides of OpenBLAS that choose a kernel for another processor; a benchmark wants the one of this processor.
BLAS_OVERRIDES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def child_environment(threads):
    environment = {key: value for key, value in os.environ.items() if key not in BLAS_OVERRIDES}
    environment.update({key: str(threads) for key in THREAD_VARIABLES})
    return environment


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_memory_bytes():
    try:
        with open("/proc/meminfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return memory_bytes() // 2


def blas_libraries():
    """threadpoolctl's view, without the paths."""
    from threadpoolctl import threadpool_info

    return [
        {"library": os.path.basename(info["filepath"]), "version": info["version"],
         "kernel": info.get("architecture"), "threads": info["num_threads"]}
        for info in threadpool_info() if info["user_api"] == "blas"
    ]


def _rate(multiply, size):
    multiply()
    best = min(_seconds(multiply) for _ in range(3))
    return 2.0 * size**3 / best / 1e9


def _seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def numpy_rate(dtype, size=MATRIX_SIZE):
    """GFLOP/s of a square matrix product through the BLAS that numpy loaded."""
    a = np.random.default_rng(1).random((size, size)).astype(dtype)
    out = np.empty_like(a)
    return _rate(lambda: np.matmul(a, a, out=out), size)


def scipy_rate(dtype, size=MATRIX_SIZE):
    """The same through the BLAS of SciPy, the one that scikit-learn calls."""
    from scipy.linalg.blas import get_blas_funcs

    a = np.asfortranarray(np.random.default_rng(1).random((size, size)).astype(dtype))
    gemm = get_blas_funcs("gemm", (a,))
    return _rate(lambda: gemm(1.0, a, a), size)


def faiss_rate(size=MATRIX_SIZE):
    """GFLOP/s of sgemm in the BLAS that faiss brought along; None where its library has another layout."""
    import faiss  # noqa: F401  (loads the library)
    from threadpoolctl import threadpool_info

    path = next((info["filepath"] for info in threadpool_info()
                 if info["user_api"] == "blas" and "faiss" in info["filepath"]), None)
    if path is None:
        return None
    try:
        sgemm = ctypes.CDLL(path).sgemm_
    except (OSError, AttributeError):
        return None
    a = np.random.default_rng(1).random((size, size)).astype(np.float32)
    out = np.empty_like(a)
    n, one, zero = ctypes.c_int(size), ctypes.c_float(1.0), ctypes.c_float(0.0)
    pointer = ctypes.POINTER(ctypes.c_float)

    def multiply():
        sgemm(b"N", b"N", ctypes.byref(n), ctypes.byref(n), ctypes.byref(n), ctypes.byref(one),
              a.ctypes.data_as(pointer), ctypes.byref(n), a.ctypes.data_as(pointer), ctypes.byref(n),
              ctypes.byref(zero), out.ctypes.data_as(pointer), ctypes.byref(n))

    return _rate(multiply, size)
