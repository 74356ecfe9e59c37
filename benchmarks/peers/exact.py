"""The exact answer: an oracle that shares no code with rthiss and none with a peer.

A pair is within the radius iff its distance, the real number rounded once to double, is <= radius. With m the midpoint
between radius and the next double this is: sum of squares < m^2, or == m^2 where the last bit of radius is 0.

Pair sets are sorted int64 arrays of keys `row * n + column`, ordered pairs (i, j) and (j, i) both, without (i, i).
"""

from fractions import Fraction
import math

import numpy as np

TILE_ROWS = 2048
# Entries of one temporary (pairs x d) when sums are worked out directly.
DIRECT_ENTRIES = 1 << 23


class ExactBall:
    """The closed ball of one radius, with every form of its threshold that the tiers below need."""

    def __init__(self, radius):
        radius = float(radius)
        if not 1e-140 < radius < 1e140:
            raise ValueError(f"radius {radius!r}: the benchmark's oracle is made for radii between 1e-140 and 1e140")
        self.radius = radius
        below, above = np.nextafter(radius, 0.0), np.nextafter(radius, math.inf)
        even = int(np.float64(radius).view(np.uint64)) % 2 == 0
        self.outer = ((Fraction(radius) + Fraction(float(above))) / 2) ** 2
        self.inner = ((Fraction(radius) + Fraction(float(below))) / 2) ** 2
        self._closed = even
        self.largest_integer = math.floor(self.outer)
        if not even and self.largest_integer == self.outer:
            self.largest_integer -= 1

    def contains(self, squared_sum):
        """squared_sum: Fraction, the exact sum of squared differences."""
        return squared_sum < self.outer or (self._closed and squared_sum == self.outer)

    def is_tie(self, squared_sum):
        """Whether the distance, rounded to double, is the radius itself."""
        return self.contains(squared_sum) and (
            squared_sum > self.inner or (self._closed and squared_sum == self.inner))


def sums_are_exact_integers(points):
    """Integer values so small that |x|^2 + |y|^2 - 2xy has no rounding in double in any order."""
    values = points.astype(np.float64, copy=False)
    if not np.array_equal(values, np.rint(values)):
        return False
    return 4.0 * float(np.einsum("ij,ij->i", values, values).max(initial=0.0)) < 2.0**53


def exact_sum(points, i, j):
    return sum(((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(points[i], points[j])), Fraction(0))


def direct_sums(points, rows, columns):
    """Sums of squared differences in long double and a bound of their relative error. Yields (slice, sums, bound)."""
    dtype = np.float64 if sums_are_exact_integers(points) else np.longdouble
    bound = 0.0 if dtype is np.float64 else (points.shape[1] + 3) * float(np.finfo(dtype).eps)
    step = max(1, DIRECT_ENTRIES // points.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, min(start + step, len(rows)))
        difference = points[rows[part]].astype(dtype) - points[columns[part]].astype(dtype)
        yield part, np.einsum("ij,ij->i", difference, difference), bound


def _decide_directly(points, rows, columns, ball):
    inside = np.zeros(len(rows), dtype=bool)
    threshold = float(ball.outer)
    for part, sums, bound in direct_sums(points, rows, columns):
        slack = (bound + 2.0**-51) * threshold
        inside[part] = sums < threshold - slack
        for k in np.flatnonzero(np.abs(sums - threshold) <= 2 * slack) + part.start:
            inside[k] = ball.contains(exact_sum(points, rows[k], columns[k]))
    return inside


def exact_pairs(points, radius):
    """Keys of all ordered pairs within the radius. points: (n, d), any dtype that float64 holds exactly."""
    ball = ExactBall(radius)
    n, d = points.shape
    values = points.astype(np.float64)
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e140:
        raise ValueError("the benchmark's oracle is made for finite values below 1e140")
    exact_integers = sums_are_exact_integers(points)
    if not exact_integers:
        values -= values.mean(axis=0)
    norms = np.einsum("ij,ij->i", values, values)
    # |x|^2 + |y|^2 - 2xy in double: d + 2 roundings on terms whose sizes add up to at most 2 (|x|^2 + |y|^2), and the
    # rounding of the centring, u (|x| + |y|) on each distance. Eight more than needed.
    relative = 0.0 if exact_integers else (4.0 * d + 32.0) * 2.0**-53
    threshold = float(min(ball.largest_integer, 2**53)) if exact_integers else float(ball.outer)
    found = []
    for a in range(0, n, TILE_ROWS):
        left = values[a:a + TILE_ROWS]
        for b in range(a, n, TILE_ROWS):
            sizes = norms[a:a + TILE_ROWS, None] + norms[None, b:b + TILE_ROWS]
            squared = left @ values[b:b + TILE_ROWS].T
            squared *= -2.0
            squared += sizes
            if relative:
                slack = sizes * relative
                slack += 2.0**-51 * threshold
                squared -= slack
            rows, columns = np.nonzero(squared <= threshold)
            if relative:
                surely = squared[rows, columns] + 2.0 * slack[rows, columns] < threshold
            rows, columns = rows + a, columns + b
            upper = rows < columns
            rows, columns = rows[upper], columns[upper]
            if relative:
                unsure = ~surely[upper]
                keep = ~unsure
                keep[unsure] = _decide_directly(points, rows[unsure], columns[unsure], ball)
                rows, columns = rows[keep], columns[keep]
            found.append(rows * n + columns)
            found.append(columns * n + rows)
    keys = np.concatenate(found) if found else np.empty(0, np.int64)
    keys.sort()
    return keys


def restrict(keys, n, selected):
    """The pairs among the selected rows (ascending ids), numbered by their place in `selected`."""
    place = np.full(n, -1, dtype=np.int64)
    place[selected] = np.arange(len(selected))
    rows, columns = place[keys // n], place[keys % n]
    both = (rows >= 0) & (columns >= 0)
    return rows[both] * len(selected) + columns[both]


def missing_from(keys, reference):
    """The keys that `reference` does not hold. Both ascending."""
    if len(reference) == 0 or len(keys) == 0:
        return keys
    place = np.searchsorted(reference, keys)
    place[place == len(reference)] = 0
    return keys[reference[place] != keys]
