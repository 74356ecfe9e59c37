#include <rthiss/errors.hpp>

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "distance/pair_decider.hpp"
#include "support/exact_oracle.hpp"

namespace rthiss {
namespace {

using Kind = Metric::Kind;
using Row = std::vector<double>;
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double above(double x) { return std::nextafter(x, kInfinity); }
double below(double x) { return std::nextafter(x, -kInfinity); }

std::unique_ptr<PairDecider> decider(Kind kind, double value, std::size_t columns, const ValueGrid& grid = {}) {
  return make_pair_decider({kind}, value, columns, grid);
}

// Both metrics at the value, one ulp to each side, and at the thresholds that are special.
void check_pair(const Row& x, const Row& y, TierCounts& counts, const ValueGrid& grid = {}) {
  const std::size_t d = x.size();
  const double similarity = test::oracle_cosine_similarity(x.data(), y.data(), d);
  const double distance = test::oracle_cosine_distance(x.data(), y.data(), d);
  ASSERT_EQ(decider(Kind::kCosineSimilarity, 0.5, d, grid)->value(x.data(), y.data()), similarity);
  ASSERT_EQ(decider(Kind::kCosineDistance, 0.5, d, grid)->value(x.data(), y.data()), distance);
  for (const double t : {similarity, above(similarity), below(similarity), 1.0, below(1.0), -1.0, above(-1.0), 0.0,
                         -0.0, above(0.0), below(0.0), 0.5}) {
    if (t < -1 || t > 1) continue;
    const auto one = decider(Kind::kCosineSimilarity, t, d, grid);
    ASSERT_EQ(one->within(x.data(), y.data(), counts), similarity >= t) << similarity << " >= " << t;
    ASSERT_EQ(one->within(y.data(), x.data(), counts), similarity >= t) << similarity << " >= " << t;
  }
  for (const double r : {distance, above(distance), std::max(0.0, below(distance)), 0.0, -0.0, above(0.0), 1.0,
                         below(1.0), above(1.0), 2.0, below(2.0), 3.0, kInfinity}) {
    const auto one = decider(Kind::kCosineDistance, r, d, grid);
    ASSERT_EQ(one->within(x.data(), y.data(), counts), distance <= r) << distance << " <= " << r;
  }
}

Row random_row(std::mt19937_64& random, std::size_t d, double centre = 0.0) {
  std::normal_distribution<double> normal(centre, 1.0);
  Row row(d);
  for (double& v : row) v = normal(random);
  return row;
}

TEST(CosineDecider, RandomPairs) {
  std::mt19937_64 random(1);
  TierCounts counts;
  for (const std::size_t d : {2, 3, 4, 7, 8, 9, 31, 32, 33, 64, 65, 300}) {
    for (const double centre : {0.0, 1.0, 1000.0})
      check_pair(random_row(random, d, centre), random_row(random, d, centre), counts);
  }
  EXPECT_GT(counts.in_double, 0U);
  EXPECT_GT(counts.double_double, 0U);
}

TEST(CosineDecider, EqualOppositeAndParallelDirections) {
  std::mt19937_64 random(2);
  TierCounts counts;
  for (const std::size_t d : {1, 2, 5, 64}) {
    const Row x = random_row(random, d);
    for (const double factor : {1.0, -1.0, 2.0, -0.5, 0x1p300, -0x1p-300, 3.0}) {
      Row y = x;
      for (double& v : y) v *= factor;  // 3 x rounds: nearly parallel
      check_pair(x, y, counts);
    }
    Row near = x;
    near[0] = above(near[0]);
    check_pair(x, near, counts);
    for (double& v : near) v = -v;
    check_pair(x, near, counts);
  }
  EXPECT_GT(counts.exact, 0U);
}

TEST(CosineDecider, OrthogonalAndNearlySo) {
  TierCounts counts;
  check_pair({1, 0}, {0, 1}, counts);
  check_pair({1, 1, 1, 1}, {1, -1, 1, -1}, counts);
  check_pair({0.1, 0.3}, {-0.3, 0.1}, counts);
  check_pair({1, 0}, {0x1p-60, 1}, counts);
  check_pair({1, 0}, {-0x1p-60, 1}, counts);
  check_pair({1, 0}, {0x1p-1074, 1}, counts);
  check_pair({1, 0}, {-0x1p-1074, 1}, counts);
  check_pair({1, 0}, {0x1p-1074, 2}, counts);  // the cosine is half of the smallest double
  check_pair({1, 0}, {-0x1p-1074, 2}, counts);
  check_pair({1, 0}, {-0x1p-1074, 4}, counts);  // and less: rounds to -0
  check_pair({1, 0}, {1, 0x1p-500}, counts);    // 1 - cos underflows
  check_pair({1, 0}, {1, 0x1p-537}, counts);
  check_pair({1, 0}, {1, 0x1p-20}, counts);
  EXPECT_GT(counts.exact, 0U);
}

TEST(CosineDecider, RationalCosines) {
  TierCounts counts;
  check_pair({1, 0}, {3, 4}, counts);
  check_pair({3, 4}, {4, 3}, counts);
  check_pair({1, 1}, {1, 0}, counts);
  check_pair({1, 0, 0, 0}, {1, 1, 1, 1}, counts);   // 1/2
  check_pair({1, 0, 0, 0}, {-1, 1, 1, 1}, counts);  // -1/2
  const ValueGrid grid{true, 0, 4, 4};
  check_pair({1, 0, 0, 0}, {1, 1, 1, 1}, counts, grid);
  check_pair({1, 2, 3, 4}, {4, -3, 2, -1}, counts, grid);
  check_pair({2, 0, 0, 0}, {-4, 4, 4, 4}, counts, {true, 1, 4, 2});
}

// A cosine on the midpoint of two doubles, q / 2^54 with q odd, in [1/2, 1): x = (1, 1, 0 ...) and
// y = ((q + 1) / 2, (q - 1) / 2, squares that fill |y|^2 up to 2^107).
TEST(CosineDecider, CosineOnAMidpoint) {
  using boost::multiprecision::cpp_int;
  for (const std::int64_t below_one : {1, 3, 5, 12345, 99999999}) {
    const std::int64_t q = (std::int64_t{1} << 54) - below_one;
    Row x = {1, 1};
    Row y = {static_cast<double>((q + 1) / 2), static_cast<double>((q - 1) / 2)};
    cpp_int rest = (cpp_int(1) << 107) - cpp_int((q + 1) / 2) * ((q + 1) / 2) - cpp_int((q - 1) / 2) * ((q - 1) / 2);
    while (rest > 0) {
      const cpp_int root = sqrt(rest);
      x.push_back(0);
      y.push_back(static_cast<double>(root.convert_to<std::int64_t>()));
      rest -= root * root;
    }
    const test::OracleCosine cosine(x.data(), y.data(), x.size());
    ASSERT_EQ(cosine.compare(test::Rational(cpp_int(q), cpp_int(1) << 54)), 0);
    TierCounts counts;
    check_pair(x, y, counts);
    for (double& v : y) v = -v;
    check_pair(x, y, counts);
    EXPECT_GT(counts.exact, 0U);
  }
}

TEST(CosineDecider, ScalesThatOverflowAndUnderflow) {
  std::mt19937_64 random(3);
  TierCounts counts;
  for (const int first : {0, -80, 70, -530, 500, 1000, -1000, -1070}) {
    for (const int second : {0, 1000, -1070}) {
      Row x = random_row(random, 6);
      Row y = random_row(random, 6);
      for (double& v : x) v = std::ldexp(v, first);
      for (double& v : y) v = std::ldexp(v, second);
      if (x == Row(6, 0.0) || y == Row(6, 0.0)) continue;
      check_pair(x, y, counts);
    }
  }
  check_pair({1e308, 1e-308, 1}, {1, 1e300, -1e-300}, counts);
  check_pair({1e308, 1e308, 1e308}, {1e308, 1e308, -1e308}, counts);
}

TEST(CosineDecider, FilterThresholdEnclosesTheExactOne) {
  for (const double t :
       {1.0, below(1.0), 0.95, 0.79, 0.5, below(0.5), above(0.0), 0.0, below(0.0), -0.5, above(-1.0)}) {
    const FilterThreshold filter = decider(Kind::kCosineSimilarity, t, 2)->filter_threshold();
    const test::Rational exact = 2 - 2 * test::border_above(below(t));
    EXPECT_TRUE(test::rational(filter.in_below) < exact ||
                (test::rational(filter.in_below) == exact && test::has_even_significand(t)));
    EXPECT_GE(test::rational(filter.out_above), exact);
    EXPECT_LE(filter.out_above, above(above(filter.in_below)));
  }
  for (const double r : {0.0, above(0.0), 0.05, 0.25, 1.0, 1.5, below(2.0)}) {
    const FilterThreshold filter = decider(Kind::kCosineDistance, r, 2)->filter_threshold();
    const test::Rational exact = 2 * test::border_above(r);
    EXPECT_TRUE(test::rational(filter.in_below) < exact ||
                (test::rational(filter.in_below) == exact && test::has_even_significand(r)));
    EXPECT_GE(test::rational(filter.out_above), exact);
    EXPECT_LE(filter.out_above, above(above(filter.in_below)));
  }
  EXPECT_TRUE(decider(Kind::kCosineSimilarity, -1.0, 2)->filter_threshold().accepts_everything);
  EXPECT_TRUE(decider(Kind::kCosineDistance, 2.0, 2)->filter_threshold().accepts_everything);
}

TEST(CosineDecider, BadThresholds) {
  for (const double bad : {std::nan(""), above(1.0), below(-1.0), kInfinity, -kInfinity}) {
    EXPECT_THROW((void)decider(Kind::kCosineSimilarity, bad, 2), InvalidArgument);
  }
  for (const double bad : {std::nan(""), below(0.0), -1.0}) {
    EXPECT_THROW((void)decider(Kind::kCosineDistance, bad, 2), InvalidArgument);
  }
}

TEST(CosineCases, Threshold) {
  const test::Rows rows = {{1, 0, 0}, {.6, .8, 0}, {.8, .6, 0}, {0, 1, 0}, {2, 0, 0}};
  const auto one = decider(Kind::kCosineSimilarity, 0.79, 3);
  TierCounts counts;
  const Pairs pairs = test::brute_force_pairs(
      rows, [&](const double* x, const double* y, std::size_t) { return one->within(x, y, counts); });
  EXPECT_EQ(pairs, (Pairs{{0, 2}, {0, 4}, {1, 2}, {1, 3}, {2, 4}}));
}

}  // namespace
}  // namespace rthiss
