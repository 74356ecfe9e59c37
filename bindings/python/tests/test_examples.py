"""The scripts of examples/python print what they should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"

EXPECTED = {
    "neighbors.py": """\
point 0: 1 at 5.000 3 at 5.000
point 1: 0 at 5.000 2 at 5.000 3 at 3.162 4 at 1.000
point 2: 1 at 5.000 4 at 4.243
point 3: 0 at 5.000 1 at 3.162 4 at 3.000
point 4: 1 at 1.000 2 at 4.243 3 at 3.000
neighbours of each: [2, 4, 2, 3, 3]
as a sparse matrix: (5, 5) with 14 entries
within 1.0: 1 pairs
within 5.0: 7 pairs
within 10.0: 10 pairs
near the queries: [[0, 1], []]
""",
    "streaming.py": """\
in several blocks: True
8 points have 3 neighbours
456 points have 4 neighbours
8664 points have 5 neighbours
54872 points have 6 neighbours
""",
    "choose_radius.py": None,
    "fashion_mnist.py": "",
    "near_duplicates.py": None,
}

needs_images = pytest.mark.skipif(
    not Path("/usr/share/datasets/fashion-mnist").exists(), reason="the package dataset-fashion-mnist is not installed"
)


def run_example(name, *arguments):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    return subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, check=True,
                          env=environment).stdout  # fmt: skip


def test_every_example_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected is not None])
def test_output(name):
    assert run_example(name) == EXPECTED[name]


def test_choose_radius():
    lines = run_example("choose_radius.py").splitlines()
    assert "50 neighbours in the mean" in lines[-2]
    assert 45 < float(lines[-1].split()[4]) < 55


@needs_images
def test_near_duplicates():
    lines = run_example("near_duplicates.py").splitlines()
    kept, dropped = (int(word.strip(",")) for word in lines[1].split()[1::2])
    assert kept + dropped == 10_000
    assert 0 < dropped < 5000


@needs_images
def test_notebook(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(EXAMPLES / "fashion_mnist.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 4
