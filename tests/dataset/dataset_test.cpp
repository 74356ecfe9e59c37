#include "dataset/dataset.hpp"

#include <rthiss/errors.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/parallel.hpp"

namespace rthiss {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const ThreadPool& pool() {
  static const ThreadPool instance(2);
  return instance;
}

Dataset make(const PointsView& view, NonFinite policy = NonFinite::kError) { return {view, policy, "points", pool()}; }

std::string error_of(const PointsView& view, NonFinite policy = NonFinite::kError) {
  try {
    (void)make(view, policy);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

std::vector<double> row_of(const Dataset& data, std::uint64_t i) {
  std::vector<double> row(data.columns());
  data.read_row(i, row.data());
  return row;
}

template <typename T>
void swap_bytes(std::vector<T>& values) {
  for (T& v : values) {
    auto* bytes = reinterpret_cast<unsigned char*>(&v);
    std::reverse(bytes, bytes + sizeof(T));
  }
}

template <typename T>
class DatasetOfType : public testing::Test {
 public:
  static DType dtype() {
    if constexpr (std::is_same_v<T, bool>) return DType::kBool;
    if constexpr (std::is_same_v<T, std::int8_t>) return DType::kInt8;
    if constexpr (std::is_same_v<T, std::uint8_t>) return DType::kUInt8;
    if constexpr (std::is_same_v<T, std::int16_t>) return DType::kInt16;
    if constexpr (std::is_same_v<T, std::uint16_t>) return DType::kUInt16;
    if constexpr (std::is_same_v<T, std::int32_t>) return DType::kInt32;
    if constexpr (std::is_same_v<T, std::uint32_t>) return DType::kUInt32;
    if constexpr (std::is_same_v<T, std::int64_t>) return DType::kInt64;
    if constexpr (std::is_same_v<T, std::uint64_t>) return DType::kUInt64;
    if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
    return DType::kFloat64;
  }
};
using Types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(DatasetOfType, Types);

// Every layout of one array: the values read must be those that were put in.
TYPED_TEST(DatasetOfType, LayoutsAndByteOrders) {
  using T = TypeParam;
  constexpr std::int64_t kItem = sizeof(T);
  const DType dtype = TestFixture::dtype();
  for (const std::uint64_t rows : {1, 2, 33, 700}) {
    for (const std::uint64_t columns : {1, 3, 17, 64}) {
      std::vector<T> values(rows * columns);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 37 % 101);
      values[values.size() / 2] = std::numeric_limits<T>::digits <= 32 ? std::numeric_limits<T>::lowest() : T(7);
      const auto item = [&](std::uint64_t i, std::uint64_t j) { return static_cast<double>(values[i * columns + j]); };
      double max_abs = 0;
      for (const T& v : values) max_abs = std::max(max_abs, std::fabs(static_cast<double>(v)));

      const auto check = [&](const PointsView& view,
                             const std::function<double(std::uint64_t, std::uint64_t)>& expected) {
        const Dataset data = make(view);
        ASSERT_EQ(data.rows(), rows);
        ASSERT_EQ(data.grid().max_abs, max_abs);
        for (std::uint64_t i = 0; i < rows; ++i) {
          const std::vector<double> row = row_of(data, i);
          for (std::uint64_t j = 0; j < columns; ++j) {
            ASSERT_EQ(row[j], expected(i, j));
            ASSERT_EQ(data.value(i, j), expected(i, j));
          }
        }
      };
      const auto n = static_cast<std::int64_t>(rows);
      const auto d = static_cast<std::int64_t>(columns);
      check(PointsView::row_major(values.data(), rows, columns, dtype), item);
      // Rows and columns reversed.
      check({values.data() + (n - 1) * d, rows, columns, dtype, -d * kItem, kItem, false},
            [&](auto i, auto j) { return item(rows - 1 - i, j); });
      check({values.data() + d - 1, rows, columns, dtype, d * kItem, -kItem, false},
            [&](auto i, auto j) { return item(i, columns - 1 - j); });
      // Fortran order, padded rows at an odd address.
      std::vector<T> transposed(values.size());
      for (std::uint64_t i = 0; i < rows; ++i) {
        for (std::uint64_t j = 0; j < columns; ++j) transposed[j * rows + i] = values[i * columns + j];
      }
      check({transposed.data(), rows, columns, dtype, kItem, n * kItem, false}, item);
      const std::int64_t padded = d * kItem + 3;
      std::vector<char> bytes(static_cast<std::size_t>(n * padded) + 1);
      for (std::int64_t i = 0; i < n; ++i) {
        std::memcpy(bytes.data() + 1 + i * padded, values.data() + i * d, static_cast<std::size_t>(d * kItem));
      }
      check({bytes.data() + 1, rows, columns, dtype, padded, kItem, false}, item);
      std::vector<char> unaligned(values.size() * sizeof(T) + 1);
      std::memcpy(unaligned.data() + 1, values.data(), values.size() * sizeof(T));
      check({unaligned.data() + 1, rows, columns, dtype, d * kItem, kItem, false}, item);
      const std::vector<T> copy = values;
      std::vector<T> swapped = values;
      swap_bytes(swapped);
      check({swapped.data(), rows, columns, dtype, d * kItem, kItem, true}, item);
      EXPECT_EQ(copy, values);
    }
  }
}

TEST(Dataset, BroadcastViews) {
  const float values[] = {1.5F, 2.5F, 3.5F};
  const Dataset same_rows = make({values, 5, 3, DType::kFloat32, 0, 4, false});
  EXPECT_EQ(row_of(same_rows, 4), (std::vector<double>{1.5, 2.5, 3.5}));
  const Dataset same_columns = make({values, 3, 2, DType::kFloat32, 4, 0, false});
  EXPECT_EQ(row_of(same_columns, 1), (std::vector<double>{2.5, 2.5}));
}

TEST(Dataset, BoolIsZeroOrOne) {
  const std::uint8_t values[] = {0, 1, 2, 255};
  const Dataset data = make(PointsView::row_major(values, 2, 2, DType::kBool));
  EXPECT_EQ(row_of(data, 0), (std::vector<double>{0, 1}));
  EXPECT_EQ(row_of(data, 1), (std::vector<double>{1, 1}));
}

// All 65,536 patterns of both half-precision types against the definition of the formats.
TEST(Dataset, HalfPrecisionWidensExactly) {
  std::vector<std::uint16_t> half;
  std::vector<std::uint16_t> brain;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7C00U) != 0x7C00U) half.push_back(static_cast<std::uint16_t>(bits));
    if ((bits & 0x7F80U) != 0x7F80U) brain.push_back(static_cast<std::uint16_t>(bits));
  }
  const auto expected = [](std::uint16_t bits, int fraction_bits, int bias) {
    const int exponent = (bits & 0x7FFF) >> fraction_bits;
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                                 : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
  };
  const Dataset halves = make(PointsView::row_major(half.data(), half.size(), 1, DType::kFloat16));
  for (std::size_t i = 0; i < half.size(); ++i) {
    ASSERT_EQ(halves.value(i, 0), expected(half[i], 10, 15)) << half[i];
    ASSERT_EQ(std::signbit(halves.value(i, 0)), half[i] >= 0x8000);
  }
  EXPECT_EQ(halves.grid().max_abs, 65504.0);
  EXPECT_TRUE(halves.grid().on_grid);
  EXPECT_EQ(halves.grid().exponent, -24);
  const Dataset brains = make(PointsView::row_major(brain.data(), brain.size(), 1, DType::kBFloat16));
  for (std::size_t i = 0; i < brain.size(); ++i) ASSERT_EQ(brains.value(i, 0), expected(brain[i], 7, 127)) << brain[i];

  for (const std::uint16_t bad : {0x7C00, 0xFC00, 0x7E00, 0x7C01}) {
    const std::uint16_t values[] = {0, bad};
    EXPECT_THAT(error_of(PointsView::row_major(values, 1, 2, DType::kFloat16)), HasSubstr("row 0, column 1"));
  }
  for (const std::uint16_t bad : {0x7F80, 0xFF80, 0x7FC0, 0x7F81}) {
    const std::uint16_t values[] = {0, bad};
    EXPECT_THAT(error_of(PointsView::row_major(values, 1, 2, DType::kBFloat16)), HasSubstr("row 0, column 1"));
  }
}

template <typename Real>
void check_first_bad(DType dtype) {
  std::mt19937 random(7);
  for (const std::uint64_t columns : {1, 5, 100, 5000}) {
    const std::uint64_t rows = 2'000'000 / columns;
    std::vector<Real> values(rows * columns, Real(0.1));
    std::vector<std::uint64_t> bad(5);
    for (auto& at : bad) at = random() % values.size();
    for (const auto at : bad)
      values[at] = at % 2 == 0 ? std::numeric_limits<Real>::quiet_NaN() : -std::numeric_limits<Real>::infinity();
    const std::uint64_t first = *std::min_element(bad.begin(), bad.end());
    const std::string place = fmt::format("points: row {}, column {} ", first / columns, first % columns);
    EXPECT_THAT(error_of(PointsView::row_major(values.data(), rows, columns, dtype)), HasSubstr(place));

    const Dataset data = make(PointsView::row_major(values.data(), rows, columns, dtype), NonFinite::kIgnore);
    std::vector<std::uint32_t> expected;
    for (const auto at : bad) expected.push_back(static_cast<std::uint32_t>(at / columns));
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    EXPECT_EQ(std::vector<std::uint32_t>(data.ignored_rows().begin(), data.ignored_rows().end()), expected);
    EXPECT_EQ(data.grid().max_abs, static_cast<double>(Real(0.1)));
    EXPECT_TRUE(data.grid().on_grid);
  }
}

TEST(Dataset, NamesTheFirstBadValueWhateverTheThreads) {
  check_first_bad<float>(DType::kFloat32);
  check_first_bad<double>(DType::kFloat64);
}

TEST(Dataset, AnIgnoredRowLeavesNoTrace) {
  const double nan = std::nan("");
  const double values[] = {1, 2, 0.1, nan, HUGE_VAL, 1e300, 3, 4};
  const Dataset data = make(PointsView::row_major(values, 4, 2), NonFinite::kIgnore);
  EXPECT_THAT(data.ignored_rows(), testing::ElementsAre(1U, 2U));
  EXPECT_EQ(data.grid().max_abs, 4.0);
  EXPECT_TRUE(data.grid().on_grid);
  EXPECT_EQ(data.grid().exponent, 0);
  EXPECT_EQ(data.grid().max_steps, 4.0);
}

TEST(Dataset, Integers64UpTo2To53) {
  const std::int64_t limit = std::int64_t{1} << 53;
  std::vector<std::int64_t> values = {limit, -limit, 0, 1};
  EXPECT_EQ(row_of(make(PointsView::row_major(values.data(), 2, 2, DType::kInt64)), 0),
            (std::vector<double>{0x1p53, -0x1p53}));
  for (const std::int64_t bad :
       {limit + 1, -limit - 1, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    values[3] = bad;
    const PointsView view = PointsView::row_major(values.data(), 2, 2, DType::kInt64);
    for (const NonFinite policy : {NonFinite::kError, NonFinite::kIgnore}) {
      EXPECT_THAT(error_of(view, policy), AllOf(HasSubstr("points: row 1, column 1"), HasSubstr(std::to_string(bad))));
    }
  }
  const std::uint64_t unsigned_values[] = {1ULL << 53, (1ULL << 53) + 1};
  EXPECT_EQ(row_of(make(PointsView::row_major(unsigned_values, 1, 1, DType::kUInt64)), 0),
            (std::vector<double>{0x1p53}));
  EXPECT_THAT(error_of(PointsView::row_major(unsigned_values, 2, 1, DType::kUInt64)),
              AllOf(HasSubstr("row 1, column 0"), HasSubstr("9007199254740993")));
}

TEST(Dataset, Shapes) {
  const float value = 1.0F;
  EXPECT_EQ(make(PointsView::row_major(static_cast<const float*>(nullptr), 0, 3)).rows(), 0U);
  EXPECT_THAT(error_of(PointsView::row_major(&value, 0, 0)), HasSubstr("points: no columns"));
  EXPECT_THAT(error_of(PointsView::row_major(&value, 5, 0)), HasSubstr("points: no columns"));
  EXPECT_THAT(error_of(PointsView::row_major(static_cast<const float*>(nullptr), 1, 3)), HasSubstr("null"));
  EXPECT_THAT(error_of({&value, 0xFFFFFFFFULL, 1, DType::kFloat32, 0, 0, false}), HasSubstr("4294967295 rows"));
  EXPECT_THAT(error_of({&value, 0xFFFFFFF0ULL, 1ULL << 40, DType::kFloat32, 0, 0, false}), HasSubstr("points: "));
}

TEST(Dataset, RandomFloatsHaveNoUsefulGridButAnExactMaximum) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(1'000'000);
  for (float& v : values) v = normal(random) * (random() % 100 == 0 ? 1e-20F : 1.0F);
  values[777'777] = -123.25F;
  const Dataset data = make(PointsView::row_major(values.data(), 1000, 1000));
  EXPECT_FALSE(data.grid().on_grid);
  EXPECT_EQ(data.grid().max_abs, 123.25);
}

}  // namespace
}  // namespace rthiss
