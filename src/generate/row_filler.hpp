#pragma once

#include <rthiss/errors.hpp>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "generate/generated_points.hpp"

namespace rthiss::generate {

inline constexpr std::size_t kValuesPerTask = std::size_t{1} << 16;

/// Rows for a task of about kValuesPerTask values.
[[nodiscard]] inline std::size_t row_grain(std::uint64_t columns) noexcept {
  return columns >= kValuesPerTask ? 1 : kValuesPerTask / static_cast<std::size_t>(columns);
}

/// Uninitialised values. Throws InvalidArgument when rows x columns passes what memory can address.
template <typename T>
[[nodiscard]] Array<T> make_values(std::uint64_t rows, std::uint64_t columns) {
  if (columns == 0) throw InvalidArgument("generated data need at least one column");
  if (rows > std::numeric_limits<std::int64_t>::max() / sizeof(T) / columns) {
    throw InvalidArgument("generated data: rows x columns is too large");
  }
  return Array<T>(rows * columns);
}

/// Fills an array in parallel: `make_row(i, row)` computes row i in double; each value is rounded once to T.
template <typename T, typename MakeRow>
[[nodiscard]] Array<T> fill_rows(std::uint64_t rows, std::uint64_t columns, const ThreadPool& pool,
                                 const MakeRow& make_row) {
  Array<T> values = make_values<T>(rows, columns);
  pool.for_ranges(0, rows, row_grain(columns), [&](std::size_t first, std::size_t last) {
    std::vector<double> row(columns);
    for (std::size_t i = first; i < last; ++i) {
      make_row(i, row.data());
      T* out = values.data() + i * columns;
      for (std::size_t j = 0; j < columns; ++j) out[j] = static_cast<T>(row[j]);
    }
  });
  return values;
}

}  // namespace rthiss::generate
