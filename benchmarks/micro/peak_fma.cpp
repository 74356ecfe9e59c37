#include "peak_fma.hpp"

#include <algorithm>
#include <ctime>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak_fma.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rthiss::micro {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Two units of latency four or five need ten chains; twelve and both factors fit the 16 registers of AVX2.
constexpr std::size_t kChains = 12;

HWY_ATTR std::size_t run_fma_body(std::size_t rounds, float& out) {
  using D = hn::ScalableTag<float>;
  const D d;
  hn::Vec<D> sums[kChains];
  for (std::size_t i = 0; i < kChains; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  const auto factor = hn::Set(d, 0.5F);
  const auto term = hn::Set(d, 1.0F);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (auto& sum : sums) sum = hn::MulAdd(sum, factor, term);
  }
  auto all = sums[0];
  for (std::size_t i = 1; i < kChains; ++i) all = hn::Add(all, sums[i]);
  out = hn::GetLane(all);
  return 2 * kChains * hn::Lanes(d) * rounds;
}

}  // namespace HWY_NAMESPACE
}  // namespace rthiss::micro
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rthiss::micro {

HWY_EXPORT(run_fma_body);

std::size_t run_fma(std::size_t rounds) {
  float out = 0.0F;
  const std::size_t operations = HWY_DYNAMIC_DISPATCH(run_fma_body)(rounds, out);
  // Keeps the compiler from leaving the sums out.
  volatile float keep = out;
  static_cast<void>(keep);
  return operations;
}

double peak_flops() {
  static const double peak = [] {
    constexpr std::size_t kRounds = 1 << 21;
    constexpr int kTries = 200;  // a second or two: other programs slow down some of them
    double best = 0.0;
    for (int i = 0; i < kTries; ++i) {
      const std::clock_t start = std::clock();
      const std::size_t operations = run_fma(kRounds);
      const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      if (seconds > 0.0) best = std::max(best, static_cast<double>(operations) / seconds);
    }
    return best;
  }();
  return peak;
}

}  // namespace rthiss::micro
#endif
