"""Tests of the peer benchmark; not part of the main suite. In benchmarks/peers, with benchmarks/.venv/bin/python:

    python -m unittest -v test_run_peers        NANOFLANN_JOIN=PATH and RTHISS=PATH add those two
"""

from fractions import Fraction
import json
import os
import sys
import tempfile
import unittest

import numpy as np

import adapters
import contracts
import exact
import report
import run_peers
import workloads

PROGRAMS = {"rthiss": os.environ.get("RTHISS"), "nanoflann_join": os.environ.get("NANOFLANN_JOIN")}


def pairs_by_fractions(points, radius):
    ball = exact.ExactBall(radius)
    n = len(points)
    return [i * n + j for i in range(n) for j in range(n)
            if i != j and ball.contains(exact.exact_sum(points, i, j))]


class Oracle(unittest.TestCase):
    def check(self, points, radius):
        np.testing.assert_array_equal(exact.exact_pairs(points, radius), pairs_by_fractions(points, radius))

    def test_integers_with_ties(self):
        points = np.random.default_rng(1).integers(0, 4, size=(60, 3)).astype(np.float32)
        for squared in (1, 2, 3, 5, 6):
            self.check(points, np.sqrt(float(squared)))
            self.check(points, np.nextafter(np.sqrt(float(squared)), 0.0))

    def test_general_position_with_a_radius_that_is_a_distance(self):
        points = np.random.default_rng(2).random((40, 5))
        radius = float(np.sqrt(float(exact.exact_sum(points, 0, 1))))
        for candidate in (np.nextafter(radius, 0.0), radius, np.nextafter(radius, 9.0)):
            self.check(points, candidate)

    def test_far_from_the_origin(self):
        points = (np.random.default_rng(3).integers(0, 64, size=(50, 2)) + 2**23).astype(np.float32)
        points[:, 0] += 0.5
        self.check(points, 9.0)

    def test_tile_borders(self):
        rows = exact.TILE_ROWS + 3
        points = np.arange(rows, dtype=np.float32)[:, None] * np.float32(0.5)
        self.assertEqual(len(exact.exact_pairs(points, 0.5)), 2 * (rows - 1))

    def test_restrict_equals_the_join_of_the_rows(self):
        points = np.random.default_rng(4).random((101, 3)).astype(np.float32)
        selected = workloads.spread(101, 37)
        np.testing.assert_array_equal(exact.restrict(exact.exact_pairs(points, 0.4), 101, selected),
                                      exact.exact_pairs(points[selected], 0.4))

    def test_missing_from(self):
        keys = np.array([1, 3, 5, 9])
        np.testing.assert_array_equal(exact.missing_from(keys, np.array([3, 4, 5])), [1, 9])
        np.testing.assert_array_equal(exact.missing_from(keys, np.array([], dtype=int)), keys)
        self.assertEqual(len(exact.missing_from(keys, keys)), 0)


class Peers(unittest.TestCase):
    def run_all(self, points, radius):
        """(word, keys, contract) of every peer that is there."""
        found = []
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "points.npy")
            np.save(path, points)
            job = adapters.Job(points, path, radius, 2, scratch, 0, PROGRAMS)
            for word, peer in adapters.all_peers(PROGRAMS).items():
                try:
                    peer.version()
                except adapters.Unavailable as reason:
                    print(f"left out: {reason}", file=sys.stderr)
                    continue
                measured, result = adapters.measure(peer, job, 60.0, 2)
                self.assertEqual(measured["runs"], 2)
                found.append((word, peer.keys(result, job), peer.contract(points.dtype)))
        self.assertGreaterEqual(len(found), 6)
        return found

    def test_every_peer_finds_the_exact_pairs_where_none_is_near_the_radius(self):
        random = np.random.default_rng(5)
        for n, d in ((2, 3), (65, 2), (300, 8), (257, 31)):
            points = random.random((n, d), dtype=np.float32)
            sums = np.sort(((points[:, None].astype(float) - points[None]) ** 2).sum(axis=2), axis=None)[n:]
            # The middle of the widest gap in the densest tenth: no rounding in any peer reaches across it.
            middle = sums[len(sums) * 3 // 10:max(len(sums) * 4 // 10, len(sums) * 3 // 10 + 1) + 1]
            gap = int(np.argmax(np.diff(middle)))
            radius = float(np.sqrt((middle[gap] + middle[gap + 1]) / 2)) if n > 2 else float(np.sqrt(sums[0]) * 1.01)
            expected = exact.exact_pairs(points, radius)
            self.assertGreater(len(expected), 0)
            for word, keys, _ in self.run_all(points, radius):
                np.testing.assert_array_equal(keys, expected, err_msg=f"{word}, {n} x {d}")

    def test_ties_are_named(self):
        points = np.random.default_rng(6).integers(0, 2, size=(100, 16)).astype(np.float32)
        radius = 3.0
        ties = int((((points[:, None] - points[None]) ** 2).sum(axis=2) == 9).sum())
        self.assertGreater(ties, 0)
        expected = exact.exact_pairs(points, radius)
        for word, keys, contract in self.run_all(points, radius):
            difference = contracts.compare(keys, expected, points, radius, contract)
            self.assertEqual(difference["extra"], 0, word)
            if word != "snnpy":  # centres the rows in float32, so it may lose ties in spite of its closed comparison
                self.assertEqual(difference["missing"], 0 if contract.closed else ties, word)
            self.assertEqual(difference["reasons"], {"ties": difference["missing"], "threshold": 0, "arithmetic": 0,
                                                     "sampled": False}, word)


class Reasons(unittest.TestCase):
    def test_cancellation_and_threshold(self):
        # Distance 1 at radius 2 is far from any threshold: whoever misses it has lost it in the arithmetic.
        points = np.array([[400000, 400000], [400000, 400001], [400000, 400005]], dtype=np.float32)
        contract = contracts.Contract(closed=False, squared_radius=np.float32)
        expected = exact.exact_pairs(points, 2.0)
        np.testing.assert_array_equal(expected, [1, 3])
        reasons = contracts.compare(np.array([], dtype=np.int64), expected, points, 2.0, contract)["reasons"]
        self.assertEqual(reasons, {"ties": 0, "threshold": 0, "arithmetic": 2, "sampled": False})

        # The squared radius rounded to float32 falls below a distance that is well inside in double.
        radius = next(r for r in np.linspace(0.3, 0.4, 1000) if float(np.float32(r * r)) < r * r * (1 - 1e-8))
        between = (Fraction(float(np.float32(radius * radius))) + Fraction(radius) ** 2) / 2
        points = np.array([[0.0], [float(between) ** 0.5]])
        expected = exact.exact_pairs(points, radius)
        self.assertEqual(len(expected), 2)
        reasons = contracts.compare(np.array([], dtype=np.int64), expected, points, radius, contract)["reasons"]
        self.assertEqual(reasons, {"ties": 0, "threshold": 2, "arithmetic": 0, "sampled": False})

    def test_radius_rounded_before_it_is_squared(self):
        # float32(sqrt 32) lies below sqrt 32, and its square rounds to the float32 below 32.
        contract = contracts.Contract(closed=True, squared_radius=np.float32, radius=np.float32)
        self.assertEqual(contract.threshold(np.sqrt(32.0)), float(np.nextafter(np.float32(32), np.float32(0))))
        points = np.zeros((2, 64), dtype=np.float32)
        points[1, :32] = 1
        peer = adapters.ScikitLearn("brute")
        self.assertEqual(peer.contract(points.dtype), contract)
        job = adapters.Job(points, "", float(np.sqrt(32.0)), 1, "", 0, {})
        self.assertEqual(len(peer.keys(peer.run(job), job)), 0)

    def test_radius_that_is_no_square(self):
        # sqrt(3)^2 is below 3 in double: a closed comparison of squares loses the tie.
        points = np.array([[0, 0, 0], [1, 1, 1]], dtype=np.float64)
        radius = float(np.sqrt(3.0))
        contract = contracts.Contract(closed=True, squared_radius=np.float64)
        reasons = contracts.compare(np.array([], dtype=np.int64), exact.exact_pairs(points, radius), points, radius,
                                    contract)["reasons"]
        self.assertEqual(reasons["ties"], 2)


class Whole(unittest.TestCase):
    def test_radius_for_neighbours(self):
        points = np.random.default_rng(7).random((1500, 4), dtype=np.float32)
        pairs = len(exact.exact_pairs(points, workloads.radius_for_neighbours(points, 20)))
        self.assertAlmostEqual(pairs / 1500, 20.0, delta=0.1)

    def test_a_run_writes_table_json_and_section(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tiny.npy")
            np.save(path, np.random.default_rng(8).random((200, 4), dtype=np.float32))
            stored, results = os.path.join(folder, "out.json"), os.path.join(folder, "RESULTS.md")
            for _ in range(2):
                run_peers.main([path, "--radius", "0.3", "--threads", "1", "--peers", "rthiss,faiss", "--rthiss",
                                "not-there", "--json", stored, "--markdown", results, "--repeats", "1"])
            with open(stored, encoding="utf-8") as file:
                case = json.load(file)["cases"][0]
            self.assertIn("rthiss is not there", case["peers"][0]["status"])
            self.assertEqual(case["peers"][1]["pairs"], case["exact_pairs"])
            with open(results, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text.count("## tiny"), 1)
            self.assertNotIn(folder, text)

    def test_sections_of_other_workloads_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "RESULTS.md")
            report.replace_section(path, "a", "first")
            report.replace_section(path, "b", "other")
            report.replace_section(path, "a", r"second \1")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            self.assertIn(r"second \1", text)
            self.assertIn("other", text)
            self.assertNotIn("first", text.split("<!-- workload a -->")[1])


if __name__ == "__main__":
    unittest.main()
