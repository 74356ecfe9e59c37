#pragma once

#include <cstddef>
#include <limits>

namespace rthiss::simd {

/// Rows of `a` must be padded to a multiple of this many for `gemm` (the padding is read, its results are written).
inline constexpr std::size_t kGemmRows = 6;
/// Longest chain of dependent additions is kGemmBlock + inner / kGemmBlock + 1: the length in the error bound.
inline constexpr std::size_t kGemmBlock = 64;

/// Bound on |computed - exact| for each element c_ij of `gemm`, relative to sum_k |a_ik b_kj|, in units of u = 2^-24:
/// each product enters one fused addition and then at most kGemmBlock - 1 + inner / kGemmBlock + 1 further ones, n in
/// all, and (1 + u)^n - 1 <= n u / (1 - n u). Infinite where that has no bound.
[[nodiscard]] constexpr double gemm_error_units(std::size_t inner) {
  const auto n = static_cast<double>(kGemmBlock + inner / kGemmBlock + 3);
  return n < 0x1p24 ? n / (1.0 - n * 0x1p-24) : std::numeric_limits<double>::infinity();
}

/// c = a * b in float32. a: [rows x inner], row stride `lda`, rows a multiple of kGemmRows; b: [inner x columns], row
/// stride `ldb`; c: [rows x columns], row stride `ldc`. columns, ldb and ldc are multiples of 16.
void gemm(const float* a, std::size_t lda, std::size_t rows, const float* b, std::size_t ldb, std::size_t inner,
          float* c, std::size_t ldc, std::size_t columns);

/// Name of the instruction set that `gemm` runs on.
[[nodiscard]] const char* gemm_target();

}  // namespace rthiss::simd
