#include <limits>
#include <string>
#include <vector>

#include "support/lattice.hpp"
#include "support/sample_rows.hpp"
#include "support/search_check.hpp"

// The same answer, and the right one, from every engine, index, preset, projection, number of threads, memory limit,
// tree height and instruction set, on data that filters get wrong.
namespace rthiss::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  std::string name;
  Rows rows;
  std::size_t columns;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kPlain;
  int ways = 3;  ///< for each radius
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Rows some_equal(std::size_t n, std::size_t d) {
  return changed(uniform_rows(n, d, -1, 1), [](std::size_t i, std::size_t k, double v) {
    return i % 2 == 0 ? 0.25 + static_cast<double>(k % 3) : v;
  });
}

Rows binary_rows(std::size_t n, std::size_t d) { return integer_rows(n, d, 0, 2); }

/// Wide rows of which some hold NaN or an infinity.
Rows broken_rows(Rows rows) {
  return changed(std::move(rows), [](std::size_t i, std::size_t k, double v) {
    if (i % 7 == 3) return kNaN;
    if (i % 11 == 5 && k == 0) return kInfinity;
    if (i % 13 == 6) return -kInfinity;
    return v;
  });
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string name, Rows rows, DType dtype = DType::kFloat32, Layout layout = Layout::kPlain,
                       int ways = 3) {
    const std::size_t columns = rows.empty() ? 3 : rows[0].size();
    all.push_back({std::move(name), std::move(rows), columns, dtype, layout, ways});
  };
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 130, 300}) {
    add("Rows" + std::to_string(n), uniform_rows(n, 3, -1, 1), n % 2 == 0 ? DType::kFloat32 : DType::kFloat64);
  }
  for (const std::size_t d : {1, 2, 3, 7, 15, 16, 17, 33, 64, 100, 130, 200}) {
    add("Columns" + std::to_string(d), clustered_rows(97, d), d % 2 == 0 ? DType::kFloat32 : DType::kFloat64,
        Layout::kPlain, 2);
  }
  add("ClusteredFloat32", clustered_rows(300, 17));
  add("ClusteredFloat64", clustered_rows(300, 33), DType::kFloat64);
  add("FarFromOriginFloat32", scaled_rows(uniform_rows(130, 7, 0, 16), 1.0, 0x1p23));
  add("FarFromOriginFloat64", scaled_rows(uniform_rows(130, 17, 0, 1), 1.0, 0x1p23), DType::kFloat64);
  add("VeryFarFromOrigin", scaled_rows(uniform_rows(65, 5, 0, 1), 1.0, 0x1p50), DType::kFloat64);
  add("TinyFloat32", scaled_rows(uniform_rows(130, 7, -1, 1), 0x1p-80));
  add("TinyFloat64", scaled_rows(uniform_rows(130, 17, -1, 1), 0x1p-80), DType::kFloat64);
  add("HugeFloat32", scaled_rows(uniform_rows(130, 7, -1, 1), 0x1p70));
  add("HugeFloat64", scaled_rows(uniform_rows(130, 17, -1, 1), 0x1p70), DType::kFloat64);
  add("NearFloatMax", scaled_rows(uniform_rows(65, 7, -1, 1), 3e38));
  add("NearFloatMaxWide", scaled_rows(uniform_rows(65, 140, -1, 1), 3e38), DType::kFloat32, Layout::kPlain, 2);
  add("SmallBesideFloatMax", changed(uniform_rows(130, 9, -1, 1), [](std::size_t i, std::size_t, double v) {
        return i % 4 == 0 ? 3.4e38 * (v > 0 ? 1 : -1) : v;
      }));
  add("Scale1e300", scaled_rows(uniform_rows(65, 7, -1, 1), 1e300), DType::kFloat64);
  add("Scale1e-300", scaled_rows(uniform_rows(65, 7, -1, 1), 1e-300), DType::kFloat64);
  add("NearDoubleMax", scaled_rows(uniform_rows(33, 5, -1, 1), 1.7e308), DType::kFloat64);
  add("SubnormalFloat32", scaled_rows(integer_rows(65, 3, -40, 40), 0x1p-149));
  add("SubnormalFloat64", scaled_rows(integer_rows(65, 3, -40, 40), 0x1p-1074), DType::kFloat64);
  add("BelowFloat32",
      changed(integer_rows(65, 4, 0, 3), [](std::size_t, std::size_t k, double v) { return k == 3 ? v * 1e-170 : v; }),
      DType::kFloat64);
  add("FinerThanFloat32", scaled_rows(uniform_rows(130, 4, 0, 0x1p-30), 1.0, 1.0), DType::kFloat64);
  add("StepsOfEight",
      changed(Rows(130, std::vector<double>(1)),
              [](std::size_t i, std::size_t, double) { return 1654272000.0 + 8.0 * static_cast<double>(i); }),
      DType::kFloat64);
  add("MixedMagnitudes", changed(uniform_rows(130, 13, -1, 1), [](std::size_t, std::size_t k, double v) {
        return std::ldexp(v, static_cast<int>(k) * 10 - 60);
      }));
  add("MixedMagnitudesFloat64",
      changed(uniform_rows(33, 9, -1, 1),
              [](std::size_t, std::size_t k, double v) { return std::ldexp(v, static_cast<int>(k) * 100 - 400); }),
      DType::kFloat64);
  add("ConstantColumns",
      changed(uniform_rows(130, 20, -1, 1), [](std::size_t, std::size_t k, double v) { return k % 3 == 0 ? v : 7.0; }));
  add("OneFarOutlier", changed(uniform_rows(130, 7, -1, 1),
                               [](std::size_t i, std::size_t k, double v) { return i == 70 && k == 2 ? 1e30 : v; }));
  add("AllEqual", Rows(130, std::vector<double>(5, 0.3)));
  add("AllEqualWide", Rows(65, std::vector<double>(150, 0.3)), DType::kFloat64);
  add("AllZero", Rows(130, std::vector<double>(5, 0.0)));
  add("HalfEqual", some_equal(300, 6));
  add("HalfEqualWide", some_equal(130, 140), DType::kFloat32, Layout::kPlain, 2);
  add("NegativeZeros", changed(integer_rows(65, 3, 0, 2),
                               [](std::size_t i, std::size_t, double v) { return v == 0 && i % 2 == 0 ? -0.0 : v; }));

  add("LatticeUInt8", lattice(257, 37, 256), DType::kUInt8);
  add("LatticeFloat32", lattice(257, 37, 256));
  add("LatticeWideUInt8", lattice(130, 200, 256), DType::kUInt8, Layout::kPlain, 2);
  add("LatticeWideFloat64", lattice(130, 130, 64), DType::kFloat64, Layout::kPlain, 2);
  add("LatticeSmall", integer_rows(300, 4, 0, 5), DType::kFloat64);
  add("BinaryFloat32", binary_rows(300, 64));
  add("BinaryUInt8", binary_rows(300, 64), DType::kUInt8);
  add("Bool", binary_rows(130, 33), DType::kBool);
  add("Int8", integer_rows(130, 17, -128, 128), DType::kInt8);
  add("Int16", integer_rows(130, 17, -32768, 32768), DType::kInt16);
  add("UInt16", integer_rows(130, 17, 0, 65536), DType::kUInt16);
  add("Int32", integer_rows(130, 9, -2147483648.0, 2147483648.0), DType::kInt32);
  add("UInt32", scaled_rows(integer_rows(65, 9, 0, 100), 1.0, 4294967000.0), DType::kUInt32);
  add("Int64", integer_rows(65, 5, -0x1p53, 0x1p53), DType::kInt64);
  add("Int64FarSmall", scaled_rows(integer_rows(130, 5, 0, 50), 1.0, 0x1p52), DType::kInt64);
  add("UInt64", integer_rows(65, 5, 0, 0x1p53), DType::kUInt64);
  add("Float16", scaled_rows(integer_rows(130, 9, -128, 128), 1.0 / 64), DType::kFloat16);
  add("BFloat16", uniform_rows(130, 9, -8, 8), DType::kBFloat16);
  add("BytesTimes2To600", scaled_rows(integer_rows(130, 5, 0, 256), 0x1p600), DType::kFloat64);
  add("BytesTimes2To-530", scaled_rows(integer_rows(130, 5, 0, 256), 0x1p-530), DType::kFloat64);
  add("BytesTimes2To-600", scaled_rows(integer_rows(65, 5, 0, 256), 0x1p-600), DType::kFloat64);
  add("IntegersTimes2To1000", scaled_rows(integer_rows(65, 5, -500, 500), 0x1p1000), DType::kFloat64);

  add("ReversedRows", clustered_rows(130, 7), DType::kFloat32, Layout::kReversed);
  add("Strided", clustered_rows(130, 7), DType::kFloat32, Layout::kStrided);
  add("StridedFloat64", clustered_rows(130, 7), DType::kFloat64, Layout::kStrided);
  add("Fortran", clustered_rows(130, 7), DType::kFloat32, Layout::kFortran);
  add("FortranUInt8", lattice(130, 37, 256), DType::kUInt8, Layout::kFortran);
  add("ByteSwappedFloat32", clustered_rows(130, 7), DType::kFloat32, Layout::kByteSwapped);
  add("ByteSwappedFloat64", clustered_rows(130, 7), DType::kFloat64, Layout::kByteSwapped);
  add("ByteSwappedInt16", integer_rows(130, 7, -300, 300), DType::kInt16, Layout::kByteSwapped);

  add("IgnoredRowsFloat32", broken_rows(clustered_rows(130, 3)));
  add("IgnoredRowsFloat64", broken_rows(clustered_rows(130, 9)), DType::kFloat64);
  add("IgnoredRowsWide", broken_rows(clustered_rows(130, 140)), DType::kFloat32, Layout::kPlain, 2);
  add("IgnoredRowsBytes", broken_rows(integer_rows(130, 9, 0, 256)));
  add("IgnoredRowsEqual", broken_rows(Rows(130, std::vector<double>(4, 1.5))));
  add("IgnoredAll", changed(uniform_rows(65, 3, 0, 1), [](std::size_t, std::size_t, double) { return kNaN; }));
  return all;
}

class SelfJoin : public testing::TestWithParam<Case> {};

TEST_P(SelfJoin, EqualsTheOracle) {
  const Case& c = GetParam();
  const TypedPoints points = typed_points(c.rows, c.columns, c.dtype, c.layout);
  const PairTable table = euclidean_table(points.values, points.values);

  // The table itself, against the definition.
  for (std::size_t i = 0; i + 1 < table.points; i += 1 + table.points / 8) {
    const std::vector<double>&x = points.values[i], &y = points.values[table.points - 1 - i / 2];
    if (!takes_part(x) || !takes_part(y)) continue;
    ASSERT_EQ(table.value(i, table.points - 1 - i / 2), oracle_distance(x.data(), y.data(), c.columns));
  }

  static const std::vector<Way> ways = covering_ways();
  std::size_t next = std::hash<std::string>()(c.name) % ways.size();
  for (const double radius : telling_radii(table)) {
    for (int i = 0; i < c.ways; ++i) {
      Way way = ways[next++ % ways.size()];
      if (c.name.starts_with("Ignored")) way.options.nonfinite = NonFinite::kIgnore;
      check_search(points.view, nullptr, radius, way, table);
      if (HasFatalFailure()) return;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', 'm');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Data, SelfJoin, testing::ValuesIn(cases()), name_of_case);

// Every combination of engine, index, preset and projection at least once, on data with ties and a rest.
TEST(SelfJoinWays, AllCombinationsOfTheMainChoices) {
  const TypedPoints points =
      typed_points(joined(clustered_rows(90, 130, 0.1), some_equal(60, 130)), 130, DType::kFloat32);
  const PairTable table = euclidean_table(points.values, points.values);
  const std::vector<double> distances = table.distinct();
  const double radius = distances[distances.size() / 5];
  for (const std::string& engine : tested_engines()) {
    for (const std::string& index : tested_indexes()) {
      for (const char* preset : {"auto", "paper"}) {
        for (const char* projection : {"auto", "none", "variance", "pca"}) {
          if (std::string(preset) == "paper" && std::string(projection) == "pca") continue;
          Way way;
          way.options.engine = engine;
          way.options.index = index;
          way.options.preset = preset;
          way.options.projection = projection;
          way.options.threads = 2;
          way.options.distances = true;
          check_search(points.view, nullptr, radius, way, table);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rthiss::test
