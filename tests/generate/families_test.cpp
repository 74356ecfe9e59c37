#include "generate/families.hpp"

#include <gtest/gtest.h>
#include <rthiss/errors.hpp>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/parallel.hpp"
#include "generate/portable_math.hpp"
#include "generate/workloads.hpp"

namespace rthiss::generate {
namespace {

std::string digest(const Family& family, std::uint64_t rows, std::uint64_t columns, int threads = 1,
                   DType dtype = DType::kFloat32) {
  const ThreadPool pool(threads);
  return sha256_of(generate({family, rows, columns, dtype}, pool));
}

Array<float> floats(const Family& family, std::uint64_t rows, std::uint64_t columns) {
  const ThreadPool pool(2);
  GeneratedPoints points = generate({family, rows, columns, DType::kFloat32}, pool);
  return std::get<Array<float>>(std::move(points.values));
}

std::vector<Family> all_families() {
  EmbeddingFamily clustered;
  clustered.clusters = 20;
  return {UniformFamily{}, ExponentialFamily{}, ClustersFamily{}, EmbeddingFamily{},
          clustered,       LatticeFamily{},     BinaryFamily{}};
}

// Every family, shape 70000 x 3: more than one task each.
TEST(Families, DoNotDependOnThreads) {
  for (const Family& family : all_families()) {
    EXPECT_EQ(digest(family, 70'000, 3, 1), digest(family, 70'000, 3, 4)) << family.index();
  }
}

TEST(Families, LongerArraysBeginWithShorterOnes) {
  for (const Family& family : all_families()) {
    const Array<float> full = floats(family, 65, 7), part = floats(family, 33, 7);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), full.begin())) << family.index();
    EXPECT_TRUE(floats(family, 0, 7).empty());
  }
}

TEST(Families, Float32IsFloat64RoundedOnce) {
  const ThreadPool pool(2);
  for (const Family& family : all_families()) {
    const GeneratedPoints wide = generate({family, 64, 9, DType::kFloat64}, pool);
    const GeneratedPoints narrow = generate({family, 64, 9, DType::kFloat32}, pool);
    const auto& doubles = std::get<Array<double>>(wide.values);
    const auto& singles = std::get<Array<float>>(narrow.values);
    for (std::size_t i = 0; i < doubles.size(); ++i) ASSERT_EQ(static_cast<float>(doubles[i]), singles[i]);
  }
}

TEST(Families, SeedsGiveDifferentData) {
  UniformFamily uniform;
  BinaryFamily binary;
  uniform.seed = binary.seed = 2;
  EXPECT_NE(digest(uniform, 10, 10), digest(UniformFamily{}, 10, 10));
  EXPECT_NE(digest(binary, 10, 10), digest(BinaryFamily{}, 10, 10));
}

TEST(Families, UniformFillsItsRange) {
  const Array<float> values = floats(UniformFamily{-3, 5, 9}, 20'000, 2);
  EXPECT_NEAR(*std::min_element(values.begin(), values.end()), -3, 0.01);
  EXPECT_NEAR(*std::max_element(values.begin(), values.end()), 5, 0.01);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / values.size(), 1, 0.05);
}

TEST(Families, ExponentialHasItsMeanAndMedian) {
  Array<float> values = floats(ExponentialFamily{4, 9}, 20'000, 2);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / values.size(), 0.25, 0.005);
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  EXPECT_NEAR(values[values.size() / 2], std::log(2.0) / 4, 0.005);
}

TEST(Families, ClustersWithoutSpreadAreTheirCentres) {
  const Array<float> values = floats(ClustersFamily{3, 0, 1}, 1000, 1);
  std::vector<float> distinct(values.begin(), values.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  EXPECT_EQ(distinct.size(), 3u);
}

TEST(Families, LatticeHasTheKnownValues) {
  const Array<float> small = floats(LatticeFamily{256}, 257, 37);
  const float first[] = {181, 160, 250, 207, 35, 232};
  EXPECT_TRUE(std::equal(std::begin(first), std::end(first), small.begin()));
  EXPECT_EQ(std::accumulate(small.begin(), small.end(), 0.0), 1'205'413);
  const Array<float> wide = floats(LatticeFamily{64}, 513, 128);
  EXPECT_EQ(std::accumulate(wide.begin(), wide.end(), 0.0), 2'063'283);
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < 257; ++i) {
    for (std::size_t j = 0; j < 257; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 37; ++k) sum += std::pow(small[i * 37 + k] - small[j * 37 + k], 2);
      if (i < j && sum <= 554.0 * 554.0) ++pairs;
    }
  }
  EXPECT_EQ(pairs, 3253u);
}

TEST(Families, BinaryIsHalfOnes) {
  const Array<float> values = floats(BinaryFamily{}, 10'000, 64);
  double ones = 0;
  for (const float value : values) {
    ASSERT_TRUE(value == 0 || value == 1);
    ones += value;
  }
  EXPECT_NEAR(ones / values.size(), 0.5, 0.005);
}

/// Eigenvalues of the covariance, descending.
Eigen::VectorXd spectrum(const Array<float>& values, Eigen::Index columns) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Index n = static_cast<Eigen::Index>(values.size()) / columns;
  Eigen::MatrixXd x = Eigen::Map<const Rows>(values.data(), n, columns).cast<double>();
  x.rowwise() -= x.colwise().mean().eval();
  const Eigen::MatrixXd covariance = x.transpose() * x / static_cast<double>(n);
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(covariance).eigenvalues().reverse();
}

TEST(Families, EmbeddingHasItsSpectrum) {
  EmbeddingFamily family;
  family.rank = 8;
  family.decay = 1;
  family.noise = 0.1;
  const Eigen::VectorXd found = spectrum(floats(family, 20'000, 20), 20);
  double harmonic = 0;
  for (int k = 1; k <= 8; ++k) harmonic += 1.0 / k;
  for (int k = 0; k < 20; ++k) {
    const double expected = (k < 8 ? 0.9 / (k + 1) / harmonic : 0) + 0.1 / 20;
    EXPECT_NEAR(found[k], expected, 0.06 * expected) << k;
  }
}

TEST(Workloads, WordsHaveHalfOfTheirVarianceBeyondSixteenComponents) {
  const ThreadPool pool(2);
  const GeneratedPoints points = generate_workload("words100k50", std::nullopt, pool);
  const Eigen::VectorXd found = spectrum(std::get<Array<float>>(points.values), 50);
  EXPECT_NEAR(found.tail(34).sum() / found.sum(), 0.5, 0.02);
  // Slope of log variance over log k: the decay, flattened by the noise.
  EXPECT_NEAR(std::log(found[0] / found[31]) / std::log(32), 0.5, 0.1);
}

TEST(Families, RefuseParametersOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EmbeddingFamily rank, noise, decay, between;
  rank.rank = 4;
  noise.noise = 1.5;
  decay.decay = nan;
  between.between = -1;
  const Family bad[] = {UniformFamily{2, 1, 1},
                        UniformFamily{0, nan, 1},
                        UniformFamily{-1e308, 1e308, 1},
                        ExponentialFamily{0, 1},
                        ClustersFamily{0, 0.1, 1},
                        ClustersFamily{2, -1, 1},
                        LatticeFamily{0},
                        LatticeFamily{(1u << 24) + 1},
                        rank,
                        noise,
                        decay,
                        between};
  for (const Family& family : bad) EXPECT_THROW(digest(family, 3, 3), InvalidArgument) << family.index();
  EXPECT_THROW(digest(UniformFamily{}, 3, 0), InvalidArgument);
  EXPECT_THROW(digest(UniformFamily{}, std::uint64_t{1} << 62, 4), InvalidArgument);
  EXPECT_THROW(digest(UniformFamily{}, 3, 3, 1, DType::kInt8), InvalidArgument);
}

TEST(PortableMath, AgreesWithTheLibraryToAFewUlps) {
  for (double x = 1e-9; x < 1e6; x *= 1.37) {
    EXPECT_NEAR(portable_log(x), std::log(x), 1e-15 * (1 + std::abs(std::log(x)))) << x;
    EXPECT_NEAR(portable_exp(std::log(x)), x, 4e-15 * x * (1 + std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
  EXPECT_EQ(portable_exp(0.0), 1.0);
}

}  // namespace
}  // namespace rthiss::generate
