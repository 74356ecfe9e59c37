#pragma once

#include <zlib.h>
#include <rthiss/errors.hpp>
#include <rthiss/points_view.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace rthiss::io::testing {

/// What the library says about `action`; "no error" when it succeeds. Anything else that is thrown passes.
std::string error_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Every element of the view in C order and this machine's byte order.
inline std::string all_elements(const PointsView& view) {
  const std::size_t item = size_of(view.dtype);
  std::string result;
  for (std::uint64_t i = 0; i < view.rows; ++i) {
    for (std::uint64_t j = 0; j < view.columns; ++j) {
      const char* element = static_cast<const char*>(view.data) + static_cast<std::int64_t>(i) * view.row_stride +
                            static_cast<std::int64_t>(j) * view.column_stride;
      std::string bytes(element, item);
      if (view.byte_swapped) bytes = std::string(bytes.rbegin(), bytes.rend());
      result += bytes;
    }
  }
  return result;
}

inline std::string swapped(const std::string& elements, std::size_t item) {
  std::string result;
  for (std::size_t i = 0; i < elements.size(); i += item) {
    const std::string element = elements.substr(i, item);
    result.append(element.rbegin(), element.rend());
  }
  return result;
}

/// Little-endian elements out of this machine's.
inline std::string native_bytes(const std::string& elements, std::size_t item) {
  return std::endian::native == std::endian::little ? elements : swapped(elements, item);
}

inline std::string fortran(const std::string& elements, std::size_t rows, std::size_t columns, std::size_t item) {
  std::string result;
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) result += elements.substr((i * columns + j) * item, item);
  }
  return result;
}

inline std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string result;
  for (std::size_t i = 0; i < bytes; ++i) result += static_cast<char>(value >> (8 * i) & 0xff);
  return result;
}

inline std::string npy_with_header(const std::string& header, const std::string& data, int version = 1) {
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         little_endian(header.size(), version == 1 ? 2 : 4) + header + data;
}

inline std::string make_npy(const std::string& descr, bool fortran_order, const std::string& shape,
                            const std::string& data, int version = 1) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  while ((header.size() + 11) % 16 != 0) header += ' ';
  return npy_with_header(header + '\n', data, version);
}

inline std::string make_vecs(const std::string& elements, std::size_t columns, std::size_t item) {
  std::string result;
  for (std::size_t i = 0; i < elements.size(); i += columns * item) {
    result += little_endian(columns, 4) + elements.substr(i, columns * item);
  }
  return result;
}

inline std::string make_idx(char type, const std::vector<std::uint32_t>& sizes, const std::string& data) {
  std::string result = {'\0', '\0', type, static_cast<char>(sizes.size())};
  for (const std::uint32_t size : sizes) result += swapped(little_endian(size, 4), 4);
  return result + data;
}

inline std::string gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace rthiss::io::testing
