"""scripts/check_layering.py finds each kind of violation in a tree made for it, and none in a good one."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_layering.py"

GOOD_TREE = {
    "include/rthiss/options.hpp": "#include <cstdint>\n#include <rthiss/version.hpp>\n",
    "include/rthiss/version.hpp": "",
    "src/common/parallel.hpp": "#include <functional>\n",
    "src/common/parallel.cpp": '#include "common/parallel.hpp"\n#include <tbb/parallel_for.h>\n',
    "src/dataset/value_grid.hpp": "",
    "src/dataset/dataset.hpp": '#include "common/parallel.hpp"\n#include "dataset/value_grid.hpp"\n',
    "src/distance/decider.hpp": '#include "dataset/value_grid.hpp"\n',
    "src/engine/engine.hpp": '#include "dataset/dataset.hpp"\n#include <rthiss/options.hpp>\n',
    "src/engine/registry.hpp": '#include "engine/engine.hpp"\n',
    "src/engine/registry.cpp": '#include "engine/cpu/engine.hpp"\n#include "engine/registry.hpp"\n',
    "src/engine/cpu/engine.hpp": '#include "engine/engine.hpp"\n#include "hwy/highway.h"\n',
    "src/engine/reference/engine.hpp": '#include "engine/engine.hpp"\n',
    "src/index/registry.cpp": '#include "index/embree/index.hpp"\n',
    "src/index/embree/index.hpp": "#include <embree3/rtcore.h>\n",
    "src/pipeline/pipeline.cpp": '#include "engine/registry.hpp"\n',
    "cli/main.cpp": '#include <CLI/CLI.hpp>\n#include "join.hpp"\n#include "dataset/dataset.hpp"\n',
    "cli/join.hpp": "",
}

# (file, its text, what the message must hold)
BAD_FILES = [
    ("src/common/bad.hpp", '#include "dataset/dataset.hpp"\n', "common is below dataset"),
    ("src/distance/bad.hpp", '#include "dataset/dataset.hpp"\n', "distance is below dataset"),
    ("src/geometry/bad.hpp", '#include "dataset/value_grid.hpp"\n', "geometry is below dataset"),
    ("src/dataset/bad.cpp", '#include "engine/engine.hpp"\n', "dataset is below engine"),
    ("src/engine/bad.cpp", '#include "pipeline/pipeline.cpp"\n', "engine is below pipeline"),
    ("src/pipeline/bad.cpp", '#include "join.hpp"\n', "pipeline is below cli"),
    ("src/dataset/bad.cpp", '#include "../engine/engine.hpp"\n', "dataset is below engine"),
    ("src/pipeline/bad.cpp", '#include "engine/cpu/engine.hpp"\n', "only src/engine/registry.cpp may name"),
    ("src/engine/reference/bad.cpp", '#include "engine/cpu/engine.hpp"\n', "only src/engine/registry.cpp may name"),
    ("src/index/bad.cpp", '#include "index/embree/index.hpp"\n', "only src/index/registry.cpp may name"),
    ("src/engine/cpu/bad.cpp", '#include "index/embree/index.hpp"\n', "only src/index/registry.cpp may name"),
    ("cli/bad.cpp", '#include "engine/cpu/engine.hpp"\n', "only src/engine/registry.cpp may name"),
    ("src/pipeline/bad.cpp", "#include <tbb/task_arena.h>\n", "oneTBB"),
    ("src/engine/cpu/bad.cpp", "#include <oneapi/tbb/task_arena.h>\n", "oneTBB"),
    ("src/pipeline/bad.cpp", "#include <cuda_runtime.h>\n", "CUDA"),
    ("src/pipeline/bad.cpp", "#  include <optix_types.h>\n", "OptiX"),
    ("src/pipeline/bad.cpp", "#include <mpi.h>\n", "MPI"),
    ("src/index/bad.cpp", "#include <embree4/rtcore.h>\n", "Embree"),
    ("src/pipeline/bad.cpp", "#include <CLI/CLI.hpp>\n", "CLI11"),
    ("include/rthiss/bad.hpp", '#include "common/parallel.hpp"\n', "includes the internal src/common/parallel.hpp"),
    ("include/rthiss/bad.hpp", "#include <fmt/format.h>\n", "includes fmt/format.h"),
    ("include/rthiss/bad.hpp", "#include <immintrin.h>\n", "includes immintrin.h"),
    ("src/novelty/bad.hpp", "", "in no layer"),
    ("src/bad.cpp", "", "in no layer"),
    ("src/engine/bad.hpp", '#include "engine/bad.hpp"\n', "include each other"),
]


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True)


def test_the_project_itself_keeps_the_layers():
    result = run()
    assert result.returncode == 0, result.stderr


def test_good_tree_passes(tmp_path):
    write_tree(tmp_path, GOOD_TREE)
    result = run(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("file, text, message", BAD_FILES)
def test_bad_file_is_named_with_its_fault(tmp_path, file, text, message):
    write_tree(tmp_path, GOOD_TREE | {file: text})
    result = run(tmp_path)
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert file in lines[0]
    assert message in lines[0]


def test_cycle_through_several_headers_is_found(tmp_path):
    cycle = {
        "src/dataset/a.hpp": '#include "dataset/dataset.hpp"\n#include "dataset/b.hpp"\n',
        "src/dataset/b.hpp": '#include "grouping/c.hpp"\n',
        "src/grouping/c.hpp": '#include "dataset/a.hpp"\n',
    }
    write_tree(tmp_path, GOOD_TREE | cycle)
    result = run(tmp_path)
    assert result.returncode == 1
    assert "src/dataset/a.hpp -> src/dataset/b.hpp -> src/grouping/c.hpp -> src/dataset/a.hpp" in result.stderr


def test_line_number_is_given(tmp_path):
    write_tree(tmp_path, GOOD_TREE | {"src/common/bad.hpp": '#pragma once\n\n#include "dataset/dataset.hpp"\n'})
    assert "src/common/bad.hpp:3: " in run(tmp_path).stderr


def test_empty_tree_is_no_success(tmp_path):
    assert run(tmp_path).returncode != 0
