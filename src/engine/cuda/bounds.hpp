#pragma once

#include <cstdint>

#include "engine/cuda/device_array.hpp"

namespace rthiss::cuda {

/// Bounds of groups on the device, group-major; see GroupBounds.
struct DeviceBounds {
  DeviceArray<float> low, high;  ///< [groups x stride] tight boxes; padding 0
  DeviceArray<float> error;      ///< [groups] largest error of the group's rows
  DeviceArray<float> sphere;     ///< [groups x 4] centre in the first three values and radius, rounded up; or empty
};

/// `values` [rows x stride] in group order, `width` values of which are bounded.
[[nodiscard]] DeviceBounds bound_groups(const float* values, const float* errors, std::uint32_t stride,
                                        std::uint32_t width, const std::uint32_t* group_begin, std::uint32_t groups,
                                        bool spheres, DeviceMemory& memory, Stream stream);

}  // namespace rthiss::cuda
