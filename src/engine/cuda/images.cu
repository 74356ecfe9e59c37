#include <cstddef>
#include <limits>
#include <vector>

#include "common/round_up_to.hpp"
#include "engine/cuda/cuda_check.hpp"
#include "engine/cuda/images.hpp"
#include "engine/cuda/launch.hpp"
#include "geometry/rounding.hpp"
#include "projection/error_bound.hpp"

namespace rthiss::cuda {

namespace {

constexpr double kFloatMax = 3.4028234663852886e38;

template <typename T>
__device__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kWholeWarp, value, offset);
  return value;
}

__device__ double warp_max(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value = fmax(value, __shfl_xor_sync(kWholeWarp, value, offset));
  return value;
}

struct LoadRule {
  const double* center;  // [columns] or null
  double scale;
  bool normalize, integers;
};

/// One warp a row. The steps and the bound are those of FilterSpace::load; sums in another order, which it covers.
template <typename Real>
__global__ void load_kernel(const Real* rows, const std::uint8_t* ignored, std::uint32_t count, std::uint32_t columns,
                            std::uint32_t stride, LoadRule rule, float* images, float* errors) {
  constexpr double unit = 0x1p-53;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (i >= count) return;
  const Real* row = rows + i * stride;
  float* image = images + i * stride;
  bool unusable = ignored != nullptr && ignored[i] != 0;
  double factor = rule.scale, first = 1.0, second = 1.0, relative = 0.0;
  if (rule.normalize && !unusable) {
    double largest = 0.0;
    for (std::uint32_t k = lane; k < columns; k += 32) largest = fmax(largest, fabs(static_cast<double>(row[k])));
    largest = warp_max(largest);
    if (largest == 0.0) {
      unusable = true;
    } else {
      const int exponent = -ilogb(largest);
      first = ldexp(1.0, exponent / 2);
      second = ldexp(1.0, exponent - exponent / 2);
      double sum = 0.0;
      for (std::uint32_t k = lane; k < columns; k += 32) {
        const double value = static_cast<double>(row[k]) * first * second;
        sum += value * value;
      }
      factor = 1.0 / sqrt(warp_sum(sum));
      relative = (static_cast<double>(columns) + 8.0) * unit;
    }
  } else if (rule.center != nullptr) {
    relative = 2.0 * unit;
  }
  double residual = 0.0, norm = 0.0;
  bool overflow = false;
  for (std::uint32_t k = lane; k < columns && !unusable; k += 32) {
    double value = static_cast<double>(row[k]);
    if (rule.normalize) {
      value = value * first * second;
    } else if (rule.center != nullptr) {
      value -= rule.center[k];
    }
    const double exact = value * factor;
    overflow |= !(fabs(exact) <= kFloatMax);
    const float rounded = static_cast<float>(exact);
    image[k] = rounded;
    const double lost = exact - static_cast<double>(rounded);
    residual += lost * lost;
    norm += exact * exact;
  }
  residual = warp_sum(residual);
  norm = warp_sum(norm);
  unusable |= __any_sync(kWholeWarp, overflow) || !isfinite(norm);
  for (std::uint32_t k = lane; k < stride; k += 32) {
    if (unusable || k >= columns) image[k] = 0.0F;
  }
  if (lane != 0) return;
  float error = 0.0F;
  if (unusable) {
    error = std::numeric_limits<float>::infinity();
  } else if (relative == 0.0 && residual == 0.0) {
    error = factor < 1.0 && !rule.integers ? 0x1p-149F : 0.0F;
  } else {
    const double bound =
        (sqrt(residual) + (relative + 4.0 * unit) * sqrt(norm)) * (1.0 + (static_cast<double>(columns) + 8.0) * unit) +
        static_cast<double>(columns) * 0x1p-500;
    error = next_above(static_cast<float>(bound));
  }
  errors[i] = error;
}

constexpr std::uint32_t kProjectThreads = 128;  // one row each
constexpr std::uint32_t kProjectColumns = 32;   // at a time

/// Principal components in float32: component j of a row is one chain of d fused additions: an error of at most
/// d u / (1 - d u) relative to the sum of the products' magnitudes. Norms in double.
template <int kComponents>
__global__ void __launch_bounds__(kProjectThreads)
    project_pca_kernel(const float* images, std::uint32_t image_stride, const float* load_error,
                       const std::uint8_t* ignored, std::uint32_t rows, std::uint32_t columns, const float* center,
                       const float* basis /* [columns x kComponents] */, std::uint32_t components, bool with_rest,
                       PcaErrorBound bound, float* out, std::uint32_t out_stride, float* errors) {
  __shared__ float tile[kProjectThreads][kProjectColumns + 1];
  __shared__ float part[kProjectColumns][kComponents];
  const std::uint32_t first = blockIdx.x * kProjectThreads;
  const std::uint32_t here = min(kProjectThreads, rows - first);
  float sums[kComponents] = {};
  double norm2 = 0.0;
  for (std::uint32_t begin = 0; begin < columns; begin += kProjectColumns) {
    const std::uint32_t width = min(kProjectColumns, columns - begin);
    for (std::uint32_t e = threadIdx.x; e < kProjectThreads * kProjectColumns; e += kProjectThreads) {
      const std::uint32_t r = e / kProjectColumns, c = e % kProjectColumns;
      tile[r][c] =
          r < here && c < width ? images[std::size_t{first + r} * image_stride + begin + c] - center[begin + c] : 0.0F;
    }
    for (std::uint32_t e = threadIdx.x; e < kProjectColumns * kComponents; e += kProjectThreads) {
      const std::uint32_t c = e / kComponents;
      part[c][e % kComponents] = c < width ? basis[std::size_t{begin} * kComponents + e] : 0.0F;
    }
    __syncthreads();
    for (std::uint32_t c = 0; c < width; ++c) {
      const float value = tile[threadIdx.x][c];
      norm2 += static_cast<double>(value) * static_cast<double>(value);
#pragma unroll
      for (int j = 0; j < kComponents; ++j) sums[j] = fmaf(value, part[c][j], sums[j]);
    }
    __syncthreads();
  }
  if (threadIdx.x >= here) return;
  const std::size_t i = first + threadIdx.x;
  double image2 = 0.0;
#pragma unroll
  for (int j = 0; j < kComponents; ++j) image2 += static_cast<double>(sums[j]) * static_cast<double>(sums[j]);
  double rest = 0.0;
  float error = bound(norm2, image2, load_error != nullptr ? load_error[i] : 0.0F, rest);
  float* target = out + i * out_stride;
  const bool usable = norm2 < kUsableSquare && image2 < kUsableSquare && error < std::numeric_limits<float>::infinity();
  if (!usable) error = std::numeric_limits<float>::infinity();
#pragma unroll
  for (int j = 0; j < kComponents; ++j) {
    if (j < components) target[j] = usable ? sums[j] : 0.0F;
  }
  for (std::uint32_t j = components; j < out_stride; ++j) {
    target[j] = usable && with_rest && j == components ? static_cast<float>(rest) : 0.0F;
  }
  errors[i] = ignored != nullptr && ignored[i] != 0 ? 0.0F : error;
}

/// Coordinates are copied; the norm of the rest is summed in double. One warp a row.
__global__ void project_coordinates_kernel(const float* images, std::uint32_t image_stride, const float* load_error,
                                           const std::uint8_t* ignored, std::uint32_t rows, std::uint32_t columns,
                                           const std::uint32_t* order, std::uint32_t components, bool with_rest,
                                           float* out, std::uint32_t out_stride, float* errors) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (i >= rows) return;
  const float* row = images + i * image_stride;
  float* target = out + i * out_stride;
  double rest2 = 0.0;
  for (std::uint32_t j = components + lane; with_rest && j < columns; j += 32) {
    const double value = row[order[j]];
    rest2 += value * value;
  }
  const double rest = sqrt(warp_sum(rest2));
  float error = load_error != nullptr ? load_error[i] : 0.0F;
  if (with_rest) {
    error = rest <= kFloatMax ? coordinates_error(error, rest, columns) : std::numeric_limits<float>::infinity();
  }
  const bool usable = error < std::numeric_limits<float>::infinity();
  for (std::uint32_t j = lane; j < out_stride; j += 32) {
    float value = 0.0F;
    if (usable && j < components) value = row[order[j]];
    if (usable && with_rest && j == components) value = static_cast<float>(rest);
    target[j] = value;
  }
  if (lane == 0) errors[i] = ignored != nullptr && ignored[i] != 0 ? 0.0F : error;
}

template <typename T>
__global__ void gather_kernel(const T* source, const std::uint32_t* order, std::uint32_t rows, std::uint32_t width,
                              T* target) {
  const std::size_t count = std::size_t{rows} * width;
  for (std::size_t e = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; e < count;
       e += std::size_t{gridDim.x} * blockDim.x) {
    const std::size_t i = e / width;
    target[e] = source[std::size_t{order[i]} * width + (e - i * width)];
  }
}

template <typename T>
void gather(const void* source, const std::uint32_t* order, std::uint32_t rows, std::size_t width, void* target,
            Stream stream) {
  gather_kernel<<<grid_for(rows * width, 256), 256, 0, stream>>>(
      static_cast<const T*>(source), order, rows, static_cast<std::uint32_t>(width), static_cast<T*>(target));
  check_launch("gather rows");
}

template <int kComponents>
void project_pca(const float* images, std::uint32_t image_stride, const float* load_error, const std::uint8_t* ignored,
                 std::uint32_t rows, const Projection& projection, ProjectedRows& out, DeviceMemory& memory,
                 Stream stream) {
  const std::size_t d = projection.columns, k = projection.components;
  std::vector<float> packed(d * kComponents, 0.0F);
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t c = 0; c < d; ++c) packed[c * kComponents + j] = projection.basis[j * d + c];
  }
  const DeviceArray<float> basis = copy_to_device(packed.data(), packed.size(), memory, stream, "the basis");
  const DeviceArray<float> center = copy_to_device(projection.center.data(), d, memory, stream, "the centre");
  const double chain = static_cast<double>(d) * 0x1p-24;
  const double units = chain < 0.5 ? static_cast<double>(d) / (1.0 - chain) + 1.0 : HUGE_VAL;
  const PcaErrorBound bound(d, k, projection.basis_defect, units);
  project_pca_kernel<kComponents><<<blocks_for(rows, kProjectThreads), kProjectThreads, 0, stream>>>(
      images, image_stride, load_error, ignored, rows, static_cast<std::uint32_t>(d), center.data(), basis.data(),
      out.components, projection.with_rest, bound, out.values.data(), out.stride, out.error.data());
  check_launch("project rows");
}

}  // namespace

ImageRows load_images(const UploadedRows& rows, const FilterSpace& space, DeviceMemory& memory, Stream stream) {
  ImageRows out;
  out.stride = rows.stride;
  const bool as_stored = space.center.empty() && space.scale == 1.0 && !space.normalize;
  if (as_stored && rows.values64.empty() && rows.ignored.empty()) return out;
  out.values = DeviceArray<float>(memory, std::size_t{rows.rows} * rows.stride, stream, "the rows' images");
  out.error = DeviceArray<float>(memory, rows.rows, stream, "the images' errors");
  if (rows.rows == 0) return out;
  DeviceArray<double> center;
  if (!space.center.empty()) {
    center = copy_to_device(space.center.data(), space.center.size(), memory, stream, "the centre");
  }
  const LoadRule rule{center.data(), space.scale, space.normalize, space.integers};
  const unsigned blocks = blocks_for(std::size_t{rows.rows} * 32, 256);
  if (!rows.values64.empty()) {
    load_kernel<<<blocks, 256, 0, stream>>>(rows.values64.data(), rows.ignored.data(), rows.rows, rows.columns,
                                            rows.stride, rule, out.values.data(), out.error.data());
  } else {
    load_kernel<<<blocks, 256, 0, stream>>>(rows.values32.data(), rows.ignored.data(), rows.rows, rows.columns,
                                            rows.stride, rule, out.values.data(), out.error.data());
  }
  check_launch("load rows");
  return out;
}

ProjectedRows project_rows(const float* images, std::uint32_t image_stride, const float* load_error,
                           const std::uint8_t* ignored, std::uint32_t rows, const Projection& projection,
                           DeviceMemory& memory, Stream stream) {
  ProjectedRows out;
  out.components = static_cast<std::uint32_t>(projection.components);
  out.width = static_cast<std::uint32_t>(projection.width());
  out.stride = static_cast<std::uint32_t>(round_up_to(out.width, 4));
  out.values = DeviceArray<float>(memory, std::size_t{rows} * out.stride, stream, "the projection");
  out.error = DeviceArray<float>(memory, rows, stream, "the projection's errors");
  if (rows == 0) return out;
  if (!projection.is_coordinates()) {
    if (out.components <= 8) {
      project_pca<8>(images, image_stride, load_error, ignored, rows, projection, out, memory, stream);
    } else if (out.components <= 16) {
      project_pca<16>(images, image_stride, load_error, ignored, rows, projection, out, memory, stream);
    } else {
      project_pca<kMostProjectedComponents>(images, image_stride, load_error, ignored, rows, projection, out, memory,
                                            stream);
    }
    return out;
  }
  const DeviceArray<std::uint32_t> order =
      copy_to_device(projection.order.data(), projection.order.size(), memory, stream, "the order of columns");
  project_coordinates_kernel<<<blocks_for(std::size_t{rows} * 32, 256), 256, 0, stream>>>(
      images, image_stride, load_error, ignored, rows, static_cast<std::uint32_t>(projection.columns), order.data(),
      out.components, projection.with_rest, out.values.data(), out.stride, out.error.data());
  check_launch("project coordinates");
  return out;
}

void gather_rows(const void* source, const std::uint32_t* order, std::uint32_t rows, std::size_t row_bytes,
                 void* target, Stream stream) {
  if (rows == 0) return;
  if (row_bytes % 16 == 0) return gather<float4>(source, order, rows, row_bytes / 16, target, stream);
  gather<float>(source, order, rows, row_bytes / 4, target, stream);
}

void gather_bytes(const std::uint8_t* source, const std::uint32_t* order, std::uint32_t rows, std::uint8_t* target,
                  Stream stream) {
  if (rows != 0) gather<std::uint8_t>(source, order, rows, 1, target, stream);
}

}  // namespace rthiss::cuda
