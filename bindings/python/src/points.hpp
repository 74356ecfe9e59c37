#pragma once

#include <nanobind/nanobind.h>
#include <rthiss/points_view.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace rthiss::python {

namespace nb = nanobind;

/// Rows in host memory together with what keeps them alive: the caller's array, or a copy. The last owner may go in any
/// thread; a Python object is then released under the GIL.
struct Points {
  PointsView view;
  std::shared_ptr<const void> owner;

  /// The same rows in memory of their own, row-major, in the same byte order. Throws std::bad_alloc.
  [[nodiscard]] Points copied() const;
};

/// Rows at an address inside of `owner`, which stays alive with them. `dtype` is a name as of `name_of(DType)`; strides
/// in bytes.
[[nodiscard]] Points points_at(nb::object owner, std::uint64_t address, std::uint64_t rows, std::uint64_t columns,
                               const std::string& dtype, std::int64_t row_stride, std::int64_t column_stride,
                               bool byte_swapped);

/// Rows of any array that speaks DLPack, without a copy. Throws InvalidArgument (not two-dimensional, an element type
/// that cannot be taken exactly), UnsupportedError (memory of a device). `role` opens the messages. Null `owner` where
/// the object's export fails; its own exception is then to be raised.
[[nodiscard]] Points points_from_dlpack(nb::object array, const std::string& role);

}  // namespace rthiss::python
