#include "generate/portable_math.hpp"

#include <array>
#include <cmath>

namespace rthiss::generate {

namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kLn2High = 6.93147180369123816490e-01;  // its low bits are zero: k * kLn2High is exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kLog2E = 1.4426950408889634;
constexpr double kSqrtHalf = 0.7071067811865476;

constexpr auto kOddReciprocals = [] {
  std::array<double, 12> terms{};
  for (int k = 0; k < 12; ++k) terms[k] = 1.0 / (2 * k + 1);
  return terms;
}();

constexpr auto kInverseFactorials = [] {
  std::array<double, 15> terms{1.0};
  for (int k = 1; k < 15; ++k) terms[k] = terms[k - 1] / k;
  return terms;
}();

template <std::size_t N>
double horner(const std::array<double, N>& terms, double x) noexcept {
  double sum = terms[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) {
    sum = sum * x;
    sum = sum + terms[k];
  }
  return sum;
}

}  // namespace

double portable_log(double x) noexcept {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa = mantissa + mantissa;
    --exponent;
  }
  const double f = (mantissa - 1.0) / (mantissa + 1.0);
  return exponent * kLn2 + (f + f) * horner(kOddReciprocals, f * f);
}

double portable_exp(double x) noexcept {
  const double k = std::rint(x * kLog2E);
  const double rest = (x - k * kLn2High) - k * kLn2Low;
  return std::ldexp(horner(kInverseFactorials, rest), static_cast<int>(k));
}

}  // namespace rthiss::generate
