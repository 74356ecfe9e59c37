#!/usr/bin/env bash
# Installs what is missing, builds the program and runs the exact self-join of Fashion-MNIST.
set -euo pipefail
cd "$(dirname "$0")/.."

data=/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz
program=build/release/bin/rthiss
radius=1010.9659

echo "1. Installing what is missing (compiler, libraries, the Fashion-MNIST images)."
scripts/install_dependencies.sh --demo

echo
echo "2. Building the program (preset release); the first time takes a few minutes."
mkdir -p build
cmake --preset release >build/demo_configure.log 2>&1 || { cat build/demo_configure.log >&2; exit 1; }
cmake --build --preset release --target rthiss_cli

echo
echo "3. For each of 60,000 images of 28 x 28 pixels: all images within Euclidean distance $radius."
echo "   Exact: every pair at the radius is decided by arithmetic that cannot round it to the wrong side."
echo "   \$ $program join $data --radius $radius"
echo
"$program" join "$data" --radius "$radius"

echo
echo "Next: '$program --help', another radius (1217.8284 gives four times as many neighbours), or your own .npy file."
