#include "dataset/dataset.hpp"

#include <rthiss/errors.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "common/parallel.hpp"
#include "dataset/scan_values.hpp"

namespace rthiss {

namespace {

constexpr std::uint64_t kMaxRows = std::numeric_limits<std::uint32_t>::max() - 1ULL;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kBlockValues = 4096;  // 32 KiB of float64: stays in the first-level cache

constexpr std::int64_t kIntegerLimit = std::int64_t{1} << 53;
bool beyond_limit(std::int64_t value) { return value > kIntegerLimit || value < -kIntegerLimit; }
bool beyond_limit(std::uint64_t value) { return value > static_cast<std::uint64_t>(kIntegerLimit); }

// Integers of up to 32 bits without gaps, in native byte order: two operations on whole vectors of them.
using IntegerScan = void (*)(const std::byte* first, std::size_t count, ValueScan& values);

IntegerScan integer_scan(DType dtype, bool byte_swapped) {
  if (byte_swapped && size_of(dtype) > 1) return nullptr;
  return with_element_type(dtype, [](auto sample) -> IntegerScan {
    using T = decltype(sample);
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
      return [](const std::byte* first, std::size_t count, ValueScan& values) {
        using Magnitude = std::make_unsigned_t<T>;
        Magnitude largest = 0;
        Magnitude all_bits = 0;
        for (std::size_t i = 0; i < count; ++i) {
          T value;
          std::memcpy(&value, first + i * sizeof(T), sizeof(T));
          const auto bits = static_cast<Magnitude>(value);
          const auto magnitude = value < 0 ? static_cast<Magnitude>(Magnitude{0} - bits) : bits;
          largest = std::max(largest, magnitude);
          all_bits = static_cast<Magnitude>(all_bits | magnitude);
        }
        values.add_integers(largest, all_bits);
      };
    } else {
      return nullptr;
    }
  });
}

// The pass over all values. One object for all threads; ranges of rows come from the pool.
template <typename Real>
class Scanner {
 public:
  Scanner(const PointsView& view, NonFinite policy)
      : view_(view),
        policy_(policy),
        read_(element_reader<Real>(view.dtype, view.byte_swapped)),
        integer_scan_(integer_scan(view.dtype, view.byte_swapped)) {}

  void scan(std::uint64_t begin, std::uint64_t end) {
    Range range;
    range.buffer.resize(kBlockValues);
    if (scans_blocks()) {
      scan_blocks(begin, end, range);
    } else {
      for (std::uint64_t row = begin; row < end; ++row) scan_row(row, range);
    }
    const std::lock_guard lock(mutex_);
    values_.merge(range.values);
    ignored_.insert(ignored_.end(), range.ignored.begin(), range.ignored.end());
  }

  [[nodiscard]] ValueGrid grid() const { return values_.grid(); }
  /// Flat index (row * columns + column) of the first bad value, or kNone.
  [[nodiscard]] std::uint64_t first_bad() const { return first_bad_.load(); }
  [[nodiscard]] std::vector<std::uint32_t>& ignored() { return ignored_; }

 private:
  struct Range {
    ValueScan values;
    std::vector<std::uint32_t> ignored;
    std::vector<Real> buffer;
  };

  [[nodiscard]] const std::byte* address(std::uint64_t row, std::uint64_t column) const {
    return static_cast<const std::byte*>(view_.data) + static_cast<std::int64_t>(row) * view_.row_stride +
           static_cast<std::int64_t>(column) * view_.column_stride;
  }

  // Rows without gaps can be taken many at a time. Integers of 64 bits are checked before they are widened, row by row.
  [[nodiscard]] bool scans_blocks() const {
    return view_.column_stride == static_cast<std::int64_t>(size_of(view_.dtype)) &&
           view_.row_stride == static_cast<std::int64_t>(size_of(view_.dtype) * view_.columns) &&
           view_.columns <= kBlockValues && view_.dtype != DType::kInt64 && view_.dtype != DType::kUInt64;
  }

  // Native and aligned values need no copy.
  [[nodiscard]] bool reads_in_place() const {
    return view_.dtype == (sizeof(Real) == 4 ? DType::kFloat32 : DType::kFloat64) && !view_.byte_swapped &&
           reinterpret_cast<std::uintptr_t>(view_.data) % sizeof(Real) == 0;
  }

  void scan_blocks(std::uint64_t begin, std::uint64_t end, Range& range) {
    const bool in_place = reads_in_place();
    const std::uint64_t step = kBlockValues / view_.columns;
    for (std::uint64_t row = begin; row < end; row += step) {
      const std::uint64_t rows = std::min(step, end - row);
      const std::size_t count = rows * view_.columns;
      if (integer_scan_ != nullptr) {
        integer_scan_(address(row, 0), count, range.values);
        continue;
      }
      const auto* values = reinterpret_cast<const Real*>(address(row, 0));
      if (!in_place) {
        read_(address(row, 0), view_.column_stride, count, range.buffer.data());
        values = range.buffer.data();
      }
      if (range.values.add(values, count)) continue;
      for (std::uint64_t i = row; i < row + rows; ++i) scan_row(i, range);
    }
  }

  // A bad row leaves no trace in the values: its finite parts are looked at only once all of it is known to be finite.
  void scan_row(std::uint64_t row, Range& range) {
    if (row * view_.columns > first_bad_.load(std::memory_order_relaxed)) return;  // an error before it is known
    ValueScan row_values = range.values;
    for (std::uint64_t column = 0; column < view_.columns; column += kBlockValues) {
      const std::size_t count = std::min<std::uint64_t>(kBlockValues, view_.columns - column);
      if (!all_in_limit(row, column, count)) return;
      read_(address(row, column), view_.column_stride, count, range.buffer.data());
      if (row_values.add(range.buffer.data(), count)) continue;
      if (policy_ == NonFinite::kIgnore) {
        range.ignored.push_back(static_cast<std::uint32_t>(row));
      } else {
        const auto bad = std::find_if(range.buffer.begin(), range.buffer.begin() + static_cast<std::ptrdiff_t>(count),
                                      [](Real value) { return !std::isfinite(value); });
        report(row, column + static_cast<std::uint64_t>(bad - range.buffer.begin()));
      }
      return;
    }
    range.values = row_values;
  }

  bool all_in_limit(std::uint64_t row, std::uint64_t column, std::size_t count) {
    if (view_.dtype != DType::kInt64 && view_.dtype != DType::kUInt64) return true;
    const auto check = [&](auto sample) {
      using T = decltype(sample);
      for (std::size_t i = 0; i < count; ++i) {
        const std::byte* at = address(row, column + i);
        const T value = view_.byte_swapped ? load_element<T, true>(at) : load_element<T, false>(at);
        if (!beyond_limit(value)) continue;
        report(row, column + i);
        return false;
      }
      return true;
    };
    return view_.dtype == DType::kInt64 ? check(std::int64_t{}) : check(std::uint64_t{});
  }

  void report(std::uint64_t row, std::uint64_t column) {
    const std::uint64_t index = row * view_.columns + column;
    std::uint64_t known = first_bad_.load();
    while (index < known && !first_bad_.compare_exchange_weak(known, index)) {
    }
  }

  PointsView view_;
  NonFinite policy_;
  ElementReader<Real> read_;
  IntegerScan integer_scan_;  // or nullptr
  std::atomic<std::uint64_t> first_bad_{kNone};
  std::mutex mutex_;
  ValueScan values_;
  std::vector<std::uint32_t> ignored_;
};

template <typename T>
std::string integer_text(const std::byte* at, bool swapped) {
  return fmt::format("{}", swapped ? load_element<T, true>(at) : load_element<T, false>(at));
}

}  // namespace

bool held_by_float(DType dtype) noexcept {
  switch (dtype) {
    case DType::kInt32:
    case DType::kUInt32:
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kFloat64:
      return false;
    default:
      return true;
  }
}

Dataset::Dataset(PointsView view, NonFinite policy, std::string_view role, const ThreadPool& pool)
    : view_(view), read_(element_reader<double>(view.dtype, view.byte_swapped)) {
  if (view_.columns == 0) throw InvalidArgument(fmt::format("{}: no columns; at least one is needed", role));
  if (view_.rows > kMaxRows) {
    throw InvalidArgument(
        fmt::format("{}: {} rows; at most {} are supported, search in parts", role, view_.rows, kMaxRows));
  }
  if (view_.rows > kNone / view_.columns) {
    throw InvalidArgument(fmt::format("{}: {} x {} values cannot be in memory", role, view_.rows, view_.columns));
  }
  if (view_.rows != 0 && view_.data == nullptr) {
    throw InvalidArgument(fmt::format("{}: a null pointer for {} x {} values", role, view_.rows, view_.columns));
  }
  if (held_by_float(view_.dtype)) {
    scan<float>(policy, role, pool);
  } else {
    scan<double>(policy, role, pool);
  }
}

template <typename Real>
void Dataset::scan(NonFinite policy, std::string_view role, const ThreadPool& pool) {
  Scanner<Real> scanner(view_, policy);
  constexpr std::uint64_t kValuesPerRange = 1 << 18;
  const std::uint64_t grain = std::max<std::uint64_t>(1, kValuesPerRange / view_.columns);
  pool.for_ranges(0, view_.rows, grain, [&](std::size_t begin, std::size_t end) { scanner.scan(begin, end); });

  if (scanner.first_bad() != kNone) {
    const std::uint64_t row = scanner.first_bad() / view_.columns;
    const std::uint64_t column = scanner.first_bad() % view_.columns;
    const std::string place = fmt::format("{}: row {}, column {}", role, row, column);
    const std::byte* at = element(row, column);
    if (view_.dtype == DType::kInt64 || view_.dtype == DType::kUInt64) {
      const std::string text = view_.dtype == DType::kInt64 ? integer_text<std::int64_t>(at, view_.byte_swapped)
                                                            : integer_text<std::uint64_t>(at, view_.byte_swapped);
      throw InvalidArgument(fmt::format(
          "{} holds {}, beyond 2^53, which float64 cannot hold exactly; scale or offset the column", place, text));
    }
    throw InvalidArgument(fmt::format("{} holds {}; remove such rows or ask to ignore them", place,
                                      std::isnan(value(row, column)) ? "NaN" : "an infinity"));
  }
  grid_ = scanner.grid();
  std::sort(scanner.ignored().begin(), scanner.ignored().end());
  ignored_ = Array<std::uint32_t>(std::span<const std::uint32_t>(scanner.ignored()));
}

void Dataset::read_row(std::uint64_t i, double* out) const noexcept {
  read_(element(i, 0), view_.column_stride, view_.columns, out);
}

double Dataset::value(std::uint64_t i, std::size_t j) const noexcept {
  double result = 0.0;
  read_(element(i, j), view_.column_stride, 1, &result);
  return result;
}

void Dataset::refuse_zero_rows(NonFinite policy, std::string_view role, const ThreadPool& pool) {
  std::mutex mutex;
  std::vector<std::uint32_t> zero(ignored_.begin(), ignored_.end());
  const std::size_t before = zero.size();
  pool.for_ranges(0, rows(), 1024, [&](std::size_t begin, std::size_t end) {
    std::vector<double> row(columns());
    for (std::size_t i = begin; i < end; ++i) {
      read_row(i, row.data());
      if (std::any_of(row.begin(), row.end(), [](double value) { return value != 0.0; })) continue;
      const std::lock_guard lock(mutex);
      zero.push_back(static_cast<std::uint32_t>(i));
    }
  });
  if (zero.size() == before) return;
  if (policy == NonFinite::kError) {
    throw InvalidArgument(
        fmt::format("{}: row {} is all zeros and has no direction for a cosine metric; remove it, or "
                    "set nonfinite to ignore",
                    role, *std::min_element(zero.begin(), zero.end())));
  }
  std::sort(zero.begin(), zero.end());
  ignored_ = Array<std::uint32_t>(std::span<const std::uint32_t>(zero));
}

}  // namespace rthiss
