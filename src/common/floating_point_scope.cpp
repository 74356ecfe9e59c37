#include "common/floating_point_scope.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rthiss {

#if defined(__x86_64__)
namespace {
// All exceptions masked, round to nearest, FTZ and DAZ off; the sticky flags (low six bits) are the caller's.
constexpr unsigned kDefaultControl = 0x1F80;
constexpr unsigned kStickyFlags = 0x3F;
}  // namespace

FloatingPointScope::FloatingPointScope() noexcept : saved_control_(_mm_getcsr()) {
  const auto saved = static_cast<unsigned>(saved_control_);
  if ((saved & ~kStickyFlags) != kDefaultControl) _mm_setcsr(kDefaultControl | (saved & kStickyFlags));
}

FloatingPointScope::~FloatingPointScope() { _mm_setcsr(static_cast<unsigned>(saved_control_)); }

#elif defined(__aarch64__)

FloatingPointScope::FloatingPointScope() noexcept {
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved_control_));
  if (saved_control_ != 0) __asm__ volatile("msr fpcr, %0" ::"r"(0ULL));
}

FloatingPointScope::~FloatingPointScope() { __asm__ volatile("msr fpcr, %0" ::"r"(saved_control_)); }

#else
#error "FloatingPointScope: set and restore the floating-point control state of this processor here"
#endif

}  // namespace rthiss
