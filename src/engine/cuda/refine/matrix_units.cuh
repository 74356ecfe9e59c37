#pragma once

#include <cstdint>

namespace rthiss::cuda {

/// out = in + A B^T for 16 rows of A and 8 rows of B of 16 numbers of float16 each, sums in float32. Lane l holds of A
/// the rows l / 4 (a[0], a[2]) and l / 4 + 8 (a[1], a[3]), of B the row l / 4, of the sums the rows l / 4 (0, 1) and
/// l / 4 + 8 (2, 3) and the columns 2 (l % 4) and the next. Which four of the 16 numbers a lane of a row holds makes no
/// difference, as long as A and B agree.
__device__ inline void multiply_add(float (&out)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                    const float (&in)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(in[0]), "f"(in[1]), "f"(in[2]), "f"(in[3]));
#else
  float half[4];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=f"(half[0]), "=f"(half[1]), "=f"(half[2]), "=f"(half[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0), "f"(in[0]), "f"(in[1]), "f"(in[2]), "f"(in[3]));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=f"(out[0]), "=f"(out[1]), "=f"(out[2]), "=f"(out[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1), "f"(half[0]), "f"(half[1]), "f"(half[2]), "f"(half[3]));
#endif
}

}  // namespace rthiss::cuda
