"""What each peer promises, brought to one form: ordered pairs without self, closed ball, plain radius.

Every peer is called the way its users call it. What its contract then changes (strict comparison, a squared radius in
float32, self pairs, each pair once) is converted or accounted for here and nowhere else.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import exact

# Differing pairs beyond this many are explained by an even sample, and the counts say so.
EXPLAINED_PAIRS = 500_000


@dataclass(frozen=True)
class Contract:
    """closed: `<=` on the squared distance, else `<`.

    radius, squared_radius: the types that the radius and then its square are rounded to.
    """

    closed: bool
    squared_radius: type
    radius: type = np.float64

    def threshold(self, radius):
        """The number that the peer compares squared distances with."""
        own = float(self.radius(radius))
        return float(self.squared_radius(own * own))

    def would_accept(self, squared_sum, radius):
        """The peer's answer if its arithmetic had no error. squared_sum: Fraction."""
        threshold = Fraction(self.threshold(radius))
        return squared_sum < threshold or (self.closed and squared_sum == threshold)

    def describe(self):
        origin = f" of the {np.dtype(self.radius).name} radius" if self.radius is not np.float64 else ""
        return f"{'<=' if self.closed else '<'} on {np.dtype(self.squared_radius).name} radius^2{origin}"


def keys_from_lists(indptr, indices, n):
    """CSR lists, self pairs or not, any order inside a row -> sorted keys without self. See exact.py."""
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(np.asarray(indptr, dtype=np.int64)))
    columns = np.asarray(indices).astype(np.int64)
    other = rows != columns
    keys = rows[other]
    keys *= n
    keys += columns[other]
    keys.sort()
    return keys


def keys_from_half(pairs, n):
    """(m, 2) unordered pairs, each once -> sorted keys of both orders."""
    first, second = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    keys = np.concatenate([first * n + second, second * n + first])
    keys.sort()
    return keys


def explain(keys, points, radius, contract):
    """Why these pairs differ from the exact answer.

    ties        the distance, rounded to double, is the radius itself
    threshold   no tie, but the peer's own comparison, done without error, gives the peer's answer
    arithmetic  the rest: cancellation and rounding in the peer's distance
    """
    sample = keys
    if len(keys) > EXPLAINED_PAIRS:
        sample = keys[np.linspace(0, len(keys) - 1, EXPLAINED_PAIRS).astype(np.int64)]
    n = len(points)
    rows, columns = sample // n, sample % n
    ball = exact.ExactBall(radius)
    low, high = sorted((contract.threshold(radius), float(ball.outer)))
    low = min(low, float(ball.inner))
    counts = {"ties": 0, "threshold": 0, "arithmetic": 0}
    known = {}
    for part, sums, bound in exact.direct_sums(points, rows, columns):
        slack = (bound + 2.0**-50) * high
        far = (sums < low - slack) | (sums > high + slack)
        counts["arithmetic"] += int(far.sum())
        for k in np.flatnonzero(~far):
            # With exact sums there are few different ones, so that each is looked at once.
            value = float(sums[k]) if bound == 0.0 else None
            if value not in known or value is None:
                total = Fraction(value) if value is not None else exact.exact_sum(
                    points, rows[part][k], columns[part][k])
                known[value] = _reason(total, ball, contract)
            counts[known[value]] += 1
    if len(sample) < len(keys):
        scale = len(keys) / len(sample)
        counts = {reason: round(count * scale) for reason, count in counts.items()}
    return {**counts, "sampled": len(sample) < len(keys)}


def _reason(squared_sum, ball, contract):
    if ball.is_tie(squared_sum):
        return "ties"
    if contract.would_accept(squared_sum, ball.radius) != ball.contains(squared_sum):
        return "threshold"
    return "arithmetic"


def compare(keys, expected, points, radius, contract):
    """The difference of a peer's pair set to the exact one, with its reasons."""
    missing = exact.missing_from(expected, keys)
    extra = exact.missing_from(keys, expected)
    reasons = explain(np.concatenate([missing, extra]), points, radius, contract)
    return {"missing": len(missing), "extra": len(extra), "reasons": reasons}
