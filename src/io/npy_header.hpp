#pragma once

#include <rthiss/points_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rthiss::io {

/// What the header of a .npy file says.
struct NpyHeader {
  DType dtype = DType::kFloat64;
  bool byte_swapped = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  ///< bytes
};

/// Reads the header of versions 1.0, 2.0 and 3.0. Nothing is evaluated: a dictionary of exactly the three keys, a
/// string, a bool and a tuple of integers, or InvalidArgument with `path` and the byte offset. A dtype that is none of
/// DType's is refused by name.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> bytes, std::string_view path);

/// The bytes that stand before the data of a .npy file in C order: version 1.0, padded to a multiple of 64 bytes as
/// NumPy does it. `descr` as npy_descr() gives it.
[[nodiscard]] std::string make_npy_header(std::string_view descr, std::span<const std::uint64_t> shape);

/// NumPy's type string of little-endian elements ("<f4", "|u1"). Throws UnsupportedError for bfloat16.
[[nodiscard]] std::string npy_descr(DType dtype);

}  // namespace rthiss::io
