#include "simd/gemm.hpp"

#include <gtest/gtest.h>

#include "simd/samples.hpp"

namespace rthiss::test {
namespace {

TEST(Gemm, WithinItsBound) {
  for_each_target([] {
    for (const unsigned kind : {0U, 1U, 2U}) {
      for (const std::size_t inner : {1, 2, 63, 64, 65, 200, 784}) {
        for (const std::size_t columns : {16, 32, 48, 80}) {
          const std::size_t rows = 2 * simd::kGemmRows, lda = inner + 3, ldb = columns + 16, ldc = columns + 16;
          const std::vector<float> a = float_samples(rows * lda, kind, 1);
          const std::vector<float> b = float_samples(inner * ldb, kind, 2);
          std::vector<float> c(rows * ldc, -7.0F);
          simd::gemm(a.data(), lda, rows, b.data(), ldb, inner, c.data(), ldc, columns);
          for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) {
              long double exact = 0, magnitude = 0;
              for (std::size_t k = 0; k < inner; ++k) {
                const long double product = static_cast<long double>(a[i * lda + k]) * b[k * ldb + j];
                exact += product;
                magnitude += std::fabs(product);
              }
              ASSERT_LE(std::fabs(c[i * ldc + j] - exact),
                        simd::gemm_error_units(inner) * kU * magnitude + static_cast<double>(inner) * 0x1p-149L);
            }
            for (std::size_t j = columns; j < ldc; ++j) ASSERT_EQ(c[i * ldc + j], -7.0F);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace rthiss::test
