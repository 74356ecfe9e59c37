#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "simd/targets.hpp"

namespace rthiss::test {

inline constexpr long double kU = 0x1p-24L;

/// float32 values: near 1, with exponents of all sizes, or far from the origin.
inline std::vector<float> float_samples(std::size_t count, unsigned kind, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-52 - 1.0;
    const int exponent = kind == 1 ? static_cast<int>(random() % 80) - 40 : 0;
    value = static_cast<float>(std::ldexp(uniform, exponent) + (kind == 2 ? 0x1p20 : 0.0));
    if (random() % 16 == 0) value = 0.0F;
  }
  return values;
}

/// Runs `body` once for each instruction set of this machine.
template <typename Body>
void for_each_target(const Body& body) {
  for (const std::string& name : simd::supported_targets()) {
    SCOPED_TRACE(name);
    simd::force_target(name);
    body();
  }
  simd::force_target("");
}

}  // namespace rthiss::test
