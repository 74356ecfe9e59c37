#!/usr/bin/env bash
# Builds the Python package's wheel, installs it into an environment of its own and tests what was installed: never the
# source tree. All of it lies in build/python, but for what is compiled: build/python-wheel is as deep as build/ci, so that a
# compiler cache with relative paths has most of it already.
#   scripts/test_python.sh [--quick] [PYTEST ARGUMENTS]
#     --quick    without the second wheel that is built from the source distribution
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
if [[ ${1:-} == --quick ]]; then quick=true; shift; fi

root=build/python
builder=$root/build-env/bin/python tester=$root/test-env/bin/python
tests=bindings/python/tests
step() { printf '\n--- %s\n' "$*"; }

# environment NAME REQUIREMENTS...: made anew when the list of versions changes.
environment() {
  local folder=$root/$1 stamp=$root/$1/requirements.txt
  printf '%s\n' "${@:2}" >"$root/requirements.new"
  cmp -s "$root/requirements.new" "$stamp" && return 0
  python3 -m venv --clear "$folder"
  local try
  for try in 1 2; do
    if "$folder/bin/pip" install --quiet --disable-pip-version-check -r "$root/requirements.new"; then
      mv "$root/requirements.new" "$stamp"
      return 0
    fi
    echo "Failed; once more in 10 seconds." >&2
    sleep 10
  done
  return 1
}

# The compiler that CMake would take; scikit-build-core would take Python's.
export CC=${CC:-cc} CXX=${CXX:-c++}
# A compiler cache, where there is one, has most of it from the build of the library.
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}; fi
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

mkdir -p "$root"
step "Environments"
environment build-env scikit-build-core==1.1.2 nanobind==3.1.0 build
mapfile -t requirements < <(grep -v '^#' "$tests/requirements.txt")
environment test-env "${requirements[@]}"

step "Source distribution"
rm -rf "$root/sdist" "$root/wheel"
"$builder" -m build --sdist --no-isolation --outdir "$root/sdist" . >"$root/sdist.log" 2>&1 || {
  cat "$root/sdist.log" >&2
  exit 1
}
tar -xzf "$root"/sdist/rthiss-*.tar.gz -C "$root/sdist"
for file in $(git ls-files CMakeLists.txt LICENSE README.md pyproject.toml include src cli cmake bindings/python/rthiss \
  bindings/python/src); do
  [[ -f $(echo "$root"/sdist/rthiss-*/)$file ]] || { echo "The source distribution lacks $file" >&2; exit 1; }
done

# build_wheel SOURCE OUT WORK
build_wheel() {
  "$builder" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$2" \
    -C build-dir="$3" -C cmake.define.RTHISS_WARNINGS_AS_ERRORS=ON "$1"
}
step "Wheel"
build_wheel . "$root/wheel" build/python-wheel
ls -l "$root"/wheel/*.whl

step "Installed package"
"$tester" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$root"/wheel/rthiss-*.whl
"$tester" -m mypy --config-file pyproject.toml --cache-dir "$root/mypy" -p rthiss
"$tester" -m pytest -q --doctest-modules --pyargs rthiss -p no:cacheprovider --rootdir "$root"
"$tester" -m pytest -q "$tests" "$@"

if ! $quick; then
  step "Wheel from the source distribution"
  build_wheel "$(echo "$root"/sdist/rthiss-*/)" "$root/sdist" "$PWD/$root/sdist-work"
fi
