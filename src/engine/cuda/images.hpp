#pragma once

#include <cstdint>

#include "dataset/filter_space.hpp"
#include "engine/cuda/device_array.hpp"
#include "engine/cuda/upload.hpp"
#include "projection/projection.hpp"

namespace rthiss::cuda {

/// Rows of the FilterSpace (docs/exactness.md, "Rows") on the device, in the caller's order.
struct ImageRows {
  DeviceArray<float> values;  ///< [rows x stride], padding 0; empty where the uploaded rows are the images themselves
  DeviceArray<float> error;   ///< [rows]; empty where all are 0
  std::uint32_t stride = 0;
};

/// Image of every uploaded row: FilterSpace::load on the device, with the same bound.
[[nodiscard]] ImageRows load_images(const UploadedRows& rows, const FilterSpace& space, DeviceMemory& memory,
                                    Stream stream);

/// A projection on the device, in the caller's order.
struct ProjectedRows {
  DeviceArray<float> values;  ///< [rows x stride], padding 0
  DeviceArray<float> error;   ///< [rows]; 0 for ignored rows, so that they widen no bounds
  std::uint32_t stride = 0, width = 0, components = 0;
};

/// `images` [rows x image_stride], `load_error` [rows] or null, `ignored` [rows] or null. At most
/// kMostProjectedComponents components.
[[nodiscard]] ProjectedRows project_rows(const float* images, std::uint32_t image_stride, const float* load_error,
                                         const std::uint8_t* ignored, std::uint32_t rows, const Projection& projection,
                                         DeviceMemory& memory, Stream stream);
inline constexpr std::uint32_t kMostProjectedComponents = 32;

/// target[i] = source[order[i]], rows of `row_bytes` (a multiple of 4).
void gather_rows(const void* source, const std::uint32_t* order, std::uint32_t rows, std::size_t row_bytes,
                 void* target, Stream stream);
/// The same for single bytes.
void gather_bytes(const std::uint8_t* source, const std::uint32_t* order, std::uint32_t rows, std::uint8_t* target,
                  Stream stream);

}  // namespace rthiss::cuda
