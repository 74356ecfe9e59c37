#include <limits>
#include <string>
#include <vector>

#include "support/lattice.hpp"
#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// Queries and points of different sizes, types, layouts and magnitudes.
namespace rthiss::test {
namespace {

struct Side {
  Rows rows;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kPlain;
};

struct Case {
  std::string name;
  std::size_t columns;
  Side points, queries;
  bool ignore = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Rows moved(Rows rows, double by) { return scaled_rows(std::move(rows), 1.0, by); }

std::vector<Case> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::vector<Case> all;
  all.push_back({"NoQueries", 3, {uniform_rows(65, 3, 0, 1)}, {{}}});
  all.push_back({"NoPoints", 3, {{}}, {uniform_rows(65, 3, 0, 1)}});
  all.push_back({"NothingAtAll", 3, {{}}, {{}}});
  for (const std::size_t m : {1, 31, 33, 64, 65, 200}) {
    all.push_back({"Queries" + std::to_string(m), 7, {clustered_rows(130, 7)}, {clustered_rows(m, 7, 0.05)}});
  }
  for (const std::size_t n : {1, 2, 31, 33, 64, 65, 200}) {
    all.push_back({"Points" + std::to_string(n), 7, {clustered_rows(n, 7)}, {clustered_rows(130, 7, 0.05)}});
  }
  all.push_back({"Wide", 150, {clustered_rows(130, 150)}, {clustered_rows(65, 150, 0.05)}});
  all.push_back({"Float64InFloat32", 5, {clustered_rows(130, 5)}, {clustered_rows(130, 5), DType::kFloat64}});
  all.push_back({"BytesInBytes", 70, {lattice(130, 70, 256), DType::kUInt8}, {lattice(65, 70, 200), DType::kUInt8}});
  all.push_back(
      {"SignedInBytes", 17, {lattice(130, 17, 256), DType::kUInt8}, {integer_rows(65, 17, -128, 128), DType::kInt8}});
  all.push_back(
      {"BytesInSigned", 17, {integer_rows(130, 17, -128, 128), DType::kInt8}, {lattice(65, 17, 256), DType::kUInt8}});
  all.push_back({"HalvesInBytes",
                 17,
                 {lattice(130, 17, 256), DType::kUInt8},
                 {scaled_rows(integer_rows(65, 17, 0, 256), 0.5), DType::kFloat32}});
  all.push_back({"BytesInHalves",
                 17,
                 {scaled_rows(integer_rows(65, 17, 0, 256), 0.5), DType::kFloat16},
                 {lattice(130, 17, 256), DType::kUInt8}});
  all.push_back(
      {"RealInBytes", 17, {lattice(130, 17, 256), DType::kUInt8}, {uniform_rows(65, 17, 0, 256), DType::kFloat64}});
  all.push_back(
      {"BoolInInt64", 40, {integer_rows(65, 40, 0, 2), DType::kInt64}, {integer_rows(65, 40, 0, 2, 9), DType::kBool}});
  all.push_back({"BytesTimes2To600",
                 5,
                 {scaled_rows(integer_rows(65, 5, 0, 256), 0x1p600), DType::kFloat64},
                 {scaled_rows(integer_rows(33, 5, 0, 256, 9), 0x1p600), DType::kFloat64}});
  all.push_back({"ZerosInHuge",
                 5,
                 {scaled_rows(integer_rows(65, 5, 0, 256), 0x1p900), DType::kFloat64},
                 {Rows(3, std::vector<double>(5, 0.0)), DType::kUInt8}});
  all.push_back({"FarQueries", 9, {clustered_rows(130, 9)}, {moved(clustered_rows(65, 9), 0x1p23), DType::kFloat64}});
  all.push_back({"FarPoints", 9, {moved(clustered_rows(130, 9), 1e9), DType::kFloat64}, {clustered_rows(65, 9)}});
  all.push_back({"HugeQueries",
                 9,
                 {clustered_rows(130, 9)},
                 {joined(scaled_rows(clustered_rows(32, 9), 1e300), clustered_rows(33, 9)), DType::kFloat64}});
  all.push_back({"HugePoints",
                 9,
                 {joined(scaled_rows(clustered_rows(65, 9), 1e300), clustered_rows(65, 9)), DType::kFloat64},
                 {clustered_rows(65, 9)}});
  all.push_back({"FloatMaxQueries",
                 140,
                 {clustered_rows(65, 140)},
                 {joined(scaled_rows(uniform_rows(33, 140, -1, 1), 3.4e38), clustered_rows(32, 140))}});
  all.push_back({"TinyQueries", 9, {clustered_rows(65, 9)}, {scaled_rows(uniform_rows(65, 9, -1, 1), 1e-44)}});
  all.push_back({"EqualRows", 6, {Rows(130, std::vector<double>(6, 0.1))}, {Rows(65, std::vector<double>(6, 0.1))}});
  all.push_back({"EqualRowsApart",
                 6,
                 {Rows(130, std::vector<double>(6, 0.1))},
                 {Rows(65, std::vector<double>(6, 0.7)), DType::kFloat64}});
  all.push_back({"Layouts",
                 7,
                 {clustered_rows(130, 7), DType::kFloat64, Layout::kFortran},
                 {clustered_rows(65, 7, 0.05), DType::kFloat32, Layout::kByteSwapped}});
  const auto broken = [kNaN](Rows rows) {
    return changed(std::move(rows), [kNaN](std::size_t i, std::size_t, double v) { return i % 5 == 2 ? kNaN : v; });
  };
  all.push_back({"IgnoredQueries", 3, {clustered_rows(130, 3)}, {broken(clustered_rows(65, 3, 0.05))}, true});
  all.push_back({"IgnoredPoints", 3, {broken(clustered_rows(130, 3))}, {clustered_rows(65, 3, 0.05)}, true});
  all.push_back(
      {"IgnoredBytes", 9, {broken(integer_rows(130, 9, 0, 256))}, {lattice(65, 9, 256), DType::kUInt8}, true});
  return all;
}

class SemiJoin : public testing::TestWithParam<Case> {};

TEST_P(SemiJoin, EqualsTheOracle) {
  const Case& c = GetParam();
  const TypedPoints points = typed_points(c.points.rows, c.columns, c.points.dtype, c.points.layout);
  const TypedPoints queries = typed_points(c.queries.rows, c.columns, c.queries.dtype, c.queries.layout);
  const PairTable table = euclidean_table(queries.values, points.values);
  static const std::vector<Way> ways = covering_ways();
  std::size_t next = std::hash<std::string>()(c.name) % ways.size();
  for (const double radius : telling_radii(table)) {
    for (int i = 0; i < 3; ++i) {
      Way way = ways[next++ % ways.size()];
      if (c.ignore) way.options.nonfinite = NonFinite::kIgnore;
      check_search(points.view, &queries.view, radius, way, table);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, SemiJoin, testing::ValuesIn(cases()), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rthiss::test
