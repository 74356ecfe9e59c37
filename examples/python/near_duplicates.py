"""Near duplicates among the images of Fashion-MNIST: groups, and a list of images to keep."""

import fashion_mnist
import numpy as np

import rthiss

images = fashion_mnist.load()
duplicates = rthiss.near_duplicates(images, cosine=0.99)

grouped = np.count_nonzero(duplicates.labels >= 0)
print(f"{len(images)} images: {duplicates.n_groups} groups of near duplicates with {grouped} images")
print(f"kept: {len(duplicates.keep)}, dropped: {len(images) - len(duplicates.keep)}")

sizes = np.bincount(duplicates.labels[duplicates.labels >= 0])
largest = np.flatnonzero(duplicates.labels == sizes.argmax())
print(f"the largest group has {len(largest)} images, among them {largest[:5].tolist()}")

# A group is joined by chains: two of its images may be less alike than asked for.
if duplicates.far is not None:
    first, second, cosine = duplicates.far
    print(f"in {duplicates.n_chained} groups not all are alike: images {first} and {second} have cosine {cosine:.4f}")
