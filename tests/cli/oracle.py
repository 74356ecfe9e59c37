"""Exact answers in rational arithmetic, sharing no code with the program."""

from fractions import Fraction
from math import nextafter, inf


def exact_rows(rows):
    return [[Fraction(value) for value in row] for row in rows.tolist()]


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y))


def within(total, radius):
    """RN64(sqrt(total)) <= radius, by the midpoint between radius and the next double (its own last bit breaks ties)."""
    if radius == inf:
        return True
    above = nextafter(radius, inf)
    middle = (Fraction(radius) + (Fraction(above) if above != inf else Fraction(2) ** 1024)) / 2
    if total == middle**2:
        mantissa_is_even = (radius / (above - radius)) % 2 == 0 if radius else True
        return mantissa_is_even
    return total < middle**2


def join(rows, radius, queries=None, include_self=False):
    """Ordered pairs (query, row) within the radius, sorted."""
    points = exact_rows(rows)
    asked = points if queries is None else exact_rows(queries)
    return [
        (i, j)
        for i, x in enumerate(asked)
        for j, y in enumerate(points)
        if (queries is not None or include_self or i != j) and within(squared(x, y), radius)
    ]


def lattice(count, columns, levels):
    """The rounding-free data set of the design: values by a fixed hash of row and column."""
    mask = 0xFFFFFFFF

    def value(i, j):
        h = (i * 2654435761 + j * 40503 + 12345) & mask
        h ^= h >> 15
        h = h * 2246822519 & mask
        h ^= h >> 13
        h = h * 3266489917 & mask
        h ^= h >> 16
        return h % levels

    return [[value(i, j) for j in range(columns)] for i in range(count)]
