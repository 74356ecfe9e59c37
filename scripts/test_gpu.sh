#!/usr/bin/env bash
# Builds the preset 'cuda' and runs the tests that need a GPU; without one they are skipped, with the reason.
#   scripts/test_gpu.sh [--sanitize] [--no-build]
#     --sanitize   afterwards the tests labelled 'sanitize' under compute-sanitizer: memcheck, racecheck, initcheck
#     --no-build   with the programs that are there
set -euo pipefail
cd "$(dirname "$0")/.."

sanitize=false build=true
for option in "$@"; do
  case $option in
    --sanitize) sanitize=true ;;
    --no-build) build=false ;;
    *) sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
  esac
done

if $build; then
  # The machine's own device alone, unless the caller wants others.
  options=()
  if command -v nvidia-smi >/dev/null && [[ -z ${CUDAARCHS:-} ]]; then options=(-DCMAKE_CUDA_ARCHITECTURES=native); fi
  cmake --preset cuda "${options[@]}"
  cmake --build --preset cuda -j "$(nproc)"
fi
ctest --preset cuda -L gpu --no-tests=error

if $sanitize; then
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  if [[ ! -x $sanitizer ]]; then
    echo "test_gpu.sh: no compute-sanitizer; it comes with the CUDA toolkit" >&2
    exit 1
  fi
  for tool in memcheck racecheck initcheck; do
    printf '\n=== compute-sanitizer --tool %s\n' "$tool"
    # initcheck looks at what kernels read; padding of pooled memory is never read.
    "$sanitizer" --tool "$tool" --error-exitcode 1 --print-limit 20 build/cuda/bin/gpu_sanitize_test --gtest_brief=1
  done
fi
