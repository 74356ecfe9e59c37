#pragma once

#include <cstdint>

namespace rthiss::cuda {

/// Integers that order like the floats: for sorts and atomic minima. -0.0 orders as 0.0.
__device__ inline std::uint32_t ordered_bits(float value) {
  const std::uint32_t bits = __float_as_uint(value + 0.0F);
  return bits ^ ((bits >> 31) != 0 ? 0xFFFFFFFFU : 0x80000000U);
}
__device__ inline float from_ordered_bits(std::uint32_t ordered) {
  return __uint_as_float(ordered ^ ((ordered >> 31) != 0 ? 0x80000000U : 0xFFFFFFFFU));
}

__device__ inline unsigned long long ordered_bits(double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value + 0.0));
  return bits ^ ((bits >> 63) != 0 ? ~0ULL : 1ULL << 63);
}
__device__ inline double from_ordered_bits(unsigned long long ordered) {
  return __longlong_as_double(static_cast<long long>(ordered ^ ((ordered >> 63) != 0 ? 1ULL << 63 : ~0ULL)));
}

}  // namespace rthiss::cuda
