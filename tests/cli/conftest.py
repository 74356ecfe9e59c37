"""Black-box tests of the program: RTHISS_PROGRAM names it, else what was built last in build/*/bin is taken."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def find_program():
    named = os.environ.get("RTHISS_PROGRAM")
    if named:
        return named
    built = sorted(ROOT.glob("build/*/bin/rthiss"), key=lambda path: path.stat().st_mtime)
    return str(built[-1]) if built else None


class Program:
    """Runs rthiss; threads are limited, since several test runs may share a machine."""

    def __init__(self, path):
        self.path = path

    def command(self, *arguments):
        return [self.path, *map(str, arguments)]

    def run(self, *arguments, code=0, environment=None, **options):
        """The finished process; fails the test when it ends with another code. Text unless `text=False`."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("RTHISS_")}
        options.setdefault("text", True)
        done = subprocess.run(self.command(*arguments), capture_output=True, timeout=120, check=False,
                              env={**clean, **(environment or {})}, **options)
        assert done.returncode == code, f"{arguments}: ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def refused(self, *arguments, code, **options):
        """What the program says on stderr when it refuses; never a crash, and nothing on stdout."""
        done = self.run(*arguments, code=code, **options)
        assert done.stdout == ""
        assert done.stderr.startswith("rthiss: ")
        return done.stderr


@pytest.fixture(scope="session")
def rthiss():
    path = find_program()
    if path is None:
        pytest.skip("rthiss is not built; set RTHISS_PROGRAM")
    return Program(path)


@pytest.fixture
def save(tmp_path):
    """save(name, array, **how) -> path of a .npy file in the test's folder."""

    def write(name, rows):
        path = tmp_path / name
        np.save(path, rows)
        return path

    return write
