"""What calling from Python costs over the C++ call: python benchmarks/python_overhead.py [--repeats N] [--rows N]

Joins the 60,000 training images of Fashion-MNIST (60,000 x 784, uint8) at radius 1010.9659. The C++ time is the one that
the library takes itself inside of the same call (from the check of the arguments to the last stage); the rest of the
call is Python's: arrays, the thread of the search, the hand-over of the result. Prints medians and their ratio.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import rthiss

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "python"))
import fashion_mnist  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--radius", type=float, default=1010.9659)
    arguments = parser.parse_args()

    images = fashion_mnist.load("train")[: arguments.rows]
    begin = time.perf_counter()
    index = rthiss.Index(images, copy=False)
    made = time.perf_counter() - begin
    for return_distance in (False, True):
        index.self_join(arguments.radius, return_distance=return_distance)  # makes the searcher, warms the memory
        walls, inside = [], []
        for _ in range(arguments.repeats):
            begin = time.perf_counter()
            near = index.self_join(arguments.radius, return_distance=return_distance)
            walls.append(time.perf_counter() - begin)
            inside.append(near.statistics["seconds"]["total"])
        overhead = [wall - cpp for wall, cpp in zip(walls, inside)]
        wall, cpp, extra = (statistics.median(times) for times in (walls, inside, overhead))
        print(f"{images.shape[0]} x {images.shape[1]}, distances: {return_distance}, {near.nnz} pairs: call {wall:.3f} s, "
              f"C++ {cpp:.3f} s, overhead {extra * 1e3:.1f} ms = {extra / cpp:.2%}")  # fmt: skip
    print(f"making the index (check of all values): {made:.3f} s")


if __name__ == "__main__":
    main()
