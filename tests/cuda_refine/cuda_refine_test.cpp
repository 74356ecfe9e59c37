#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/lattice.hpp"
#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// Refinement on the device against the exact oracle, on data that the float16 filter, its limits and its tiles get
// wrong: sizes around a tile, few and many columns, ties, far from the origin, tiny and huge magnitudes.
namespace rthiss::test {
namespace {

/// Why engine "cuda" cannot be used here; empty where it can.
std::string why_not() {
  for (const Availability& engine : engines()) {
    if (engine.name == "cuda") return engine.available ? "" : engine.detail;
  }
  return "not built";
}

class CudaRefine : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(); !reason.empty()) GTEST_SKIP() << "engine cuda: " << reason;
  }
};

Way cuda_way(const std::string& preset, Output output, bool include_self) {
  Way way;
  way.options.engine = "cuda";
  way.options.preset = preset;
  way.options.include_self = include_self;
  way.options.nonfinite = NonFinite::kIgnore;
  way.output = output;
  return way;
}

/// Both presets, lists and counts, at radii on distances, one ulp below and in between.
void check_all(const Rows& rows, std::size_t columns, DType dtype, std::size_t radii = 3) {
  const TypedPoints points = typed_points(rows, columns, dtype, Layout::kPlain);
  const PairTable table = euclidean_table(points.values, points.values);
  const std::vector<double> distances = table.distinct();
  std::vector<double> wanted = {0.0};
  for (std::size_t i = 0; i < radii && !distances.empty(); ++i) {
    const double distance = distances[(distances.size() - 1) * (i + 1) / (4 * radii)];
    wanted.push_back(distance);
    wanted.push_back(std::nextafter(distance, 0.0));
  }
  if (!distances.empty()) wanted.push_back(distances.back());
  for (const double radius : wanted) {
    check_search(points.view, nullptr, radius, cuda_way("auto", Output::kLists, false), table);
    check_search(points.view, nullptr, radius, cuda_way("auto", Output::kCounts, true), table);
    check_search(points.view, nullptr, radius, cuda_way("paper", Output::kLists, true), table);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(CudaRefine, SizesAroundATile) {
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300}) {
    SCOPED_TRACE(n);
    check_all(uniform_rows(n, 5, -1, 1), 5, DType::kFloat32, 1);
  }
}

TEST_F(CudaRefine, FewAndManyColumns) {
  for (const std::size_t d : {4, 7, 15, 16, 17, 31, 32, 33, 48, 64, 65, 100, 128, 200, 784}) {
    SCOPED_TRACE(d);
    check_all(clustered_rows(97, d, 0.3), d, d % 2 == 0 ? DType::kFloat32 : DType::kFloat64, 1);
  }
}

TEST_F(CudaRefine, ManyMoreColumns) { check_all(clustered_rows(66, 4096, 0.3), 4096, DType::kFloat32, 1); }

TEST_F(CudaRefine, Ties) {
  check_all(lattice(257, 37, 256), 37, DType::kUInt8);
  check_all(integer_rows(300, 5, 0, 4), 5, DType::kFloat64);
  check_all(integer_rows(300, 64, 0, 2), 64, DType::kFloat32);
  check_all(integer_rows(130, 17, -32768, 32768), 17, DType::kInt16);
}

TEST_F(CudaRefine, EqualRows) {
  check_all(Rows(130, std::vector<double>(5, 0.3)), 5, DType::kFloat32, 1);
  check_all(joined(Rows(100, std::vector<double>(20, 0.3)), uniform_rows(100, 20, 0, 1)), 20, DType::kFloat64, 1);
}

TEST_F(CudaRefine, FarFromTheOriginAndFarApart) {
  check_all(scaled_rows(uniform_rows(130, 7, 0, 16), 1.0, 0x1p23), 7, DType::kFloat32);
  check_all(scaled_rows(uniform_rows(130, 17, 0, 1), 1.0, 0x1p23), 17, DType::kFloat64);
  // Clusters of which one number of float16 a column tells nothing, and two little.
  check_all(clustered_rows(200, 9, 1e-4), 9, DType::kFloat32);
  check_all(clustered_rows(200, 40, 1e-6), 40, DType::kFloat64);
}

TEST_F(CudaRefine, Magnitudes) {
  check_all(scaled_rows(uniform_rows(130, 7, -1, 1), 0x1p-80), 7, DType::kFloat32, 1);
  check_all(scaled_rows(uniform_rows(130, 7, -1, 1), 0x1p70), 7, DType::kFloat32, 1);
  check_all(scaled_rows(uniform_rows(65, 7, -1, 1), 3e38), 7, DType::kFloat32, 1);
  check_all(scaled_rows(uniform_rows(65, 7, -1, 1), 1e300), 7, DType::kFloat64, 1);
  check_all(scaled_rows(uniform_rows(65, 7, -1, 1), 1e-300), 7, DType::kFloat64, 1);
  check_all(scaled_rows(integer_rows(65, 5, -40, 40), 0x1p-149), 5, DType::kFloat32, 1);
  check_all(changed(uniform_rows(130, 9, -1, 1),
                    [](std::size_t i, std::size_t k, double v) { return i == 70 && k == 2 ? 1e30 : v; }),
            9, DType::kFloat32);
  check_all(changed(uniform_rows(130, 13, -1, 1),
                    [](std::size_t, std::size_t k, double v) { return std::ldexp(v, static_cast<int>(k) * 10 - 60); }),
            13, DType::kFloat32);
}

TEST_F(CudaRefine, IgnoredRows) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  check_all(changed(clustered_rows(130, 9), [](std::size_t i, std::size_t, double v) { return i % 7 == 3 ? kNaN : v; }),
            9, DType::kFloat32, 1);
}

TEST_F(CudaRefine, LargerSetsAgreeWithTheCpu) {
  const TypedPoints points = typed_points(clustered_rows(6000, 12, 0.2), 12, DType::kFloat32, Layout::kPlain);
  const TypedPoints queries = typed_points(clustered_rows(3000, 12, 0.2, 9), 12, DType::kFloat32, Layout::kPlain);
  for (const char* preset : {"auto", "paper"}) {
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{24} << 20}) {
      SCOPED_TRACE(std::string(preset) + " " + std::to_string(limit));
      SearchOptions cpu, cuda;
      cpu.engine = "cpu";
      cuda.engine = "cuda";
      cuda.preset = preset;
      cuda.device_memory_limit = limit;
      Searcher right(points.view, cpu), searcher(points.view, cuda);
      for (const double radius : {0.25, 0.4}) {
        const NeighborLists expected = right.self_join(radius), found = searcher.self_join(radius);
        ASSERT_TRUE(std::equal(expected.begin.begin(), expected.begin.end(), found.begin.begin(), found.begin.end()));
        ASSERT_TRUE(std::equal(expected.ids.begin(), expected.ids.end(), found.ids.begin(), found.ids.end()));
        const NeighborLists expected_of = right.radius_search(queries.view, radius);
        const NeighborLists found_of = searcher.radius_search(queries.view, radius);
        ASSERT_TRUE(std::equal(expected_of.begin.begin(), expected_of.begin.end(), found_of.begin.begin(),
                               found_of.begin.end()));
        ASSERT_TRUE(
            std::equal(expected_of.ids.begin(), expected_of.ids.end(), found_of.ids.begin(), found_of.ids.end()));
      }
    }
  }
}

}  // namespace
}  // namespace rthiss::test
