// rthiss_filter_formats: number formats for the filter. Prints two tables: what the device multiplies in a second with
// each (fragments in registers, nothing loaded), and how wide a band around the radius each leaves open.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cuda/cuda_check.hpp"

namespace {

using rthiss::cuda::check;

constexpr int kSums = 8;  // independent products of a warp
constexpr int kRounds = 4096;
constexpr unsigned kThreads = 256;
constexpr int kBlocksPerProcessor = 2;

enum class Format { kHalf, kBfloat, kTf32, kInt8, kFloat };
struct Named {
  Format format;
  const char* name;
  double products;  // of one instruction of a warp
};
constexpr Named kFormats[] = {{Format::kHalf, "fp16", 16 * 8 * 16},
                              {Format::kBfloat, "bf16", 16 * 8 * 16},
                              {Format::kTf32, "tf32", 16 * 8 * 8},
                              {Format::kInt8, "int8", 16 * 8 * 32},
                              {Format::kFloat, "fp32, no matrix units", 2 * 32 * 4}};

/// One warp-wide step: sums (four a lane) += A B.
template <Format kFormat>
__device__ void step(std::uint32_t (&s)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#define RTHISS_STEP(name, sum)                                                                   \
  asm volatile("mma.sync.aligned." name " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+" sum(s[0]), "+" sum(s[1]), "+" sum(s[2]), "+" sum(s[3])                      \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kFormat == Format::kFloat) {
    // Subtract and fused multiply-add, as for sums of squared differences: two columns of four pairs.
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float difference = __uint_as_float(a[i]) - __uint_as_float(s[(i + 1 + k) % 4]);
        s[i] = __float_as_uint(fmaf(difference, difference, __uint_as_float(s[i])));
      }
    }
  }
#if __CUDA_ARCH__ >= 800
  if constexpr (kFormat == Format::kHalf) {
    RTHISS_STEP("m16n8k16.row.col.f32.f16.f16.f32", "r");
  } else if constexpr (kFormat == Format::kBfloat) {
    RTHISS_STEP("m16n8k16.row.col.f32.bf16.bf16.f32", "r");
  } else if constexpr (kFormat == Format::kTf32) {
    RTHISS_STEP("m16n8k8.row.col.f32.tf32.tf32.f32", "r");
  } else if constexpr (kFormat == Format::kInt8) {
    RTHISS_STEP("m16n8k32.row.col.s32.s8.s8.s32", "r");
  }
#endif
#undef RTHISS_STEP
}

template <Format kFormat>
__global__ void __launch_bounds__(kThreads) rate_kernel(std::uint32_t seed, std::uint32_t* out) {
  std::uint32_t sums[kSums][4] = {}, a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = (threadIdx.x + i) * seed;
  for (int i = 0; i < 2; ++i) b[i] = (threadIdx.x ^ i) * seed;
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int s = 0; s < kSums; ++s) step<kFormat>(sums[s], a, b);
  }
  std::uint32_t all = 0;
  for (int s = 0; s < kSums; ++s) all ^= sums[s][0] ^ sums[s][1] ^ sums[s][2] ^ sums[s][3];
  if (all == 0x12345678U) out[0] = all;  // keeps the sums
}

/// Products and additions in a second, in 10^12.
double rate(const Named& named) {
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "cudaDeviceGetAttribute");
  const auto blocks = static_cast<unsigned>(processors * kBlocksPerProcessor);
  std::uint32_t* out = nullptr;
  check(cudaMalloc(&out, sizeof *out), "cudaMalloc");
  const auto launch = [&] {
    switch (named.format) {
      case Format::kHalf:
        return rate_kernel<Format::kHalf><<<blocks, kThreads>>>(0, out);
      case Format::kBfloat:
        return rate_kernel<Format::kBfloat><<<blocks, kThreads>>>(0, out);
      case Format::kTf32:
        return rate_kernel<Format::kTf32><<<blocks, kThreads>>>(0, out);
      case Format::kInt8:
        return rate_kernel<Format::kInt8><<<blocks, kThreads>>>(0, out);
      case Format::kFloat:
        return rate_kernel<Format::kFloat><<<blocks, kThreads>>>(0, out);
    }
  };
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  float best = 1e30F;
  for (int run = 0; run < 5; ++run) {
    check(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    rthiss::cuda::check_launch("rate of products");
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    best = std::min(best, milliseconds);
  }
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  check(cudaFree(out), "cudaFree");
  return 2.0 * named.products * kSums * kRounds * blocks * (kThreads / 32) / (best * 1e-3) / 1e12;
}

/// `value` as the format holds it; |value| <= 1 stands for the farthest component.
double held(Format format, double value) {
  switch (format) {
    case Format::kHalf:
      return static_cast<double>(__half2float(__float2half_rn(static_cast<float>(value * 512.0)))) / 512.0;
    case Format::kBfloat:
      return static_cast<double>(__bfloat162float(__float2bfloat16_rn(static_cast<float>(value))));
    case Format::kTf32: {
      int exponent = 0;
      const double mantissa = std::frexp(value, &exponent);
      return std::ldexp(std::rint(std::ldexp(mantissa, 11)), exponent - 11);
    }
    case Format::kInt8:
      return std::rint(value * 127.0) / 127.0;
    case Format::kFloat:
      return static_cast<double>(static_cast<float>(value));
  }
  return value;
}

struct Rows {
  const char* name;
  std::size_t columns;
  std::vector<double> values;  // [rows x columns] in -1 ... 1
  bool bytes;                  // 0 ... 255, of which int8 holds value - 128
};

constexpr std::size_t kRows = 512;

/// Uniform in a cube, or clusters of a tenth of its side.
Rows make_rows(const char* name, std::size_t columns, bool clustered, bool bytes) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::normal_distribution<double> normal(0.0, 0.05);
  Rows rows{name, columns, {}, bytes};
  std::vector<double> centers(8 * columns);
  for (double& value : centers) value = 0.8 * uniform(random);
  for (std::size_t i = 0; i < kRows * columns; ++i) {
    double value = uniform(random);
    if (clustered) value = std::clamp(centers[i / columns % 8 * columns + i % columns] + normal(random), -1.0, 1.0);
    if (bytes) value = std::rint((value + 1.0) * 127.5) - 128.0;
    rows.values.push_back(bytes ? value / 128.0 : value);
  }
  return rows;
}

/// Width of the open band over the radius, and the part of all pairs in it, at the radius that keeps a hundredth.
struct Band {
  double width, open;
};

Band band_of(const Rows& rows, Format format) {
  const std::size_t d = rows.columns;
  double error = 0.0, norm = 0.0;
  for (std::size_t i = 0; i < kRows; ++i) {
    double lost = 0.0, length = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      const double value = rows.values[i * d + k];
      const bool whole = rows.bytes && format == Format::kInt8;
      const double off = whole ? 0.0 : value - held(format, value);
      lost += off * off;
      length += value * value;
    }
    error += std::sqrt(lost) / kRows;
    norm += length / kRows;
  }
  std::vector<double> distances;
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < d; ++k) {
        const double difference = rows.values[i * d + k] - rows.values[j * d + k];
        sum += difference * difference;
      }
      distances.push_back(std::sqrt(sum));
    }
  }
  std::sort(distances.begin(), distances.end());
  const double radius = distances[distances.size() / 100];
  // Additions: the bound of the matrix units in float32, that of differences in float32, or none in int32. It is one
  // on half of the square, so over the radius one on the distance.
  double loss = 0.0;
  const auto columns = static_cast<double>(d);
  if (format == Format::kFloat) {
    loss = 0.5 * (columns + 4.0) * 0x1p-24 * radius * radius;
  } else if (format != Format::kInt8) {
    loss = 2.0 * 4.4 * columns * 0x1p-23 * (0.5 * radius * radius + 1.01 * norm);
  }
  const double half = (format == Format::kFloat ? 0.0 : 2.0 * error) + loss / radius;
  const auto begin = std::lower_bound(distances.begin(), distances.end(), radius - half);
  const auto end = std::upper_bound(distances.begin(), distances.end(), radius + half);
  return {2.0 * half / radius, static_cast<double>(end - begin) / static_cast<double>(distances.size())};
}

}  // namespace

int main() {
  try {
    int major = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "cudaDeviceGetAttribute");
    if (major < 8) throw std::runtime_error("needs a device of compute capability 8.0 or newer");
    std::printf("| format | 10^12 operations a second |\n|---|---:|\n");
    for (const Named& named : kFormats) std::printf("| %s | %.0f |\n", named.name, rate(named));
    std::printf("\n| rows |");
    for (const Named& named : kFormats) std::printf(" %s |", named.name);
    std::printf("\n|---|---:|---:|---:|---:|---:|\n");
    for (const std::size_t d : {16, 64, 128, 784}) {
      const std::string width = " d = " + std::to_string(d);
      for (const Rows& rows : {make_rows("uniform,", d, false, false), make_rows("clusters,", d, true, false),
                               make_rows("clusters of bytes,", d, true, true)}) {
        std::printf("| %s%s |", rows.name, width.c_str());
        for (const Named& named : kFormats) {
          const Band band = band_of(rows, named.format);
          std::printf(" %.4f %% (%.3f %%) |", 100.0 * band.width, 100.0 * band.open);
        }
        std::printf("\n");
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rthiss_filter_formats: %s\n", error.what());
    return 1;
  }
}
