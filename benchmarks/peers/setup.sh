#!/usr/bin/env bash
# Makes benchmarks/.venv with the peers that come from PyPI. nanoflann is built by CMake (RTHISS_BUILD_BENCHMARKS=ON).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv="$here/../.venv"
[[ -x "$venv/bin/python" ]] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
# snnpy compiles a small extension and looks for pybind11 outside an isolated build. It is the one peer that may be
# missing: the benchmark then says so in its row.
if ! "$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation snnpy==0.0.8; then
  echo "setup.sh: snnpy could not be built; its row will say so" >&2
fi
"$venv/bin/python" -c 'import faiss, numpy, scipy, sklearn, threadpoolctl'
echo "ready: $(cd "$venv" && pwd)/bin/python $here/run_peers.py --help"
