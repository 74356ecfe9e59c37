"""A result that is never in memory as a whole: the histogram of neighbour counts, from blocks of complete rows."""

import collections

import numpy as np

import rthiss

# A grid of 40 x 40 x 40: the neighbours at distance 1 are the two along each axis, fewer on the surface.
side = np.arange(40, dtype=np.uint8)
points = np.stack(np.meshgrid(side, side, side), axis=-1).reshape(-1, 3)

histogram = collections.Counter()
blocks = 0
for _row_ids, lists in rthiss.Index(points).iter_self_join(1.0, memory_limit=1 << 20):
    histogram.update(lists.counts.tolist())
    blocks += 1

print("in several blocks:", blocks > 1)
for count, points_with_it in sorted(histogram.items()):
    print(f"{points_with_it} points have {count} neighbours")
