"""The images of Fashion-MNIST as rows of bytes, for the other examples."""

import gzip
import sys
from pathlib import Path

import numpy as np

# Where Debian's and Ubuntu's package dataset-fashion-mnist puts them.
FOLDER = Path("/usr/share/datasets/fashion-mnist")


def load(part="t10k"):
    """uint8 [n x 784]: "t10k", 10,000 images, or "train", 60,000."""
    path = FOLDER / f"{part}-images-idx3-ubyte.gz"
    if not path.exists():
        sys.exit(f"{path} is missing: apt-get install dataset-fashion-mnist, or change FOLDER in {__file__}")
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
