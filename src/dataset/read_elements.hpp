#pragma once

#include <rthiss/points_view.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rthiss {

/// Storage of the two half-precision types, so that they differ from uint16.
struct Float16Bits {
  std::uint16_t bits;
};
struct BFloat16Bits {
  std::uint16_t bits;
};
struct BoolByte {
  std::uint8_t byte;
};

/// float16 to float32, exactly, without tables, branches or F16C; infinities and NaN stay what they are.
[[nodiscard]] inline float widen(Float16Bits half) noexcept {
  const std::uint32_t magnitude = half.bits & 0x7FFFU;
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000U) << 16;
  // The bits as those of a float32 have an exponent too small by 112; a product with 2^112 puts it right, subnormals
  // included, and is exact.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(scaled);
  const std::uint32_t special = magnitude >= 0x7C00U ? 0x7F800000U : 0U;  // the exponent of what is not finite
  return std::bit_cast<float>(finite | special | sign);
}

[[nodiscard]] inline float widen(BFloat16Bits value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

[[nodiscard]] inline float widen(BoolByte value) noexcept { return value.byte != 0 ? 1.0F : 0.0F; }

/// Integers of up to 32 bits and floating point: exact. Integers of 64 bits: exact up to 2^53.
template <typename T>
[[nodiscard]] double widen(T value) noexcept {
  return static_cast<double>(value);
}

/// The element at `address`, which need not be aligned.
template <typename T, bool kSwapped>
[[nodiscard]] T load_element(const std::byte* address) noexcept {
  std::byte bytes[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = address[kSwapped ? sizeof(T) - 1 - i : i];
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Calls `f` with a value of the storage type of `dtype`.
template <typename F>
decltype(auto) with_element_type(DType dtype, const F& f) {
  switch (dtype) {
    case DType::kBool:
      return f(BoolByte{});
    case DType::kInt8:
      return f(std::int8_t{});
    case DType::kUInt8:
      return f(std::uint8_t{});
    case DType::kInt16:
      return f(std::int16_t{});
    case DType::kUInt16:
      return f(std::uint16_t{});
    case DType::kInt32:
      return f(std::int32_t{});
    case DType::kUInt32:
      return f(std::uint32_t{});
    case DType::kInt64:
      return f(std::int64_t{});
    case DType::kUInt64:
      return f(std::uint64_t{});
    case DType::kFloat16:
      return f(Float16Bits{});
    case DType::kBFloat16:
      return f(BFloat16Bits{});
    case DType::kFloat32:
      return f(float{});
    case DType::kFloat64:
      break;
  }
  return f(double{});
}

/// Reads `count` elements that lie `stride` bytes apart as Out (float or double; the caller chose one that holds them).
template <typename Out>
using ElementReader = void (*)(const std::byte* first, std::int64_t stride, std::size_t count, Out* out);

template <typename Out>
[[nodiscard]] ElementReader<Out> element_reader(DType dtype, bool byte_swapped) {
  return with_element_type(dtype, [byte_swapped](auto sample) -> ElementReader<Out> {
    using T = decltype(sample);
    if (byte_swapped && sizeof(T) > 1) {
      return [](const std::byte* first, std::int64_t stride, std::size_t count, Out* out) {
        for (std::size_t i = 0; i < count; ++i) {
          out[i] = static_cast<Out>(widen(load_element<T, true>(first + static_cast<std::int64_t>(i) * stride)));
        }
      };
    }
    return [](const std::byte* first, std::int64_t stride, std::size_t count, Out* out) {
      if (stride == static_cast<std::int64_t>(sizeof(T))) {  // known at compile time: vectors
        for (std::size_t i = 0; i < count; ++i) {
          T value;
          std::memcpy(&value, first + i * sizeof(T), sizeof(T));
          out[i] = static_cast<Out>(widen(value));
        }
        return;
      }
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<Out>(widen(load_element<T, false>(first + static_cast<std::int64_t>(i) * stride)));
      }
    };
  });
}

}  // namespace rthiss
