"""Tests of the installed package: nothing is taken from the source tree but the oracle."""

import sys
from pathlib import Path

import numpy as np
import pytest

# The exact oracle is shared with the tests of the program.
sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "cli"))

WAYS = [
    {"engine": engine, "index": index, "preset": preset, "threads": 2}
    for engine in ("cpu", "reference")
    for index in ("bvh", "exhaustive")
    for preset in ("auto", "paper")
]


@pytest.fixture(params=WAYS, ids=lambda way: f"{way['engine']}-{way['index']}-{way['preset']}")
def way(request):
    """Options of one way to search; each gives the same answer."""
    return request.param


def undirected(lists):
    """Pairs i < j of a self-join, after a look at its symmetry."""
    pairs = {tuple(pair) for pair in lists.pairs().tolist()}
    assert pairs == {(j, i) for i, j in pairs}
    return sorted((i, j) for i, j in pairs if i < j)


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)
