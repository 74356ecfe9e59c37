#include <benchmark/benchmark.h>

#include <sstream>

#include "peak_fma.hpp"
#include "rates.hpp"
#include "simd/targets.hpp"

namespace {

/// What `peak_percent` of all others is a part of.
void peak_fma(benchmark::State& state) {
  constexpr std::size_t kRounds = 1 << 14;
  double operations = 0.0;
  for (auto _ : state) operations = static_cast<double>(rthiss::micro::run_fma(kRounds));
  rthiss::micro::set_rates(state, {0.0, 0.0, operations});
}

// The first file of the program, so the first of its benchmarks.
BENCHMARK(peak_fma);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  std::ostringstream peak;
  peak << rthiss::micro::peak_flops();
  benchmark::AddCustomContext("simd", rthiss::simd::active_target());
  benchmark::AddCustomContext("peak_flops", peak.str());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
