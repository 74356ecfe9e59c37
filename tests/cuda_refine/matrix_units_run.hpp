#pragma once

#include <cstdint>
#include <vector>

namespace rthiss::test {

/// Dot products as the filter computes them: sums[i] = start[i] + sum_k a[i][k] b[i][k] in the device's matrix units,
/// 16 products a step, the sum of one step the start of the next. `a` and `b` are bits of float16 [count x width],
/// width a multiple of 16. Throws DeviceError.
std::vector<float> dot_in_matrix_units(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b,
                                       const std::vector<float>& start, std::uint32_t width);

/// True where a device can be used.
bool has_device();

}  // namespace rthiss::test
