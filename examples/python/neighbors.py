"""All neighbours within a radius, and what can be done with them."""

import numpy as np

import rthiss

points = np.array([[0, 0], [3, 4], [6, 8], [0, 5], [3, 5]], dtype=np.uint8)

# Pairs at exactly the radius, such as (0, 0) and (3, 4), belong to the result.
near = rthiss.self_join(points, radius=5.0, return_distance=True)
for i in range(len(near)):
    print(f"point {i}:", *(f"{j} at {distance:.3f}" for j, distance in zip(near[i], near.distances_of(i))))

print("neighbours of each:", near.counts.tolist())
print("as a sparse matrix:", near.to_scipy().shape, "with", near.nnz, "entries")

# An index is made once and searched many times, from many threads if need be.
index = rthiss.Index(points)
for radius in (1.0, 5.0, 10.0):
    print(f"within {radius}: {index.self_join(radius).nnz // 2} pairs")

queries = np.array([[1.5, 2.0], [50.0, 50.0]])
print("near the queries:", [ids.tolist() for ids in index.search(queries, 3.0)])
