"""One small class a peer: how its users join a table with itself, and how its result becomes a pair set.

`run` is what is timed; it returns the peer's own result, kept whole. `keys` turns that into the form of exact.py and is
not timed. Whatever a peer must build first (index, tree, model) is built inside `run`.
"""

from dataclasses import dataclass
import importlib.metadata
import json
import os
import subprocess
import sys
import time

import numpy as np

from contracts import Contract, keys_from_half, keys_from_lists
import machine


@dataclass
class Job:
    """points: (n, d) in memory, C order; path: the same as .npy; scratch: a folder for results."""

    points: np.ndarray
    path: str
    radius: float
    threads: int
    scratch: str
    expected_pairs: int
    programs: dict

    @property
    def n(self):
        return len(self.points)


class Unavailable(Exception):
    """The peer cannot run here; the message says why and what to do."""


class Peer:
    """One way to get all pairs. Subclasses state the contract for data of a dtype."""

    name = ""
    package = ""
    note = ""

    def contract(self, dtype):
        raise NotImplementedError

    def version(self):
        return importlib.metadata.version(self.package)

    def blas_rate(self):
        """GFLOP/s of the matrix product that this peer relies on, or None where it uses none."""
        return None

    def prepare(self):
        """Imports what `run` calls, so that loading libraries is no part of the time."""

    def run(self, job):
        raise NotImplementedError

    def keys(self, result, job):
        raise NotImplementedError

    def seconds(self, result, wall):
        """What counts as the peer's time; the wall time of `run` unless the peer measures itself."""
        return {"seconds": wall}


class Faiss(Peer):
    name = "faiss IndexFlatL2"
    package = "faiss-cpu"
    # range_search holds id (8 bytes) and distance (4) of a pair, twice while it merges its threads' lists.
    BYTES_PER_PAIR = 24

    def contract(self, dtype):
        return Contract(closed=False, squared_radius=np.float32)

    def blas_rate(self):
        return machine.faiss_rate()

    def prepare(self):
        import faiss  # noqa: F401

    def run(self, job):
        import faiss

        faiss.omp_set_num_threads(job.threads)
        points = np.ascontiguousarray(job.points, dtype=np.float32)
        threshold = self.contract(points.dtype).threshold(job.radius)
        need = (job.expected_pairs + job.n) * self.BYTES_PER_PAIR
        blocks = max(1, -(-2 * need // machine.available_memory_bytes()))
        rows = -(-job.n // blocks)
        index = faiss.IndexFlatL2(points.shape[1])
        index.add(points)
        return [index.range_search(points[start:start + rows], threshold) for start in range(0, job.n, rows)]

    def keys(self, result, job):
        counts = np.concatenate([np.diff(limits.astype(np.int64)) for limits, _, _ in result])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return keys_from_lists(indptr, np.concatenate([ids for _, _, ids in result]), job.n)


class ScikitLearn(Peer):
    package = "scikit-learn"

    def __init__(self, algorithm):
        self.algorithm = algorithm
        self.name = f"scikit-learn {algorithm}"

    def contract(self, dtype):
        # The trees work in double; brute force takes radius and square in the type of the data.
        own = np.dtype(dtype).type if self.algorithm == "brute" else np.float64
        return Contract(closed=True, squared_radius=own, radius=own)

    def blas_rate(self):
        return machine.scipy_rate(np.float64) if self.algorithm == "brute" else None

    def prepare(self):
        import sklearn.neighbors  # noqa: F401

    def run(self, job):
        from sklearn.neighbors import NearestNeighbors

        model = NearestNeighbors(radius=job.radius, algorithm=self.algorithm, n_jobs=job.threads).fit(job.points)
        return model.radius_neighbors(job.points, return_distance=False)

    def keys(self, result, job):
        return keys_from_lists(_offsets(result), np.concatenate(result), job.n)


class CkdtreePairs(Peer):
    name = "scipy cKDTree.query_pairs"
    package = "scipy"
    note = "one thread, each pair once"

    def contract(self, dtype):
        return Contract(closed=True, squared_radius=np.float64)

    def prepare(self):
        import scipy.spatial  # noqa: F401

    def run(self, job):
        from scipy.spatial import cKDTree

        return cKDTree(job.points).query_pairs(job.radius, output_type="ndarray")

    def keys(self, result, job):
        return keys_from_half(result, job.n)


class CkdtreeBall(CkdtreePairs):
    name = "scipy cKDTree.query_ball_point"
    note = ""

    def run(self, job):
        from scipy.spatial import cKDTree

        tree = cKDTree(job.points)
        return tree.query_ball_point(job.points, job.radius, workers=job.threads, return_sorted=False)

    def keys(self, result, job):
        indptr = _offsets(result)
        indices = np.fromiter((j for row in result for j in row), dtype=np.int64, count=int(indptr[-1]))
        return keys_from_lists(indptr, indices, job.n)


class Snn(Peer):
    name = "snnpy"
    package = "snnpy"

    def contract(self, dtype):
        # r ** 2 is a Python float, which NumPy compares in the type of the data.
        return Contract(closed=True, squared_radius=np.dtype(dtype).type)

    def blas_rate(self):
        return machine.numpy_rate(np.float32)

    def _module(self):
        try:
            # snnpy 0.0.8 installs its extension beside its package and imports it from inside.
            import snnomp

            sys.modules.setdefault("snnpy.snnomp", snnomp)
            import snnpy
        except ImportError as error:
            raise Unavailable(f"snnpy does not import ({error}); benchmarks/peers/setup.sh builds it") from error
        return snnpy

    def version(self):
        self._module()
        return super().version()

    def prepare(self):
        self._module()

    def run(self, job):
        model = self._module().build_snn_model(job.points, verbose=0)
        return model.batch_query_radius(job.points, job.radius)

    def keys(self, result, job):
        return keys_from_lists(_offsets(result), np.concatenate(result), job.n)


class Nanoflann(Peer):
    name = "nanoflann"
    LEAF_SIZE = 32

    def contract(self, dtype):
        return Contract(closed=False, squared_radius=np.dtype(dtype).type)

    def version(self):
        self._program(self.programs)
        return "system header"

    def __init__(self, programs):
        self.programs = programs

    @staticmethod
    def _program(programs):
        path = programs.get("nanoflann_join")
        if not path or not os.access(path, os.X_OK):
            raise Unavailable("nanoflann_join is not built: configure with -DRTHISS_BUILD_BENCHMARKS=ON "
                              "(libnanoflann-dev) and pass --nanoflann PATH")
        return path

    def run(self, job):
        prefix = os.path.join(job.scratch, "nanoflann")
        output = _call([self._program(job.programs), job.path, repr(job.radius), str(job.threads), str(self.LEAF_SIZE),
                        prefix])
        return {"prefix": prefix, "stats": json.loads(output)}

    def seconds(self, result, wall):
        stats = result["stats"]
        return {"seconds": stats["total_seconds"], "version": stats["version"]}

    def keys(self, result, job):
        indptr = np.fromfile(result["prefix"] + ".indptr", dtype=np.int64)
        return keys_from_lists(indptr, np.fromfile(result["prefix"] + ".indices", dtype=np.uint32), job.n)


class Rthiss(Peer):
    """The program itself. Two times: the search in memory, as its statistics say, and the whole process."""

    def __init__(self, programs, preset):
        self.programs = programs
        self.preset = preset
        self.name = "rthiss" if preset == "auto" else f"rthiss --preset {preset}"

    def contract(self, dtype):
        # Only asked for where its answer differs from the oracle's, which would be a fault of one of the two.
        return Contract(closed=True, squared_radius=np.float64)

    def _program(self):
        path = self.programs.get("rthiss")
        if not path or not os.access(path, os.X_OK):
            raise Unavailable("rthiss is not there: build it (preset release) or pass --rthiss PATH")
        return path

    def version(self):
        return _call([self._program(), "--version"]).strip().split()[-1]

    def run(self, job):
        output = os.path.join(job.scratch, "rthiss.npz")
        command = [self._program(), "join", job.path, "--radius", repr(job.radius), "--threads", str(job.threads),
                   "--output", output, "--json", "-"]
        if self.preset != "auto":
            command += ["--preset", self.preset]
        return {"output": output, "stats": json.loads(_call(command))}

    def seconds(self, result, wall):
        stages = result["stats"]["seconds"]
        in_memory = stages["total"] - stages.get("read", 0.0) - stages.get("output", 0.0)
        return {"seconds": in_memory, "process_seconds": wall, "stats": result["stats"]}

    def keys(self, result, job):
        with np.load(result["output"]) as stored:
            return keys_from_lists(stored["indptr"], stored["indices"], job.n)


def _offsets(lists):
    return np.concatenate([[0], np.cumsum([len(row) for row in lists], dtype=np.int64)])


def _call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {done.returncode}: {last}")
    return done.stdout


def all_peers(programs, presets=("auto",)):
    """Every peer by the word that --peers takes. rthiss comes first: the ratios are over it."""
    peers = {"rthiss" if preset == "auto" else f"rthiss-{preset}": Rthiss(programs, preset) for preset in presets}
    peers |= {
        "faiss": Faiss(),
        "sklearn-brute": ScikitLearn("brute"),
        "sklearn-ball-tree": ScikitLearn("ball_tree"),
        "sklearn-kd-tree": ScikitLearn("kd_tree"),
        "scipy-pairs": CkdtreePairs(),
        "scipy-ball": CkdtreeBall(),
        "nanoflann": Nanoflann(programs),
        "snnpy": Snn(),
    }
    return peers


def measure(peer, job, repeat_below, repeats):
    """Runs the peer, again while runs are short. Returns the measurements and the last result."""
    peer.prepare()
    runs = []
    result = None
    while len(runs) < repeats and (not runs or runs[0]["seconds"] < repeat_below):
        result = None  # the lists of the run before would only take memory from this one
        start = time.perf_counter()
        result = peer.run(job)
        runs.append(peer.seconds(result, time.perf_counter() - start))
    runs.sort(key=lambda entry: entry["seconds"])
    return {**runs[len(runs) // 2], "runs": len(runs), "all_seconds": [run["seconds"] for run in runs]}, result
