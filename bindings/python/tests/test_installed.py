"""The package as it was installed."""

import ast
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rthiss

PACKAGE = Path(rthiss.__file__).parent
ROOT = Path(__file__).parents[3]


def run_module(*arguments, code=0):
    done = subprocess.run([sys.executable, "-m", "rthiss", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_one_version():
    header = (ROOT / "include" / "rthiss" / "version.hpp").read_text(encoding="utf-8")
    version = re.search(r'RTHISS_VERSION_STRING "([^"]+)"', header)[1]
    assert rthiss.__version__ == version
    assert importlib.metadata.version("rthiss") == version
    assert run_module("--version").stdout == f"rthiss {version}\n"


def test_the_installed_package_is_tested():
    assert ROOT not in PACKAGE.parents or "site-packages" in PACKAGE.parts


def test_the_program(tmp_path):
    rows = tmp_path / "rows.npy"
    np.save(rows, np.arange(10.0).reshape(-1, 1))
    run_module("join", str(rows), "--radius", "1", "--output", str(tmp_path / "near.npz"))
    near = rthiss.self_join(np.load(rows), 1.0)
    assert np.array_equal(np.load(tmp_path / "near.npz")["indices"], near.indices)
    assert "quantum" in run_module("join", str(rows), "--radius", "1", "--engine", "quantum", code=2).stderr
    script = Path(sys.executable).parent / "rthiss"
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_libraries_come_from_the_package():
    rthiss.self_join(np.zeros((2, 2)), 1.0)
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    tbb = {line.split()[-1] for line in maps.splitlines() if "libtbb.so" in line}
    assert len(tbb) == 1
    assert Path(tbb.pop()).parent == PACKAGE / "lib"


def test_types_are_shipped():
    assert (PACKAGE / "py.typed").exists()
    described = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8")).body
    names = {getattr(item, "name", None) or getattr(getattr(item, "target", None), "id", None) for item in described}
    assert {name for name in vars(rthiss._core) if not name.startswith("_")} <= names
    for item in described:
        if isinstance(item, ast.ClassDef):
            methods = {method.name for method in item.body if isinstance(method, ast.FunctionDef)}
            actual = {name for name in vars(getattr(rthiss._core, item.name)) if not name.startswith("_")}
            assert actual == methods - {"__init__"}, item.name


def test_every_public_name_is_documented():
    for name in rthiss.__all__:
        item = getattr(rthiss, name)
        assert item.__doc__ and "\n" in item.__doc__, name
        for method in vars(item) if isinstance(item, type) else ():
            if not method.startswith("_") and callable(getattr(item, method)):
                assert getattr(item, method).__doc__, f"{name}.{method}"
