#pragma once

#include <rthiss/array.hpp>
#include <rthiss/points_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rthiss::io {

// One parser a format, each a pure function of the bytes of a whole file. `path` is for messages only. All throw
// InvalidArgument with the place for anything that is not exactly a file of the format with at least one column.

/// More is refused, so that bytes of a row fit a signed 64-bit stride also where there are no rows.
inline constexpr std::uint64_t kMaxColumns = 0xffffffff;

/// A view into `bytes`: .npy, two-dimensional.
[[nodiscard]] PointsView parse_npy(std::span<const std::byte> bytes, std::string_view path);

/// A view into `bytes`: rows of a little-endian int32 dimension and that many elements of `dtype`: float32 (.fvecs),
/// uint8 (.bvecs), int32 (.ivecs). The dimension of every row is checked.
[[nodiscard]] PointsView parse_vecs(std::span<const std::byte> bytes, DType dtype, std::string_view path);

/// A view into `bytes`: IDX (MNIST family), any element type, dimensions after the first flattened into columns.
[[nodiscard]] PointsView parse_idx(std::span<const std::byte> bytes, std::string_view path);

/// Whether `bytes` begin as an IDX file does.
[[nodiscard]] bool looks_like_idx(std::span<const std::byte> bytes) noexcept;

/// Numbers out of text, row-major [rows x columns].
struct TextPoints {
  Array<double> values;  ///< may be longer than rows * columns
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// Delimited text. `memory_limit` bytes are allowed for the values; OutOfMemory beyond.
[[nodiscard]] TextPoints parse_text(std::string_view text, std::uint64_t memory_limit, std::string_view path);

}  // namespace rthiss::io
