"""Which radius? The k-distance curve of a sample, and the radius for a wanted number of neighbours."""

import numpy as np

import rthiss

random = np.random.default_rng(1)
centers = random.normal(size=(20, 16))
points = (centers[random.integers(0, 20, 20_000)] + 0.2 * random.normal(size=(20_000, 16))).astype(np.float32)

estimate = rthiss.estimate_radius(points, selectivity=50, curve=True)
print(f"{'k':>6} {'radius':>8} {'median distance to the k-th neighbour':>40}")
for point in estimate.curve:
    if point.k in (1, 10, 100, 1000, 10_000):
        print(f"{point.k:>6} {point.radius:>8.3f} {point.median:>40.3f}")

low, high = estimate.interval
print(f"50 neighbours in the mean: radius {estimate.radius:.4f}, between {low:.4f} and {high:.4f}")

# The estimate rests on a sample; the search does not.
counts = rthiss.self_join(points, estimate.radius).counts
print(f"found at that radius: {counts.mean():.1f} in the mean, from {counts.min()} to {counts.max()}")
