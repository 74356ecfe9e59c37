// Single pairs by each tier of the exactness rule, on one thread.
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/floating_point_scope.hpp"
#include "distance/pair_decider.hpp"
#include "rates.hpp"

namespace rthiss::micro {
namespace {

constexpr std::size_t kRows = 32;

/// Decides all pairs of `rows` [kRows x d]; an error where `expected` of the tiers did not decide all of them.
void decide_all(benchmark::State& state, const std::vector<double>& rows, std::size_t d, double radius,
                const ValueGrid& grid, std::uint64_t TierCounts::*expected) {
  const FloatingPointScope scope;
  const auto decider = make_pair_decider({}, radius, d, grid);
  TierCounts counts;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        benchmark::DoNotOptimize(decider->within(rows.data() + i * d, rows.data() + j * d, counts));
      }
    }
  }
  if (counts.*expected != counts.total()) state.SkipWithError("another tier decided");
  constexpr double kPairs = kRows * (kRows - 1) / 2;
  set_rates(state, {kPairs, 2.0 * kPairs * static_cast<double>(d) * sizeof(double)});
}

void decide_double(benchmark::State& state) {
  const auto d = static_cast<std::size_t>(state.range(0));
  const Array<float> values = random_floats(kRows * d, 1);
  const std::vector<double> rows(values.begin(), values.end());
  // Off the grid: the bound decides. Half of the pairs are within.
  decide_all(state, rows, d, std::sqrt(static_cast<double>(d) / 6.0), {}, &TierCounts::in_double);
}
BENCHMARK(decide_double)->ArgNames({"d"})->Arg(64)->Arg(128)->Arg(512)->Arg(784);

/// Rows of the Hadamard matrix of order d in two symbols whose difference is 2^54 - 3, an odd integer of 54 bits: any
/// two are sqrt(d / 2) times that apart, which is a midpoint of two doubles where d / 2 is a power of 4.
std::vector<double> nothing_but_ties(std::size_t d) {
  const double symbols[] = {0x1p53 - 1, -(0x1p53 - 2)};
  std::vector<double> rows(kRows * d);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t k = 0; k < d; ++k) rows[i * d + k] = symbols[std::popcount(i & k) % 2];
  }
  return rows;
}

/// The double below that midpoint.
double radius_of_ties(std::size_t d) { return std::sqrt(static_cast<double>(d / 2)) * (0x1p54 - 4); }

const ValueGrid kIntegers{true, 0, 0x1p53 - 1, 0x1p53 - 1};

void decide_double_double(benchmark::State& state) {
  const auto d = static_cast<std::size_t>(state.range(0));
  decide_all(state, nothing_but_ties(d), d, std::nextafter(radius_of_ties(d), 0.0), kIntegers,
             &TierCounts::double_double);
}
BENCHMARK(decide_double_double)->ArgNames({"d"})->Arg(32)->Arg(128)->Arg(512);

// Nothing but ties that no other tier can decide.
void decide_exact(benchmark::State& state) {
  const auto d = static_cast<std::size_t>(state.range(0));
  decide_all(state, nothing_but_ties(d), d, radius_of_ties(d), kIntegers, &TierCounts::exact);
}
BENCHMARK(decide_exact)->ArgNames({"d"})->Arg(32)->Arg(128)->Arg(512);

}  // namespace
}  // namespace rthiss::micro
