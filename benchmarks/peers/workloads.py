"""The named workloads: a table in memory and .npy, and the radii to join it at."""

from dataclasses import dataclass, field
import gzip
import hashlib
import os
import subprocess

import numpy as np

SEED = 20240611
FASHION = "/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz"
FASHION_COUNTS = {1010.9659: 3_648_130, 1217.8284: 15_338_412, 1474.4958: 61_301_724}
# Stand-in for word vectors: variance of component k proportional to 1 / k^0.5, half of it outside the first 16.
WORDS_ROWS, WORDS_COLUMNS = 100_000, 50
SAMPLE_QUERIES = 2_000


@dataclass
class Case:
    """One join. known_pairs: exact ordered pairs without self where published with the workload."""

    label: str
    points: np.ndarray
    radius: float
    known_pairs: int | None = None


@dataclass
class Workload:
    name: str
    description: str
    cases: list = field(default_factory=list)


def radius_for_neighbours(points, mean_neighbours, seed=SEED):
    """The radius at which a row has `mean_neighbours` others on average, from a sample of query rows.

    points: (n, d). The answer is an estimate; it is stored with the results, so that the join is the same for all.
    """
    n = len(points)
    if not 0 < mean_neighbours < n:
        raise ValueError(f"{mean_neighbours} neighbours a row cannot be had from {n} rows")
    queries = np.random.default_rng(seed).choice(n, size=min(n, SAMPLE_QUERIES), replace=False)
    # Rows in dense places have many more than the mean; 32 times as many are kept of each.
    keep = min(n, int(32 * mean_neighbours) + 256)
    values = points.astype(np.float64)
    values -= values.mean(axis=0)
    norms = np.einsum("ij,ij->i", values, values)
    nearest = []
    for chunk in np.array_split(queries, max(1, len(queries) * n // (1 << 25))):
        squared = norms[chunk, None] + norms[None, :] - 2.0 * (values[chunk] @ values.T)
        squared[np.arange(len(chunk)), chunk] = np.inf
        nearest.append(np.partition(squared, keep - 1, axis=1)[:, :keep].ravel() if keep < n else squared.ravel())
    rank = min(int(round(mean_neighbours * len(queries))), sum(map(len, nearest)) - 1)
    squared_radius = np.partition(np.concatenate(nearest), rank)[rank]
    return float(np.sqrt(squared_radius))


def read_idx_images(path):
    """Fashion-MNIST's file: (images, rows * columns) float32, values 0 to 255."""
    with gzip.open(path) as file:
        content = file.read()
    magic, images, rows, columns = np.frombuffer(content, dtype=">u4", count=4)
    if magic != 0x803:
        raise ValueError(f"{path}: not an IDX file of 8-bit images (magic {magic:#x} at byte 0)")
    return np.frombuffer(content, np.uint8, offset=16).reshape(images, rows * columns).astype(np.float32)


def fashion(options):
    if not os.path.exists(options.fashion_file):
        raise FileNotFoundError(f"{options.fashion_file}: not there; Debian's package dataset-fashion-mnist brings it")
    points = read_idx_images(options.fashion_file)
    radii = options.radius or list(FASHION_COUNTS)
    return Workload("fashion", "Fashion-MNIST training images, 60,000 x 784, float32 0..255",
                    [Case(f"R = {radius:g}", points, radius, FASHION_COUNTS.get(radius)) for radius in radii])


def words(options):
    path = os.path.join(options.work_dir, "words.npy")
    command = [options.rthiss, "generate", "words100k50", "--output", path]
    source = "rthiss generate words100k50"
    if not os.path.exists(path):
        if options.rthiss and os.access(options.rthiss, os.X_OK):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"rthiss generate words100k50 ended with {done.returncode}: {done.stderr.strip()}")
        else:
            source = "made by the harness, as rthiss is not there"
            np.save(path, _words_stand_in())
    points = np.load(path)
    return Workload("words", f"stand-in for word vectors, {len(points):,} x {points.shape[1]} ({source})",
                    _estimated_cases(points, options.radius, (11, 312)))


def _words_stand_in():
    random = np.random.default_rng(SEED)
    deviations = np.arange(1, WORDS_COLUMNS + 1) ** -0.25
    rotation, _ = np.linalg.qr(random.standard_normal((WORDS_COLUMNS, WORDS_COLUMNS)))
    return ((random.standard_normal((WORDS_ROWS, WORDS_COLUMNS)) * deviations) @ rotation).astype(np.float32)


def uniform64(options):
    points = np.random.default_rng(SEED).random((100_000, 64), dtype=np.float32)
    return Workload("uniform64", "uniform in the unit cube, 100,000 x 64, float32",
                    _estimated_cases(points, options.radius, (64,)))


def binary64(options):
    random = np.random.default_rng(SEED)
    codes = random.integers(0, 2, size=(20_000, 64)).astype(np.float32)
    general = random.random((20_000, 64), dtype=np.float32)
    radius = float(np.sqrt(32.0))
    # The same share of pairs within the radius: that of 64 fair coins with at most 32 heads.
    neighbours = _share_of_at_most_half(64) * (len(general) - 1)
    return Workload("binary64", "0/1 codes at radius sqrt(32) and rows in general position, 20,000 x 64, float32",
                    [Case("codes", codes, radius),
                     Case("general position", general, radius_for_neighbours(general, neighbours))])


def _share_of_at_most_half(coins):
    from math import comb

    return sum(comb(coins, heads) for heads in range(coins // 2 + 1)) / 2.0**coins


def from_file(path, options):
    points = np.load(path)
    if points.ndim != 2 or points.dtype not in (np.float32, np.float64):
        raise ValueError(f"{path}: {points.dtype} with shape {points.shape}; rows x columns of float32 or float64 needed")
    if not options.radius:
        raise ValueError(f"{path}: --radius is needed (several may be given)")
    name = os.path.splitext(os.path.basename(path))[0]
    return Workload(name, f"{os.path.basename(path)}, {len(points):,} x {points.shape[1]}, {points.dtype}",
                    [Case(f"R = {radius:g}", points, radius) for radius in options.radius])


def _estimated_cases(points, radii, neighbours):
    if radii:
        return [Case(f"R = {radius:g}", points, radius) for radius in radii]
    return [Case(f"S = {count}", points, radius_for_neighbours(points, count)) for count in neighbours]


NAMED = {"fashion": fashion, "words": words, "uniform64": uniform64, "binary64": binary64}


def load(name, options):
    """A workload by its name or the path of an .npy file, reduced to --rows rows evenly spread where asked."""
    if name in NAMED:
        workload = NAMED[name](options)
    elif name.endswith(".npy"):
        workload = from_file(name, options)
    else:
        raise ValueError(f"no workload '{name}': {', '.join(NAMED)} or a path ending in .npy")
    for case in workload.cases:
        if options.rows and options.rows < len(case.points):
            case.points = case.points[spread(len(case.points), options.rows)]
            case.known_pairs = None
        case.points = np.ascontiguousarray(case.points)
    if options.rows:
        workload.description += f"; only {options.rows:,} rows of it"
    return workload


def spread(n, count):
    """`count` ids of n, evenly spread, ascending."""
    return (np.arange(count, dtype=np.int64) * n) // count


def digest(points):
    return hashlib.sha256(np.ascontiguousarray(points).data).hexdigest()
