#!/usr/bin/env python3
"""Checks the include rules between the folders of src/, cli/ and include/ (CONTRIBUTING.md, "Layers").

Usage: check_layering.py [TREE]; prints every violation as path:line and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

# A folder may include folders of its own layer and of the layers before it.
LAYERS = [
    {"common", "geometry", "distance", "simd"},
    {"dataset", "projection", "grouping", "batching", "refinement", "result", "io", "generate"},
    {"index"},
    {"candidates"},
    {"engine"},
    {"pipeline"},
    {"analysis"},
    {"cli"},
]
LAYER_OF = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}

# Plain structs that a lower layer may include all the same: {header: folders}.
SHARED_HEADERS = {"src/dataset/value_grid.hpp": {"distance"}}

# Each folder below these is one implementation that nobody but its registry may name.
PLUGIN_FOLDERS = {"engine": "src/engine/registry.cpp", "index": "src/index/registry.cpp"}

# Headers from outside: (pattern, what it is, pattern of the files that may include it).
RESTRICTED = [
    (r"(oneapi/)?tbb/", "oneTBB", r"src/common/parallel\.cpp"),
    (r"embree\d/", "Embree", r"src/index/embree/.*"),
    (r"(cuda|cub/|thrust/|cublas|nvrtc|curand|cooperative_groups)", "CUDA", r"src/engine/cuda/.*"),
    (r"optix", "OptiX", r"src/engine/cuda/optix/.*"),
    (r"mpi\.h", "MPI", r"src/distributed/.*"),
    (r"CLI/", "CLI11", r"cli/.*"),
]

STANDARD_HEADER = re.compile(r"[a-z_0-9]+")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SOURCE_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu", ".h", ".inl"}


def find_sources(tree):
    return sorted(
        path
        for root in ("include", "src", "cli")
        for path in (tree / root).rglob("*")
        if path.suffix in SOURCE_SUFFIXES
    )


def read_includes(path):
    """Yields (line number, name, quoted) of every #include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] or match[2], match[1] is not None


def resolve(tree, source, name):
    """The file of the tree that an include names, as a path relative to the tree; None for one from outside."""
    for base in (tree / "include", tree / "src", tree / "cli", tree, source.parent):
        path = base / name
        if path.is_file():
            return path.resolve().relative_to(tree.resolve()).as_posix()
    return None


def folder_of(file):
    """src/engine/cpu/engine.cpp -> engine; files of cli/ -> cli; public headers -> None."""
    parts = file.split("/")
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else ""
    return parts[0] if parts[0] == "cli" else None


def plugin_of(file):
    """src/engine/cpu/engine.cpp -> ("engine", "cpu"); None for files that belong to no implementation."""
    parts = file.split("/")
    return (parts[1], parts[2]) if len(parts) > 3 and parts[0] == "src" and parts[1] in PLUGIN_FOLDERS else None


def check_inside(file, target):
    """What is wrong with an include of one file of the tree by another; None if nothing is."""
    if file.startswith("include/"):
        return None if target.startswith("include/") else "a public header includes the internal " + target
    if target.startswith("include/"):
        return None
    from_folder, to_folder = folder_of(file), folder_of(target)
    if to_folder not in LAYER_OF:
        return f"{target} is in no known layer"
    if LAYER_OF[to_folder] > LAYER_OF[from_folder] and from_folder not in SHARED_HEADERS.get(target, ()):
        return f"{from_folder} is below {to_folder}, but includes {target}"
    plugin = plugin_of(target)
    if plugin and plugin_of(file) != plugin and PLUGIN_FOLDERS[plugin[0]] != file:
        return f"only {PLUGIN_FOLDERS[plugin[0]]} may name the {plugin[0]} '{plugin[1]}', but this includes {target}"
    return None


def check_outside(file, name, quoted):
    """What is wrong with an include of a header from outside the tree."""
    if file.startswith("include/"):
        if quoted or not STANDARD_HEADER.fullmatch(name):
            return f"a public header includes {name}; only the standard library and <rthiss/*> are allowed"
        return None
    for pattern, what, allowed in RESTRICTED:
        if re.match(pattern, name) and not re.fullmatch(allowed, file):
            return f"{what} is included ({name}) outside {allowed}".replace("\\", "").replace(".*", "")
    return None


def find_cycle(graph):
    """The nodes of one cycle of a graph {node: [nodes]}, its first node repeated at the end; None without one."""
    done = set()
    for start in graph:
        path, pending = [], [(start, False)]
        while pending:
            node, leaving = pending.pop()
            if leaving:
                done.add(path.pop())
            elif node in path:
                return path[path.index(node) :] + [node]
            elif node not in done:
                path.append(node)
                pending.append((node, True))
                pending.extend((target, False) for target in graph.get(node, ()))
    return None


def check_tree(tree):
    """Every violation in a tree, as text. Raises ValueError where there is nothing to check."""
    violations, graph = [], {}
    sources = find_sources(tree)
    if not sources:
        raise ValueError(f"{tree}: no sources in include/, src/ or cli/")
    for source in sources:
        file = source.relative_to(tree).as_posix()
        folder = folder_of(file)
        if folder is not None and folder not in LAYER_OF:
            violations.append(f"{file}: its folder is in no layer; add it to LAYERS in scripts/check_layering.py")
            continue
        for number, name, quoted in read_includes(source):
            target = resolve(tree, source, name)
            if target:
                graph.setdefault(file, []).append(target)
            problem = check_inside(file, target) if target else check_outside(file, name, quoted)
            if problem:
                violations.append(f"{file}:{number}: {problem}")
    cycle = find_cycle(graph)
    if cycle:
        violations.append("headers include each other: " + " -> ".join(cycle))
    return violations


def main(arguments):
    tree = Path(arguments[1] if len(arguments) > 1 else Path(__file__).parent.parent)
    violations = check_tree(tree)
    for violation in violations:
        print(violation, file=sys.stderr)
    if not violations:
        print(f"{len(find_sources(tree))} files keep the layers.")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
