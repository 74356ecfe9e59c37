#include <limits>
#include <string>
#include <vector>

#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

namespace rthiss::test {
namespace {

struct Case {
  std::string name;
  Rows rows;
  DType dtype = DType::kFloat32;
  bool ignore = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> cases() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  std::vector<Case> all;
  all.push_back({"Uniform", uniform_rows(33, 5, -1, 1)});
  all.push_back({"OneColumn", uniform_rows(33, 1, -1, 1), DType::kFloat64});
  all.push_back({"Positive", uniform_rows(65, 3, 0.5, 1), DType::kFloat64});
  all.push_back({"SmallIntegers",
                 changed(integer_rows(33, 3, -3, 4),
                         [](std::size_t, std::size_t k, double v) { return k == 0 && v == 0 ? 1.0 : v; }),
                 DType::kInt8});
  all.push_back({"NearlyParallel",
                 changed(uniform_rows(33, 4, -1e-9, 1e-9),
                         [](std::size_t, std::size_t k, double v) { return static_cast<double>(k + 1) + v; }),
                 DType::kFloat64});
  all.push_back(
      {"ManyLengths",
       changed(uniform_rows(33, 3, -1, 1),
               [](std::size_t i, std::size_t, double v) { return std::ldexp(v, static_cast<int>(i) * 55 - 800); }),
       DType::kFloat64});
  all.push_back({"Subnormal",
                 changed(integer_rows(17, 3, -9, 9),
                         [](std::size_t, std::size_t k, double v) { return (k == 0 && v == 0 ? 1.0 : v) * 0x1p-1074; }),
                 DType::kFloat64});
  all.push_back({"EqualDirections", changed(Rows(65, std::vector<double>(3)), [](std::size_t i, std::size_t k, double) {
                   return static_cast<double>((i % 5 + 1) * (k + 1));
                 })});
  all.push_back({"ZeroAndBrokenRows",
                 changed(uniform_rows(40, 3, -1, 1),
                         [=](std::size_t i, std::size_t, double v) {
                           return i % 6 == 1 ? 0.0 : i % 6 == 4 ? kNaN : v;
                         }),
                 DType::kFloat32, true});
  return all;
}

class CosineJoin : public testing::TestWithParam<Case> {};

TEST_P(CosineJoin, EqualsTheOracle) {
  const Case& c = GetParam();
  const TypedPoints points = typed_points(c.rows, c.rows[0].size(), c.dtype);
  static const std::vector<Way> ways = covering_ways();
  std::size_t next = std::hash<std::string>()(c.name) % ways.size();
  for (const bool similarity : {true, false}) {
    const PairTable table = cosine_table(points.values, similarity);
    std::vector<double> limits;
    const std::vector<double> values = table.distinct();
    for (const double share : {0.05, 0.5, 0.9}) {
      const double value = values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
      limits.push_back(value);
      limits.push_back(std::nextafter(value, similarity ? std::min(1.0, value + 1) : 4.0));
      if (similarity || value > 0) limits.push_back(std::nextafter(value, similarity ? -1.0 : 0.0));
    }
    limits.insert(limits.end(), {0.0, 1.0});
    if (similarity) limits.push_back(-1.0);
    if (!similarity) limits.insert(limits.end(), {2.0, std::numeric_limits<double>::infinity()});
    for (const double limit : limits) {
      for (int i = 0; i < 2; ++i) {
        Way way = ways[next++ % ways.size()];
        way.options.metric.kind = similarity ? Metric::Kind::kCosineSimilarity : Metric::Kind::kCosineDistance;
        if (c.ignore) way.options.nonfinite = NonFinite::kIgnore;
        check_search(points.view, nullptr, limit, way, table);
        if (HasFatalFailure()) return;
        const PointsView queries = points.view;
        check_search(points.view, &queries, limit, way, table);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Data, CosineJoin, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rthiss::test
