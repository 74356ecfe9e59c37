#pragma once

#include <cstdint>

#include "dataset/dataset.hpp"
#include "engine/cuda/device_array.hpp"

namespace rthiss::cuda {

/// Stored values on the device, widened exactly, [rows x stride] row-major in the caller's order, padding 0.
struct UploadedRows {
  DeviceArray<float> values32;        ///< of types that float32 holds; else empty
  DeviceArray<double> values64;       ///< of the others
  DeviceArray<std::uint8_t> ignored;  ///< [rows] 1: takes no part; empty where all do
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t stride = 0;  ///< elements, a multiple of 4
};

/// Through the pinned ring; ordered in `stream`. `as_double`: values64 whatever the type.
[[nodiscard]] UploadedRows upload_rows(const Dataset& data, bool as_double, DeviceMemory& memory,
                                       const ThreadPool& pool, Stream stream);

}  // namespace rthiss::cuda
