#include <rthiss/errors.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "distance/pair_decider.hpp"
#include "support/exact_oracle.hpp"
#include "support/lattice.hpp"

namespace rthiss {
namespace {

using test::Rows;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

double above(double x) { return std::nextafter(x, kInfinity); }
double below(double x) { return std::nextafter(x, -kInfinity); }

ValueGrid no_grid() { return {}; }

ValueGrid integer_grid(double max_abs, int exponent = 0) {
  return {true, exponent, std::ldexp(max_abs, exponent), max_abs};
}

std::unique_ptr<PairDecider> euclidean(double radius, std::size_t columns, const ValueGrid& grid = no_grid()) {
  return make_pair_decider({Metric::Kind::kEuclidean}, radius, columns, grid);
}

Pairs pairs_within(const Rows& rows, double radius, const ValueGrid& grid, TierCounts& counts) {
  const auto decider = euclidean(radius, rows[0].size(), grid);
  return test::brute_force_pairs(
      rows, [&](const double* x, const double* y, std::size_t) { return decider->within(x, y, counts); });
}

Pairs pairs_within(const Rows& rows, double radius, const ValueGrid& grid = no_grid()) {
  TierCounts counts;
  return pairs_within(rows, radius, grid, counts);
}

// value() and within() against the oracle at the distance, one ulp to each side, and at the radii given.
void check_pair(const std::vector<double>& x, const std::vector<double>& y, TierCounts& counts,
                const ValueGrid& grid = no_grid(), const std::vector<double>& radii = {}) {
  const std::size_t d = x.size();
  const double distance = test::oracle_distance(x.data(), y.data(), d);
  ASSERT_EQ(euclidean(1.0, d, grid)->value(x.data(), y.data()), distance) << "d = " << d;
  std::vector<double> all = radii;
  all.insert(all.end(), {distance, above(distance)});
  if (distance > 0) all.push_back(below(distance));
  for (const double radius : all) {
    const bool expected = test::oracle_within(x.data(), y.data(), d, radius);
    ASSERT_EQ(expected, distance <= radius);
    const auto decider = euclidean(radius, d, grid);
    ASSERT_EQ(decider->within(x.data(), y.data(), counts), expected) << "radius " << radius << " d " << d;
    ASSERT_EQ(decider->within(y.data(), x.data(), counts), expected) << "radius " << radius << " d " << d;
  }
}

std::vector<double> random_row(std::mt19937_64& random, std::size_t d, double centre, double spread, bool as_float) {
  std::normal_distribution<double> normal(centre, spread);
  std::vector<double> row(d);
  for (double& v : row) v = as_float ? static_cast<double>(static_cast<float>(normal(random))) : normal(random);
  return row;
}

TEST(EuclideanDecider, RandomPairsAtTheirDistance) {
  std::mt19937_64 random(1);
  TierCounts counts;
  for (const std::size_t d : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 257, 784}) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      const bool as_float = repeat % 2 == 0;
      check_pair(random_row(random, d, 0, 1, as_float), random_row(random, d, 0, 1, as_float), counts);
      check_pair(random_row(random, d, 0x1p23, 1, as_float), random_row(random, d, 0x1p23, 1, as_float), counts);
    }
  }
  EXPECT_GT(counts.double_double, 0u);
  EXPECT_EQ(counts.exact, 0u);
}

TEST(EuclideanDecider, HighDimension) {
  std::mt19937_64 random(2);
  TierCounts counts;
  for (const std::size_t d : {1000, 1536, 4096}) {
    check_pair(random_row(random, d, 0, 1, true), random_row(random, d, 5, 1, true), counts);
  }
}

TEST(EuclideanDecider, TinyAndHugeScales) {
  std::mt19937_64 random(3);
  TierCounts counts;
  for (const int exponent : {-80, 70, -530, 500, -540, 511, 512, 513, 1000, 1010, -700, -1000, -1030, -1060, -1073}) {
    for (const std::size_t d : {1, 3, 17, 64}) {
      std::vector<double> x = random_row(random, d, 0, 3, false);
      std::vector<double> y = random_row(random, d, 0, 3, false);
      for (double& v : x) v = std::ldexp(v, exponent);
      for (double& v : y) v = std::ldexp(v, exponent);
      check_pair(x, y, counts, no_grid(), {0.0, kSmallest, 3 * kSmallest, 1.0, kLargest, below(kLargest)});
    }
  }
}

TEST(EuclideanDecider, MixedScalesInOnePair) {
  std::mt19937_64 random(4);
  std::uniform_int_distribution<int> exponents(-1080, 1022);
  TierCounts counts;
  for (int repeat = 0; repeat < 40; ++repeat) {
    std::vector<double> x = random_row(random, 9, 0, 1, false);
    std::vector<double> y = random_row(random, 9, 0, 1, false);
    for (double& v : x) v = std::ldexp(v, exponents(random));
    for (double& v : y) v = std::ldexp(v, exponents(random));
    check_pair(x, y, counts);
  }
}

TEST(EuclideanDecider, Overflow) {
  TierCounts counts;
  // Differences beyond the largest double, sums beyond it, and distances that round to it or to infinity.
  check_pair({kLargest}, {-kLargest}, counts, no_grid(), {kLargest, kInfinity});
  check_pair({kLargest, kLargest}, {0, 0}, counts, no_grid(), {kLargest, kInfinity});
  check_pair({kLargest}, {0}, counts, no_grid(), {kLargest, kInfinity});
  check_pair({kLargest}, {-0x1p969}, counts, no_grid(), {kLargest, kInfinity});
  check_pair({kLargest}, {-0x1p970}, counts, no_grid(), {kLargest, kInfinity});  // the midpoint to 2^1024
  check_pair({kLargest}, {-0x1p971}, counts, no_grid(), {kLargest, kInfinity});
  check_pair({0x1p1000, 0x1p1000, 1}, {0, 0, 0}, counts);
  EXPECT_GT(counts.exact, 0u);
}

TEST(EuclideanDecider, SubnormalRowsAndRadii) {
  TierCounts counts;
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) {
      check_pair({a * kSmallest, 0.0}, {0.0, b * kSmallest}, counts, no_grid(),
                 {0.0, -0.0, kSmallest, 2 * kSmallest, 3 * kSmallest, 4 * kSmallest});
    }
  }
}

TEST(EuclideanDecider, RadiusZeroMeansEqualRows) {
  for (const double zero : {0.0, -0.0}) {
    for (const ValueGrid& grid : {no_grid(), integer_grid(8)}) {
      const auto decider = euclidean(zero, 3, grid);
      TierCounts counts;
      const double x[] = {1.0, -0.0, 3.0};
      const double same[] = {1.0, 0.0, 3.0};
      EXPECT_TRUE(decider->within(x, same, counts));
      EXPECT_EQ(counts.in_double, 1u);
      EXPECT_EQ(decider->value(x, same), 0.0);
    }
    const auto decider = euclidean(zero, 3);
    TierCounts counts;
    const double x[] = {1.0, -0.0, 3.0};
    const double near[] = {1.0, kSmallest, 3.0};
    EXPECT_FALSE(decider->within(x, near, counts));
    EXPECT_EQ(decider->value(x, near), kSmallest);
  }
}

TEST(EuclideanDecider, InfiniteRadiusAcceptsEverything) {
  const auto decider = euclidean(kInfinity, 2);
  EXPECT_TRUE(decider->filter_threshold().accepts_everything);
  TierCounts counts;
  const double x[] = {kLargest, -kLargest};
  const double y[] = {-kLargest, kLargest};
  EXPECT_TRUE(decider->within(x, y, counts));
  EXPECT_TRUE(decider->within(x, x, counts));
  EXPECT_EQ(counts.in_double, 2u);
}

TEST(EuclideanDecider, BadRadius) {
  EXPECT_THROW((void)euclidean(std::nan(""), 2), InvalidArgument);
  EXPECT_THROW((void)euclidean(-1.0, 2), InvalidArgument);
  EXPECT_THROW((void)euclidean(-kInfinity, 2), InvalidArgument);
  EXPECT_THROW((void)euclidean(-kSmallest, 2), InvalidArgument);
}

// A distance that lies exactly on the midpoint of two doubles: only the exact tier can tell, by the tie rule.
TEST(EuclideanDecider, DistanceOnAMidpoint) {
  for (const double radius : {1.0, above(1.0), 3.5, above(3.5), 0x1p-1000, above(0x1p-1000), 0x1p900, above(0x1p900)}) {
    const double half_ulp = 0.5 * (above(radius) - radius);
    TierCounts counts;
    check_pair({radius, 7.0, 7.0}, {-half_ulp, 7.0, 7.0}, counts, no_grid(), {radius});
    check_pair({7.0, 0.75 * radius}, {7.0, -(half_ulp + 0.25 * radius)}, counts, no_grid(), {radius});
    EXPECT_GT(counts.exact, 0u);
    const double x[] = {radius};
    const double y[] = {-half_ulp};
    const bool even = test::has_even_significand(radius);
    TierCounts one;
    EXPECT_EQ(euclidean(radius, 1)->within(x, y, one), even);
    EXPECT_EQ(one.exact, 1u);
    EXPECT_EQ(euclidean(1.0, 1)->value(x, y), even ? radius : above(radius));
  }
}

TEST(EuclideanDecider, IntegerTiesStayInTheDoubleTier) {
  // Every integer squared distance: the rounded root, as a radius, holds its own pair, and the double below does not.
  TierCounts counts;
  for (int s = 1; s <= 10000; ++s) {
    const double radius = std::sqrt(static_cast<double>(s));
    std::vector<double> x;
    std::vector<double> y;
    for (int rest = s; rest > 0;) {  // greedy squares
      const int root = static_cast<int>(std::sqrt(static_cast<double>(rest)));
      x.push_back(root);
      y.push_back(0);
      rest -= root * root;
    }
    const ValueGrid grid = integer_grid(100);
    ASSERT_TRUE(euclidean(radius, x.size(), grid)->within(x.data(), y.data(), counts)) << s;
    ASSERT_FALSE(euclidean(below(radius), x.size(), grid)->within(x.data(), y.data(), counts)) << s;
    ASSERT_EQ(euclidean(1.0, x.size(), grid)->value(x.data(), y.data()), radius);
    ASSERT_EQ(euclidean(radius, x.size(), grid)->grid_limit(), static_cast<double>(s));
    TierCounts other;
    ASSERT_TRUE(euclidean(radius, x.size())->within(x.data(), y.data(), other)) << s;
    ASSERT_FALSE(euclidean(below(radius), x.size())->within(x.data(), y.data(), other)) << s;
  }
  EXPECT_EQ(counts.in_double, 20000u);
  EXPECT_EQ(counts.total(), 20000u);
}

TEST(EuclideanDecider, GridsAtTheirEnds) {
  std::mt19937_64 random(5);
  TierCounts counts;
  for (const int exponent : {-537, -538, -100, 0, 100, 485, 486, 900}) {
    for (const double steps : {3.0, 1000.0, 0x1p26, 0x1p40, 0x1p52, 0x1p53 - 1}) {
      if (exponent + std::ilogb(steps) > 1022) continue;
      std::uniform_int_distribution<std::int64_t> integers(-static_cast<std::int64_t>(steps),
                                                           static_cast<std::int64_t>(steps));
      std::vector<double> x(5);
      std::vector<double> y(5);
      for (double& v : x) v = std::ldexp(static_cast<double>(integers(random)), exponent);
      for (double& v : y) v = std::ldexp(static_cast<double>(integers(random)), exponent);
      x[0] = std::ldexp(steps, exponent);
      check_pair(x, y, counts, integer_grid(steps, exponent));
    }
  }
}

TEST(EuclideanDecider, GridLimit) {
  EXPECT_EQ(euclidean(5.0, 2, integer_grid(10))->grid_limit(), 25.0);
  EXPECT_EQ(euclidean(below(5.0), 2, integer_grid(10))->grid_limit(), 24.0);
  EXPECT_EQ(euclidean(5.0, 2, integer_grid(10, 1))->grid_limit(), 6.0);
  EXPECT_EQ(euclidean(0.0, 2, integer_grid(10))->grid_limit(), 0.0);
  EXPECT_EQ(euclidean(kSmallest, 2, integer_grid(10))->grid_limit(), 0.0);
  EXPECT_EQ(euclidean(5.0, 2)->grid_limit(), std::nullopt);
  EXPECT_EQ(euclidean(1e9, 2, integer_grid(10))->grid_limit(), std::nullopt);
  EXPECT_EQ(euclidean(kInfinity, 2, integer_grid(10))->grid_limit(), std::nullopt);
}

TEST(EuclideanDecider, FilterThresholdEnclosesTheSquare) {
  for (const double radius : {0.0, kSmallest, 0x1p-540, 1e-154, 0.1, 1.0, std::sqrt(3.0), 1e154, 1e155, kLargest}) {
    const FilterThreshold filter = euclidean(radius, 3)->filter_threshold();
    const test::Rational m = test::border_above(radius);
    EXPECT_LT(test::rational(filter.in_below), m * m);
    EXPECT_TRUE(std::isinf(filter.out_above) || test::rational(filter.out_above) > m * m);
    EXPECT_EQ(above(filter.in_below), filter.out_above);
  }
}

// Known cases: faults that other software had.

TEST(EuclideanCases, CancellationFarFromTheOrigin) {
  const Rows rows = {{400000, 400000}, {400000, 400001}, {400000, 400005}};
  for (const ValueGrid& grid : {no_grid(), integer_grid(400005)}) {
    EXPECT_EQ(pairs_within(rows, 2.0, grid), (Pairs{{0, 1}}));
    EXPECT_EQ(euclidean(2.0, 2, grid)->value(rows[0].data(), rows[1].data()), 1.0);
    EXPECT_TRUE(pairs_within({{512695}, {512804}}, 108.5, grid).empty());
    EXPECT_EQ(pairs_within({{512695}, {512804}}, 109, grid).size(), 1u);
  }
}

TEST(EuclideanCases, Boundary) {
  const double next_float = std::nextafter(4.0F, 5.0F);
  const Rows rows = {{0, 0}, {3, 4}, {3, next_float}};
  EXPECT_EQ(pairs_within(rows, 5.0), (Pairs{{0, 1}, {1, 2}}));
  EXPECT_EQ(pairs_within(rows, below(5.0)), (Pairs{{1, 2}}));
}

TEST(EuclideanCases, FloatDataDoubleRadius) {
  const Rows rows = {{0.0}, {0.1F}};
  EXPECT_TRUE(pairs_within(rows, 0.1).empty());
  EXPECT_EQ(pairs_within(rows, 0.1F).size(), 1u);
}

TEST(EuclideanCases, RadiusThatIsADistance) {
  const Rows rows = {{0, 0, 0}, {1, 1, 1}};
  EXPECT_EQ(pairs_within(rows, std::sqrt(3.0)).size(), 1u);
  EXPECT_EQ(pairs_within(rows, std::sqrt(3.0), integer_grid(1)).size(), 1u);
}

TEST(EuclideanCases, SmallDifferenceHighDimension) {
  const struct {
    std::size_t d;
    double distance;
  } cases[] = {{1000, 0.031624254335}, {1536, 0.039193667321}, {4096, 0.064002990723}};
  for (const auto& [d, distance] : cases) {
    const std::vector<double> x(d, 1.0);
    const std::vector<double> y(d, static_cast<double>(1.001F));
    const double value = euclidean(1.0, d)->value(x.data(), y.data());
    EXPECT_NEAR(value, distance, 1e-12);
    EXPECT_EQ(value, test::oracle_distance(x.data(), y.data(), d));
    EXPECT_TRUE(pairs_within({x, y}, value).size() == 1 && pairs_within({x, y}, distance + 1e-12).size() == 1);
    EXPECT_TRUE(pairs_within({x, y}, below(value)).empty() && pairs_within({x, y}, distance - 1e-12).empty());
  }
}

TEST(EuclideanCases, SharedCoordinates) {
  Rows rows;
  Rows wide;
  for (int i = 0; i < 33; ++i) {
    rows.push_back({5.0, static_cast<double>(i)});
    wide.push_back({7, 7, 7, 7, 7, 7, 7, static_cast<double>(i)});
  }
  for (const ValueGrid& grid : {no_grid(), integer_grid(32)}) {
    EXPECT_EQ(pairs_within(rows, 1.0, grid).size(), 32u);
    EXPECT_EQ(pairs_within(rows, 0.999, grid).size(), 0u);
    EXPECT_EQ(pairs_within(rows, 2.0, grid).size(), 63u);
    EXPECT_EQ(pairs_within(wide, 1.0, grid).size(), 32u);
  }
}

TEST(EuclideanCases, ValuesThatFloatCannotHold) {
  Rows rows;
  for (int i = 0; i < 26; ++i) rows.push_back({1654272000.0 + 8 * i});
  EXPECT_EQ(pairs_within(rows, 8.0).size(), 25u);
  EXPECT_EQ(pairs_within(rows, 8.0, integer_grid(1654272200.0)).size(), 25u);
}

TEST(EuclideanCases, Lattice) {
  const struct {
    std::uint32_t rows, columns, limit;
    std::vector<std::pair<double, std::size_t>> answers;
  } cases[] = {{257, 37, 256, {{486, 317}, {516, 953}, {554, 3253}, {635, 16296}}},
               {513, 128, 64, {{258, 1155}, {275, 12959}, {295, 65569}}}};
  for (const auto& lattice : cases) {
    const Rows rows = test::lattice(lattice.rows, lattice.columns, lattice.limit);
    for (const auto& [radius, answer] : lattice.answers) {
      TierCounts on_grid;
      EXPECT_EQ(pairs_within(rows, radius, integer_grid(lattice.limit), on_grid).size(), answer);
      EXPECT_EQ(on_grid.in_double, on_grid.total());
      EXPECT_EQ(pairs_within(rows, radius).size(), answer);
    }
  }
  const Rows first = test::lattice(1, 37, 256);
  EXPECT_EQ(std::vector<double>(first[0].begin(), first[0].begin() + 6),
            (std::vector<double>{181, 160, 250, 207, 35, 232}));
}

// Rows of a Hadamard matrix in two symbols, whose difference is an odd integer of 54 bits: all distances are 4 times
// that, midpoints of doubles every one. Nothing but the exact tier can decide them.
TEST(EuclideanDecider, NothingButTies) {
  constexpr std::uint32_t kRows = 32;
  const double symbols[] = {0x1p53 - 1, -(0x1p53 - 2)};
  Rows rows(kRows, std::vector<double>(kRows));
  for (std::uint32_t i = 0; i < kRows; ++i) {
    for (std::uint32_t j = 0; j < kRows; ++j) rows[i][j] = symbols[std::popcount(i & j) % 2];
  }
  const double lower = 4.0 * (0x1p54 - 4);  // the doubles around 4 (2^54 - 3)
  const double upper = 4.0 * (0x1p54 - 2);
  const double even = test::has_even_significand(lower) ? lower : upper;
  EXPECT_EQ(euclidean(1.0, kRows)->value(rows[0].data(), rows[1].data()), even);
  for (const auto& [radius, expected] : {std::pair{lower, even == lower}, {upper, true}, {below(lower), false}}) {
    TierCounts counts;
    const Pairs pairs = pairs_within(rows, radius, integer_grid(0x1p53 - 1), counts);
    EXPECT_EQ(pairs.size(), expected ? kRows * (kRows - 1) / 2 : 0);
    EXPECT_EQ(radius == lower ? counts.exact : counts.double_double, kRows * (kRows - 1) / 2);
  }
}

// The same decisions with every instruction set that this machine has.
TEST(EuclideanDecider, EveryInstructionSet) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    std::mt19937_64 random(6);
    TierCounts counts;
    for (const std::size_t d : {1, 2, 3, 5, 8, 13, 16, 31, 32, 33, 65}) {
      for (const int exponent : {0, 500, -600, -1060}) {
        std::vector<double> x = random_row(random, d, 1, 1, false);
        std::vector<double> y = random_row(random, d, 1, 1, false);
        for (double& v : x) v = std::ldexp(v, exponent);
        for (double& v : y) v = std::ldexp(v, exponent);
        check_pair(x, y, counts);
      }
    }
    check_pair({1.0, 7.0}, {-0x1p-53, 7.0}, counts);
    EXPECT_GT(counts.double_double, 0U);
    EXPECT_GT(counts.exact, 0U);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(EuclideanDecider, EqualRowsAreDecidedByEquality) {
  TierCounts counts;
  const std::vector<double> row(784, 0.1);
  EXPECT_TRUE(euclidean(0.0, 784)->within(row.data(), row.data(), counts));
  EXPECT_TRUE(euclidean(kSmallest, 784)->within(row.data(), row.data(), counts));
  EXPECT_TRUE(euclidean(1e-200, 784)->within(row.data(), row.data(), counts));
  EXPECT_EQ(counts.in_double, 3u);
  EXPECT_EQ(counts.total(), 3u);
}

}  // namespace
}  // namespace rthiss
