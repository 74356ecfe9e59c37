#include "simd/gemm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Registers: kGemmRows x vectors accumulators, twice (block and total), must not spill on 32 registers of AVX-512;
// with 16 registers one vector a row is all that fits.
template <std::size_t kVectors>
HWY_ATTR void block_columns(const float* HWY_RESTRICT a, std::size_t lda, const float* HWY_RESTRICT b, std::size_t ldb,
                            std::size_t inner, float* HWY_RESTRICT c, std::size_t ldc) {
  using D = hn::ScalableTag<float>;
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  using V = hn::Vec<D>;
  static_assert(kVectors <= 2);
  V total0[kGemmRows], total1[kGemmRows];
  for (std::size_t r = 0; r < kGemmRows; ++r) total0[r] = total1[r] = hn::Zero(d);
  for (std::size_t k0 = 0; k0 < inner; k0 += kGemmBlock) {
    const std::size_t k1 = HWY_MIN(inner, k0 + kGemmBlock);
    V sum0[kGemmRows], sum1[kGemmRows];
    for (std::size_t r = 0; r < kGemmRows; ++r) sum0[r] = sum1[r] = hn::Zero(d);
    for (std::size_t k = k0; k < k1; ++k) {
      const V b0 = hn::LoadU(d, b + k * ldb);
      V b1 = b0;
      if constexpr (kVectors > 1) b1 = hn::LoadU(d, b + k * ldb + lanes);
      for (std::size_t r = 0; r < kGemmRows; ++r) {
        const V x = hn::Set(d, a[r * lda + k]);
        sum0[r] = hn::MulAdd(x, b0, sum0[r]);
        if constexpr (kVectors > 1) sum1[r] = hn::MulAdd(x, b1, sum1[r]);
      }
    }
    for (std::size_t r = 0; r < kGemmRows; ++r) {
      total0[r] = hn::Add(total0[r], sum0[r]);
      if constexpr (kVectors > 1) total1[r] = hn::Add(total1[r], sum1[r]);
    }
  }
  for (std::size_t r = 0; r < kGemmRows; ++r) {
    hn::StoreU(total0[r], d, c + r * ldc);
    if constexpr (kVectors > 1) hn::StoreU(total1[r], d, c + r * ldc + lanes);
  }
}

HWY_ATTR void gemm_body(const float* a, std::size_t lda, std::size_t rows, const float* b, std::size_t ldb,
                        std::size_t inner, float* c, std::size_t ldc, std::size_t columns) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  for (std::size_t r = 0; r < rows; r += kGemmRows) {
    std::size_t j = 0;
    for (; j + 2 * lanes <= columns; j += 2 * lanes) {
      block_columns<2>(a + r * lda, lda, b + j, ldb, inner, c + r * ldc + j, ldc);
    }
    for (; j < columns; j += lanes) block_columns<1>(a + r * lda, lda, b + j, ldb, inner, c + r * ldc + j, ldc);
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss::simd {

HWY_EXPORT(gemm_body);
HWY_EXPORT(target_name);

void gemm(const float* a, std::size_t lda, std::size_t rows, const float* b, std::size_t ldb, std::size_t inner,
          float* c, std::size_t ldc, std::size_t columns) {
  HWY_DYNAMIC_DISPATCH(gemm_body)(a, lda, rows, b, ldb, inner, c, ldc, columns);
}

const char* gemm_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace rthiss::simd
#endif
