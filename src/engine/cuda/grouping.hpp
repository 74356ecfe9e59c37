#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/device_array.hpp"
#include "grouping/grouping.hpp"

namespace rthiss::cuda {

/// A Grouping whose order stays on the device.
struct DeviceGrouping {
  DeviceArray<std::uint32_t> original_id;  ///< [rows] row of the caller at each position
  DeviceArray<std::uint32_t> group_begin;  ///< [groups + 1]
  std::vector<std::uint32_t> begin_host;   ///< the same in host memory
  int height = 0;

  [[nodiscard]] std::uint32_t groups() const noexcept { return static_cast<std::uint32_t>(begin_host.size() - 1); }
};

/// The groups that group_points finds for the same values, to the last row. `values` [rows x stride] in the caller's
/// order, `width` values of which are used; `options.split_components` at most kMostSplitComponents.
[[nodiscard]] DeviceGrouping group_rows(const float* values, std::uint32_t rows, std::uint32_t stride,
                                        std::uint32_t width, const GroupingOptions& options, DeviceMemory& memory,
                                        Stream stream);
inline constexpr std::uint32_t kMostSplitComponents = 32;

}  // namespace rthiss::cuda
