#!/usr/bin/env bash
# Installs what is missing, builds with warnings as errors and runs the tests.
#   scripts/test.sh [--quick] [--sanitizers] [--fuzz [SECONDS]]
#     --quick        without the projects of tests/consumer and the wheel from the source distribution, which build the
#                    library once more; and, of the tests under sanitizers, those alone that are INSTRUMENTED
#     --sanitizers   afterwards the tests under AddressSanitizer + UndefinedBehaviorSanitizer and under ThreadSanitizer
#     --fuzz         afterwards the fuzz targets, SECONDS (60) in all
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false sanitizers=false fuzz_seconds=0
while (($# > 0)); do
  case $1 in
    --quick) quick=true ;;
    --sanitizers) sanitizers=true ;;
    --fuzz)
      fuzz_seconds=60
      if [[ ${2:-} =~ ^[1-9][0-9]*$ ]]; then fuzz_seconds=$2; shift; fi
      ;;
    *) sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
  esac
  shift
done

jobs=$(nproc)
summary=()
# phase TITLE COMMAND...: runs it, stops the script where it fails, and keeps the time for the summary.
phase() {
  local title=$1 start=$SECONDS
  shift
  printf '\n=== %s\n' "$title"
  if ! "$@" </dev/null; then
    printf '\n=== FAILED: %s (%d s): %s\n' "$title" $((SECONDS - start)) "$*" >&2
    exit 1
  fi
  summary+=("$(printf '%6d s  %s' $((SECONDS - start)) "$title")")
}

build() { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs" "${@:2}"; }

# Of thousands of tests only the failed ones are worth reading; the whole log is kept.
run_ctest() {
  local log=build/$1/ctest.log status=0 launcher=()
  # ThreadSanitizer of older compilers refuses the addresses that newer kernels hand out at random. A container may
  # forbid to turn that off: then it is tried as it is.
  if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then launcher=(setarch -R); fi
  "${launcher[@]}" ctest --preset "$1" -j "$jobs" --no-tests=error "${@:2}" >"$log" 2>&1 || status=$?
  grep -vE '^ +Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .* Passed +[0-9.]+ sec$' "$log" || true
  return "$status"
}

# The tools of the Python tests, in an environment of their own; made anew when the list of versions changes.
prepare_python() {
  local requirements=tests/requirements.txt stamp=build/venv/requirements.txt
  cmp -s "$requirements" "$stamp" && return 0
  python3 -m venv --clear build/venv &&
    { pip_install || { echo "Failed; once more in 10 seconds." >&2; sleep 10; pip_install; }; } &&
    cp "$requirements" "$stamp"
}
pip_install() { build/venv/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt; }

mkdir -p build
phase "Packages" scripts/install_dependencies.sh --test
# A compiler cache, where there is one, saves most of a second run, and of the Python package's build.
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}; fi
phase "Format" scripts/check_format.sh
phase "Layers" scripts/check_layering.py
phase "Build (preset ci)" build ci
if $quick; then
  phase "Tests" run_ctest ci --label-exclude '^consumer$'
else
  phase "Tests" run_ctest ci
fi
phase "Python environment" prepare_python
phase "Tests of the program" env RTHISS_PROGRAM="$PWD/build/ci/bin/rthiss" build/venv/bin/python -m pytest -q tests
if $quick; then
  phase "Python package" scripts/test_python.sh --quick
else
  phase "Python package" scripts/test_python.sh
fi
# Where the CUDA toolkit is installed its code is compiled for two architectures; its tests are skipped without a GPU.
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
  phase "Build (preset ci-cuda)" build ci-cuda --target rthiss gpu_stages_test
  phase "Tests for GPUs" build/ci-cuda/bin/gpu_stages_test --gtest_brief=1
fi
if $sanitizers; then
  target=all selection=()
  if $quick; then target=instrumented_tests selection=(--label-regex '^instrumented$'); fi
  phase "Build (preset asan)" build asan --target "$target"
  phase "Tests under AddressSanitizer and UndefinedBehaviorSanitizer" run_ctest asan "${selection[@]}"
  phase "Build (preset tsan)" build tsan --target "$target"
  phase "Tests under ThreadSanitizer" run_ctest tsan "${selection[@]}"
fi
if ((fuzz_seconds > 0)); then
  phase "Fuzzing, $fuzz_seconds s" scripts/fuzz.sh "$fuzz_seconds"
fi

printf '\n=== All passed (%d s in all)\n' "$SECONDS"
printf '%s\n' "${summary[@]}"
