#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <random>
#include <rthiss/array.hpp>

#include "peak_fma.hpp"

namespace rthiss::micro {

/// What one iteration does. A rate that is 0 is left out of the report.
struct Work {
  double items = 0.0;
  double bytes = 0.0;  ///< read and written, of each array once
  double flops = 0.0;  ///< additions, subtractions, multiplications; a fused multiply-add is two
};

/// Reports `work` per second of processor time, the operations also in per cent of the peak rate of one thread.
inline void set_rates(benchmark::State& state, const Work& work) {
  const auto iterations = static_cast<double>(state.iterations());
  const auto rate = [&](double amount) { return benchmark::Counter(amount * iterations, benchmark::Counter::kIsRate); };
  if (work.items > 0.0) state.counters["items_per_second"] = rate(work.items);
  if (work.bytes > 0.0) state.counters["bytes_per_second"] = rate(work.bytes);
  if (work.flops > 0.0) {
    state.counters["flops"] = rate(work.flops);
    state.counters["peak_percent"] = rate(100.0 * work.flops / peak_flops());
  }
}

/// Uniform in [0, 1).
[[nodiscard]] inline Array<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform;
  Array<float> out(count);
  for (float& value : out) value = uniform(random);
  return out;
}

}  // namespace rthiss::micro
