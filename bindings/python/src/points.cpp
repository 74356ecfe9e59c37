#include "points.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <rthiss/array.hpp>
#include <rthiss/errors.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

namespace rthiss::python {

namespace {

constexpr std::array kDTypes = {DType::kBool,     DType::kInt8,    DType::kUInt8,  DType::kInt16,  DType::kUInt16,
                                DType::kInt32,    DType::kUInt32,  DType::kInt64,  DType::kUInt64, DType::kFloat16,
                                DType::kBFloat16, DType::kFloat32, DType::kFloat64};

DType dtype_of(const std::string& name) {
  for (const DType dtype : kDTypes) {
    if (name_of(dtype) == name) return dtype;
  }
  throw InvalidArgument(fmt::format("dtype {} cannot be taken without changing values", name));
}

/// A name that `dtype_of` knows for the types of the exactness rule, and a telling one for others.
std::string name_of_dlpack(nb::dlpack::dtype type) {
  const auto name = [&type](const char* kind) { return fmt::format("{}{}", kind, type.bits); };
  std::string scalar;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      scalar = name("int");
      break;
    case nb::dlpack::dtype_code::UInt:
      scalar = name("uint");
      break;
    case nb::dlpack::dtype_code::Float:
      scalar = name("float");
      break;
    case nb::dlpack::dtype_code::Bfloat:
      scalar = name("bfloat");
      break;
    case nb::dlpack::dtype_code::Complex:
      scalar = name("complex");
      break;
    case nb::dlpack::dtype_code::Bool:
      scalar = type.bits == 8 ? "bool" : name("bool");
      break;
    default:
      scalar = fmt::format("of {} bits with DLPack code {}", type.bits, type.code);
  }
  return type.lanes == 1 ? scalar : fmt::format("{} in vectors of {}", scalar, type.lanes);
}

template <typename T>
std::shared_ptr<const void> release_under_gil(T* object) {
  return {object, [](T* held) {
            const nb::gil_scoped_acquire gil;
            delete held;
          }};
}

}  // namespace

Points Points::copied() const {
  const std::size_t item = size_of(view.dtype);
  const std::size_t row_bytes = view.columns * item;
  auto memory = std::make_shared<Array<std::byte>>(view.rows * row_bytes);
  const auto* source = static_cast<const std::byte*>(view.data);
  for (std::uint64_t i = 0; i < view.rows; ++i) {
    const std::byte* const from = source + static_cast<std::int64_t>(i) * view.row_stride;
    std::byte* const to = memory->data() + i * row_bytes;
    if (view.column_stride == static_cast<std::int64_t>(item)) {
      std::memcpy(to, from, row_bytes);
    } else {
      for (std::uint64_t j = 0; j < view.columns; ++j) {
        std::memcpy(to + j * item, from + static_cast<std::int64_t>(j) * view.column_stride, item);
      }
    }
  }
  Points copy;
  copy.view = PointsView::row_major(memory->data(), view.rows, view.columns, view.dtype);
  copy.view.byte_swapped = view.byte_swapped;
  copy.owner = std::move(memory);
  return copy;
}

Points points_at(nb::object owner, std::uint64_t address, std::uint64_t rows, std::uint64_t columns,
                 const std::string& dtype, std::int64_t row_stride, std::int64_t column_stride, bool byte_swapped) {
  Points points;
  points.view = {reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)),
                 rows,
                 columns,
                 dtype_of(dtype),
                 row_stride,
                 column_stride,
                 byte_swapped};
  points.owner = release_under_gil(new nb::object(std::move(owner)));
  return points;
}

Points points_from_dlpack(nb::object array, const std::string& role) {
  using Tensor = nb::ndarray<nb::ro>;
  Points points;
  Tensor tensor;
  if (!nb::try_cast(array, tensor)) return points;
  const int device = tensor.device_type();
  if (device != nb::device::cpu::value && device != nb::device::cuda_host::value) {
    throw UnsupportedError(
        fmt::format("{}: the array lies in the memory of a device (DLPack type {}, number {}), and this build has no "
                    "engine that reads it there; hand over a copy in host memory (CuPy: x.get(), PyTorch: x.cpu())",
                    role, device, tensor.device_id()));
  }
  if (tensor.ndim() != 2) {
    throw InvalidArgument(fmt::format("{}: expected a two-dimensional array [n x d], got {} dimensions; reshape it",
                                      role, tensor.ndim()));
  }
  const DType dtype = dtype_of(name_of_dlpack(tensor.dtype()));
  const auto item = static_cast<std::int64_t>(size_of(dtype));
  points.view = {
      tensor.data(), tensor.shape(0), tensor.shape(1), dtype, tensor.stride(0) * item, tensor.stride(1) * item, false};
  points.owner = release_under_gil(new Tensor(std::move(tensor)));
  return points;
}

}  // namespace rthiss::python
