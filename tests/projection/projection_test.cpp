#include "projection/projection.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/parallel.hpp"
#include "projection/project.hpp"
#include "support/pair_table.hpp"
#include "support/sample_rows.hpp"
#include "support/typed_points.hpp"

// The contract of ProjectedPoints on data where rounding is worst: no image brings two points farther apart than they
// are, but for the errors that it admits; and with all components, or the norms of the rests added, not nearer either.
namespace rthiss::test {
namespace {

struct Family {
  std::string name;
  Rows rows;
  DType dtype = DType::kFloat32;
  double radius = 1.0;
};

std::vector<Family> samples() {
  std::vector<Family> all;
  all.push_back({"uniform", uniform_rows(40, 9, -1, 1)});
  all.push_back({"wide", clustered_rows(40, 140)});
  all.push_back({"one column", uniform_rows(40, 1, -1, 1)});
  all.push_back({"fewer rows than columns", uniform_rows(5, 30, -1, 1)});
  all.push_back({"one row", uniform_rows(1, 4, -1, 1)});
  all.push_back({"far", scaled_rows(uniform_rows(40, 9, 0, 1), 1.0, 0x1p23)});
  all.push_back({"far float64", scaled_rows(uniform_rows(40, 9, 0, 1), 1.0, 0x1p40), DType::kFloat64, 0.1});
  all.push_back({"float max", scaled_rows(uniform_rows(40, 9, -1, 1), 3.4e38)});
  all.push_back({"float max wide", scaled_rows(uniform_rows(40, 120, -1, 1), 3.0e38)});
  all.push_back({"float max aside", changed(uniform_rows(40, 9, -1, 1), [](std::size_t i, std::size_t, double v) {
                   return i % 8 == 0 ? v * 3e38 : v;
                 })});
  all.push_back({"double max", scaled_rows(uniform_rows(40, 9, -1, 1), 1.7e308), DType::kFloat64, 1e300});
  all.push_back({"square of max", scaled_rows(uniform_rows(40, 9, -1, 1), 1e19)});
  all.push_back({"root of least", scaled_rows(uniform_rows(40, 9, -1, 1), 1e-23)});
  all.push_back({"subnormal", scaled_rows(integer_rows(40, 9, -40, 40), 0x1p-149)});
  all.push_back({"tiny, radius as tiny", scaled_rows(uniform_rows(40, 9, -1, 1), 1e-300), DType::kFloat64, 1e-300});
  all.push_back({"nearly dependent", changed(uniform_rows(40, 9, -1, 1), [](std::size_t i, std::size_t k, double v) {
                   return (static_cast<double>(i) - 20) * static_cast<double>(k + 1) + v * 1e-6;
                 })});
  all.push_back({"constant", Rows(40, std::vector<double>(9, 0.7))});
  all.push_back({"zero", Rows(40, std::vector<double>(9, 0.0))});
  all.push_back({"bytes", integer_rows(40, 70, 0, 256), DType::kUInt8, 10.0});
  all.push_back({"one outlier", changed(uniform_rows(40, 9, -1, 1), [](std::size_t i, std::size_t k, double v) {
                   return i == 7 && k == 3 ? 1e25 : v;
                 })});
  return all;
}

void check_contract(const ProjectedPoints& image, const FilterSpace& space, const PairTable& table, bool isometric) {
  const auto value = [&](std::size_t i, std::size_t k) { return image.values[i * image.stride + k]; };
  for (std::size_t i = 0; i < image.points; ++i) {
    for (std::size_t k = 0; k < image.stride; ++k) {
      ASSERT_TRUE(std::isfinite(value(i, k))) << i << ' ' << k;
      if (k >= image.width) {
        ASSERT_EQ(value(i, k), 0.0F);
      }
    }
    ASSERT_GE(image.error[i], 0.0F);
  }
  for (std::size_t i = 0; i < image.points; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const long double errors = static_cast<long double>(image.error[i]) + image.error[j];
      if (std::isinf(errors)) continue;
      long double squares = 0;
      for (std::size_t k = 0; k < image.components; ++k) {
        const long double difference = static_cast<long double>(value(i, k)) - value(j, k);
        squares += difference * difference;
      }
      long double near = squares, far = squares;
      if (image.width > image.components) {
        const long double a = value(i, image.components), b = value(j, image.components);
        near += (a - b) * (a - b);
        far += (a + b) * (a + b);
      }
      // The table's double is rounded once.
      const long double distance = static_cast<long double>(table.value(i, j)) * space.scale;
      const long double rounding = distance * 0x1p-52L;
      ASSERT_LE(std::sqrt(near) - errors, distance + rounding) << i << ' ' << j;
      if (isometric && !std::isinf(distance)) {
        ASSERT_GE(std::sqrt(far) + errors, distance - rounding) << i << ' ' << j;
      }
    }
  }
}

TEST(Projection, IsAContractionUpToItsErrors) {
  const ThreadPool pool(2);
  for (const Family& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const std::size_t d = sample.rows[0].size();
    const TypedPoints points = typed_points(sample.rows, d, sample.dtype);
    const Dataset data(points.view, NonFinite::kError, "points", pool);
    const FilterSpace space = FilterSpace::choose(data, nullptr, false, sample.radius, pool);
    const PairTable table = euclidean_table(points.values, points.values);
    const test::Rows& rows = points.values;
    ASSERT_EQ(rows.size(), data.rows());
    const rthiss::Sample drawn = draw_sample(data, space, 2048, 1, pool);
    for (const std::size_t components : {1, 3, 7, 15, 127}) {
      SCOPED_TRACE(components);
      std::vector<Projection> projections;
      projections.push_back(choose_coordinates(drawn, components, true));
      projections.push_back(choose_coordinates(drawn, components, false));
      projections.push_back(principal_components(drawn, components, 1, pool));
      for (const Projection& projection : projections) {
        SCOPED_TRACE(projection.name);
        const ProjectedPoints image = project_points(data, space, projection, pool);
        ASSERT_EQ(image.width, std::min(components, d) + (components < d ? 1 : 0));
        check_contract(image, space, table, true);
        if (HasFatalFailure()) return;
        for (const std::size_t fewer : {std::size_t{1}, image.components / 2}) {
          if (fewer == 0 || fewer >= image.components) continue;
          check_contract(shorten(image, fewer, pool), space, table, true);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Rows that take no part say nothing of the others.
TEST(Projection, SampleLeavesIgnoredRowsOut) {
  const ThreadPool pool(2);
  constexpr std::size_t kColumns = 5;
  for (const std::size_t n : {1, 2, 64, 65}) {
    for (const std::size_t kept_every : {1, 3, 1000}) {
      Rows rows = uniform_rows(n, kColumns, 1, 2);
      std::vector<std::uint64_t> live;
      for (std::size_t i = 0; i < n; ++i) {
        if (i % kept_every == kept_every - 1) {
          live.push_back(i);
        } else {
          rows[i][i % kColumns] = std::nan("");
        }
      }
      const TypedPoints points = typed_points(rows, kColumns, DType::kFloat64);
      const Dataset data(points.view, NonFinite::kIgnore, "points", pool);
      const FilterSpace space = FilterSpace::choose(data, nullptr, false, 1.0, pool);
      const rthiss::Sample drawn = draw_sample(data, space, 2048, 1, pool);
      ASSERT_EQ(drawn.rows, live.size());
      for (std::size_t i = 0; i < live.size(); ++i) {
        float image[kColumns];
        double scratch[kColumns];
        (void)space.load(data, live[i], image, scratch);
        for (std::size_t k = 0; k < kColumns; ++k) EXPECT_EQ(drawn.values[i * kColumns + k], image[k]);
      }
      const Projection projection = principal_components(drawn, 3, 1, pool);
      EXPECT_EQ(project_points(data, space, projection, pool).components, 3U);
    }
  }
}

// A bound that swallowed everything would pass the contract: on ordinary data it has to be small.
TEST(Projection, ErrorsAreSmallOnOrdinaryData) {
  const ThreadPool pool(1);
  for (const std::size_t d : {3, 17, 140}) {
    const TypedPoints points = typed_points(uniform_rows(200, d, -1, 1), d, DType::kFloat32);
    const Dataset data(points.view, NonFinite::kError, "points", pool);
    const FilterSpace space = FilterSpace::choose(data, nullptr, false, 0.5, pool);
    const rthiss::Sample drawn = draw_sample(data, space, 2048, 1, pool);
    const ProjectedPoints pca = project_points(data, space, principal_components(drawn, 2, 1, pool), pool);
    const ProjectedPoints plain = project_points(data, space, choose_coordinates(drawn, d, true), pool);
    for (std::size_t i = 0; i < data.rows(); ++i) {
      // Where next to nothing is left out, the norm of the rest is known to the root of a rounding only.
      EXPECT_LT(pca.error[i], d == 3 ? 1e-2 : 1e-3 * std::sqrt(static_cast<double>(d)));
      EXPECT_EQ(plain.error[i], 0.0F);
    }
  }
}

TEST(Projection, IgnoredRowsHaveNoImage) {
  const ThreadPool pool(1);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const TypedPoints points = typed_points(changed(uniform_rows(20, 5, -1, 1),
                                                    [](std::size_t i, std::size_t k, double v) {
                                                      return i == 4 ? std::nan("") : i == 9 && k == 2 ? -INFINITY : v;
                                                    }),
                                            5, dtype);
    const Dataset data(points.view, NonFinite::kIgnore, "points", pool);
    const FilterSpace space = FilterSpace::choose(data, nullptr, false, 0.5, pool);
    const rthiss::Sample drawn = draw_sample(data, space, 2048, 1, pool);
    for (const std::size_t components : {2, 5}) {
      for (const Projection& projection :
           {choose_coordinates(drawn, components, true), principal_components(drawn, components, 1, pool)}) {
        const ProjectedPoints image = project_points(data, space, projection, pool);
        for (std::size_t i = 0; i < 20; ++i) {
          for (std::size_t k = 0; k < image.stride; ++k) ASSERT_TRUE(std::isfinite(image.values[i * image.stride + k]));
        }
        EXPECT_TRUE(std::isinf(image.error[4]));
        EXPECT_TRUE(std::isinf(image.error[9]));
        EXPECT_TRUE(std::isfinite(image.error[5]));
      }
    }
  }
}

}  // namespace
}  // namespace rthiss::test
