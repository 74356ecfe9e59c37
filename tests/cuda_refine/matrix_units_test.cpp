#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "matrix_units_run.hpp"

// What the proof of the filter assumes of the matrix units, which is not documented: with K products a step's addends
// lose at most 2^-23 of the largest magnitude in sight each, and each of K / 16 steps (K / 8 or K / 4 inside the
// device) once more in normalising. Sums are compared with exact ones in 128-bit integers. The proof's own bound is
// 4 K 2^-23 M, M = |start| + sum |products|; here the assumption is tested without the factor in reserve.
namespace rthiss::test {
namespace {

constexpr double kUnit = 0x1p-48;  // of the products of float16

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/// Sign, exponent of the leading bit (-14 ... 15) and the ten bits below it.
std::uint16_t half_of(bool negative, int exponent, std::uint32_t mantissa) {
  return static_cast<std::uint16_t>((negative ? 0x8000U : 0U) | static_cast<std::uint32_t>(exponent + 15) << 10 |
                                    (mantissa & 1023U));
}

struct Dots {
  std::uint32_t width;
  std::vector<std::uint16_t> a, b;
  std::vector<float> start;
};

/// Most that was gained and lost, as parts of K 2^-23 M.
struct Loss {
  double most = 0.0;
  double least = 0.0;
};

Loss loss_of(const Dots& dots) {
  const std::vector<float> sums = dot_in_matrix_units(dots.a, dots.b, dots.start, dots.width);
  Loss loss;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    __extension__ using Wide = __int128;
    const auto exact_units = [](double value) { return static_cast<Wide>(value / kUnit); };  // exact below 2^79
    Wide sum = exact_units(static_cast<double>(dots.start[i]));
    double magnitude = std::fabs(static_cast<double>(dots.start[i]));
    for (std::size_t k = i * dots.width; k < (i + 1) * dots.width; ++k) {
      const double product = half_value(dots.a[k]) * half_value(dots.b[k]);  // 22 bits: exact
      sum += exact_units(product);
      magnitude += std::fabs(product);
    }
    const double off = static_cast<double>(exact_units(static_cast<double>(sums[i])) - sum) * kUnit;
    if (magnitude == 0.0) {
      EXPECT_EQ(off, 0.0);
      continue;
    }
    const double part = off / (dots.width * 0x1p-23 * magnitude);
    loss.most = std::max(loss.most, part);
    loss.least = std::min(loss.least, part);
  }
  return loss;
}

class MatrixUnits : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
  }
  /// `K` products and at most K / 4 sums, each 2^-23 of the largest magnitude, which is at most M.
  static void expect_within(const Dots& dots, const char* what, double* worst = nullptr) {
    const Loss loss = loss_of(dots);
    std::printf("%s, %u products: lost from %.5f to %.5f of K 2^-23 M\n", what, dots.width, loss.least, loss.most);
    EXPECT_LE(std::max(loss.most, -loss.least), 1.25) << what;
    if (worst != nullptr) *worst = std::max({*worst, loss.most, -loss.least});
  }
};

// A large start beside products that stand just below each of its last bits, all of one sign: whatever is cut off is
// cut off sixteen times.
TEST_F(MatrixUnits, SmallProductsBesideALargeStart) {
  double worst = 0.0;
  for (const std::uint32_t width : {16U, 128U, 784U}) {
    Dots dots{width, {}, {}, {}};
    for (int below = 18; below <= 30; ++below) {
      for (const std::uint32_t mantissa : {0U, 1U, 511U, 1023U}) {
        for (const bool negative : {false, true}) {
          for (const float start : {1.0F, -1.0F, 1.99999988F, -1.99999988F}) {
            dots.start.push_back(start);
            for (std::uint32_t k = 0; k < width; ++k) {
              dots.a.push_back(half_of(negative, -below / 2, mantissa));
              dots.b.push_back(half_of(false, -(below - below / 2), mantissa));
            }
          }
        }
      }
    }
    expect_within(dots, "small products", width == 16 ? &worst : nullptr);
  }
  // The inputs do reach what the bound is about: more is lost than in rounding the exact sum once to nearest.
  EXPECT_GT(worst * 16, 0.5);
}

// One large product, the others small or tiny, at every place of a step.
TEST_F(MatrixUnits, OneLargeProduct) {
  Dots dots{16, {}, {}, {}};
  for (std::uint32_t place = 0; place < 16; ++place) {
    for (int below = 10; below <= 28; ++below) {
      for (const bool negative : {false, true}) {
        dots.start.push_back(below % 2 == 0 ? 0.0F : std::ldexp(1.0F, 4 - below));
        for (std::uint32_t k = 0; k < 16; ++k) {
          dots.a.push_back(k == place ? half_of(false, 5, 1023) : half_of(negative, -below / 2, 1023));
          dots.b.push_back(k == place ? half_of(false, 5, 1023) : half_of(false, -(below - below / 2), 777));
        }
      }
    }
  }
  expect_within(dots, "one large product");
}

TEST_F(MatrixUnits, RandomExponentsAndCancellation) {
  std::mt19937 random(7);
  for (const std::uint32_t width : {16U, 32U, 128U, 784U}) {
    for (const int spread : {0, 4, 12, 24}) {
      Dots dots{width, {}, {}, {}};
      for (int i = 0; i < 500; ++i) {
        double sum = 0.0;
        for (std::uint32_t k = 0; k < width; ++k) {
          const auto draw = [&] {
            const int exponent = 8 - (spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(spread + 1)));
            return half_of(random() % 2 != 0, std::max(exponent, -14), random());
          };
          dots.a.push_back(draw());
          dots.b.push_back(draw());
          sum += half_value(dots.a.back()) * half_value(dots.b.back());
        }
        // A third of the starts cancels the sum, a third is far above, a third is 0.
        const double start = i % 3 == 0 ? -sum : i % 3 == 1 ? std::ldexp(1.0, 12 + i % 20) : 0.0;
        dots.start.push_back(static_cast<float>(start));
      }
      expect_within(dots, "random exponents");
    }
  }
}

}  // namespace
}  // namespace rthiss::test
