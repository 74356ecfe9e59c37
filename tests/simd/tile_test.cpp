#include "simd/tile.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "simd/samples.hpp"

namespace rthiss::test {
namespace {

using simd::kTileSide;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool bit(std::uint64_t word, std::size_t at) { return ((word >> at) & 1) != 0; }

long double square(long double v) { return v * v; }

TEST(NearBoxes, NeverLeaveOutWhatIsNear) {
  for_each_target([] {
    for (const unsigned kind : {0U, 1U, 2U}) {
      for (const std::size_t width : {1, 2, 5, 16}) {
        const std::size_t stride = 16;
        const std::vector<float> panel = float_samples(width * kTileSide, kind, 3);
        std::vector<float> low = float_samples(simd::kStrips * stride, kind, 4), high = low;
        for (std::size_t i = 0; i < high.size(); ++i) high[i] += std::fabs(panel[i % panel.size()]) / 4;
        for (const std::size_t boxes : {1, 3, 4}) {
          for (const float limit : {0.0F, 1e-3F, 1.0F, 64.0F, kInfinity}) {
            std::uint64_t near[simd::kStrips] = {};
            simd::near_boxes(panel.data(), width, low.data(), high.data(), stride, boxes, limit, near);
            for (std::size_t b = 0; b < boxes; ++b) {
              for (std::size_t j = 0; j < kTileSide; ++j) {
                long double sum = 0;
                for (std::size_t k = 0; k < width; ++k) {
                  const long double x = panel[k * kTileSide + j];
                  const long double gap = std::max({low[b * stride + k] - x, x - high[b * stride + k], 0.0L});
                  sum += gap * gap;
                }
                const long double doubt = (static_cast<double>(width) + 4) * kU * sum + 0x1p-140L;
                if (sum + doubt <= limit) {
                  ASSERT_TRUE(bit(near[b], j));
                }
                if (sum - doubt > limit) {
                  ASSERT_FALSE(bit(near[b], j));
                }
              }
            }
          }
        }
      }
    }
  });
}

TEST(Center, SubtractsAndMeasures) {
  for_each_target([] {
    for (const unsigned kind : {0U, 1U, 2U}) {
      for (const std::size_t width : {16, 48, 128}) {
        const std::vector<float> rows = float_samples(kTileSide * width, kind, 5);
        const std::vector<float> center = float_samples(width, kind, 6);
        const long double units = (static_cast<long double>(width) + 2) * kU;
        for (const std::size_t count : {1, 31, 64}) {
          std::vector<float> out(kTileSide * width), norms(kTileSide);
          simd::center_rows(rows.data(), count, width, center.data(), out.data(), norms.data());
          for (std::size_t r = 0; r < count; ++r) {
            long double sum = 0;
            for (std::size_t k = 0; k < width; ++k) {
              ASSERT_EQ(out[r * width + k], rows[r * width + k] - center[k]);
              sum += square(out[r * width + k]);
            }
            ASSERT_LE(std::fabs(norms[r] - sum), units * sum + 0x1p-140L);
          }
          // The same rows seen as a panel.
          std::vector<float> moved(width * kTileSide), half_norms(kTileSide);
          simd::center_columns(rows.data(), width, count, center.data(), moved.data(), half_norms.data());
          for (std::size_t j = 0; j < kTileSide; ++j) {
            if (j >= count) {
              ASSERT_EQ(half_norms[j], kInfinity);
              continue;
            }
            long double half = 0;
            for (std::size_t k = 0; k < width; ++k) {
              ASSERT_EQ(moved[k * kTileSide + j], rows[k * kTileSide + j] - center[k]);
              half += square(moved[k * kTileSide + j]) / 2;
            }
            ASSERT_LE(std::fabs(half_norms[j] - half), units * half + 0x1p-140L);
          }
        }
      }
    }
  });
}

struct DenseSample {
  std::size_t width, ldx;
  std::vector<float> x, y, half_norms, out, in, row_rests, column_rests;

  DenseSample(std::size_t w, unsigned kind, bool rests) : width(w), ldx((w + 15) / 16 * 16) {
    x = float_samples(kTileSide * ldx, kind, 7);
    y = float_samples(width * kTileSide, kind, 8);
    half_norms.resize(kTileSide);
    for (std::size_t j = 0; j < kTileSide; ++j) {
      long double half = 0;
      for (std::size_t k = 0; k < width; ++k) half += square(y[k * kTileSide + j]) / 2;
      half_norms[j] = j >= 61 ? kInfinity : static_cast<float>(half);
    }
    row_rests = column_rests = std::vector<float>(kTileSide, 0.0F);
    for (std::size_t r = 0; r < kTileSide; ++r) {
      // Limits in the middle of the row's values, so that both answers occur.
      const auto middle = static_cast<float>(accumulator(r, (r * 7) % 61));
      out.push_back(middle);
      in.push_back(middle + std::fabs(middle) / 8);
      if (rests) row_rests[r] = static_cast<float>(r) / 32, column_rests[r] = static_cast<float>(64 - r) / 32;
    }
  }
  [[nodiscard]] long double accumulator(std::size_t r, std::size_t j) const {
    long double acc = -static_cast<long double>(half_norms[j]);
    for (std::size_t k = 0; k < width; ++k) acc += static_cast<long double>(x[r * ldx + k]) * y[k * kTileSide + j];
    return acc;
  }
  [[nodiscard]] long double doubt(std::size_t r, std::size_t j) const {
    long double xx = 0;
    for (std::size_t k = 0; k < width; ++k) xx += square(x[r * ldx + k]);
    const long double yy = 2 * static_cast<long double>(half_norms[j]);
    const auto w = static_cast<long double>(width);
    return (w + 3) * kU * square(std::sqrt(xx) + std::sqrt(yy)) / 2 + (w + 3) * 0x1p-149L;
  }
};

TEST(DenseTile, WithinItsBound) {
  for_each_target([] {
    for (const unsigned kind : {0U, 1U, 2U}) {
      for (const std::size_t width : {1, 7, 16, 33, 128}) {
        for (const bool rests : {false, true}) {
          const DenseSample sample(width, kind, rests);
          std::mt19937_64 random(width);
          for (int round = 0; round < 4; ++round) {
            std::uint64_t near[simd::kStrips] = {};
            for (std::uint64_t& strip : near)
              strip = round == 0 ? ~std::uint64_t{0} : round == 1 ? 0 : random() & random();
            std::uint64_t maybe[kTileSide] = {}, sure[kTileSide] = {};
            const bool with_in = round != 3;
            const simd::DenseLimits limits{sample.half_norms.data(), sample.out.data(),
                                           with_in ? sample.in.data() : nullptr, sample.row_rests.data(),
                                           sample.column_rests.data()};
            const std::uint64_t found =
                simd::dense_tile(sample.x.data(), sample.ldx, sample.y.data(), width, near, limits, maybe, sure);
            int outs = 0, ins = 0;
            for (std::size_t r = 0; r < kTileSide; ++r) {
              for (std::size_t j = 0; j < 61; ++j) {
                const bool is_maybe = bit(found, r) && bit(maybe[r], j);
                const bool is_sure = bit(found, r) && with_in && bit(sure[r], j);
                const long double acc = sample.accumulator(r, j), doubt = sample.doubt(r, j);
                const long double product = static_cast<long double>(sample.row_rests[r]) * sample.column_rests[j];
                const long double less = acc - product;
                const long double doubt_less = doubt + kU * (std::fabs(less) + doubt);
                if (bit(near[j / simd::kStripColumns], r) && acc - doubt >= sample.out[r]) {
                  ASSERT_TRUE(is_maybe);
                }
                if (acc + doubt < sample.out[r]) {
                  ASSERT_FALSE(is_maybe);
                  ++outs;
                }
                if (is_maybe && with_in && less - doubt_less >= sample.in[r]) {
                  ASSERT_TRUE(is_sure);
                  ++ins;
                }
                if (is_sure) {
                  ASSERT_GE(less + doubt_less, sample.in[r]);
                }
              }
              // No point, no maybe.
              if (bit(found, r)) {
                ASSERT_EQ(maybe[r] >> 61, 0U);
              }
            }
            if (round == 0 && kind == 0) {
              ASSERT_GT(std::min(outs, ins), 10);
            }
          }
        }
      }
    }
  });
}

TEST(DenseTile, NotANumberStaysAMaybe) {
  for_each_target([] {
    DenseSample sample(16, 0, false);
    sample.x[5 * sample.ldx + 3] = std::numeric_limits<float>::quiet_NaN();
    sample.out[9] = std::numeric_limits<float>::quiet_NaN();
    sample.out[10] = -kInfinity;
    const std::uint64_t near[simd::kStrips] = {~0ULL, ~0ULL, ~0ULL, ~0ULL};
    std::uint64_t maybe[kTileSide] = {}, sure[kTileSide] = {};
    const simd::DenseLimits limits{sample.half_norms.data(), sample.out.data(), sample.in.data(),
                                   sample.row_rests.data(), sample.column_rests.data()};
    const std::uint64_t found =
        simd::dense_tile(sample.x.data(), sample.ldx, sample.y.data(), 16, near, limits, maybe, sure);
    const std::uint64_t all = (std::uint64_t{1} << 61) - 1;
    for (const std::size_t row : {5, 9, 10}) {
      EXPECT_TRUE(bit(found, row));
      EXPECT_EQ(maybe[row] & all, all);
    }
    EXPECT_EQ(sure[5] & all, 0U);
  });
}

TEST(DifferenceTile, WithinItsBound) {
  for_each_target([] {
    for (const unsigned kind : {0U, 1U, 2U}) {
      for (const std::size_t width : {1, 31, 32, 33, 64, 130}) {
        const std::size_t ldx = width + 5;
        const std::vector<float> x = float_samples(simd::kTileRowRoom * ldx, kind, 9);
        const std::vector<float> y = float_samples(width * kTileSide, kind, 10);
        const auto exact = [&](std::size_t r, std::size_t j) {
          long double sum = 0;
          for (std::size_t k = 0; k < width; ++k) {
            sum += square(static_cast<long double>(x[r * ldx + k]) - y[k * kTileSide + j]);
          }
          return sum;
        };
        for (const std::size_t columns : {1, 17, 63, 64}) {
          for (const long double share : {0.01L, 0.9L, 1.1L}) {
            const auto out = static_cast<float>(exact(3, 0) * share);
            const float in = out * 0.9F;
            std::uint64_t maybe[simd::kTileRowRoom] = {}, sure[simd::kTileRowRoom] = {};
            simd::difference_tile(x.data(), ldx, 12, y.data(), width, columns, out, in, maybe, sure);
            for (std::size_t r = 0; r < 12; ++r) {
              for (std::size_t j = 0; j < kTileSide; ++j) {
                if (j >= columns) {
                  ASSERT_FALSE(bit(maybe[r] | sure[r], j));
                  continue;
                }
                const long double sum = exact(r, j);
                const long double doubt = (static_cast<double>(width) + 3) * kU * sum + 0x1p-140L;
                if (sum + doubt <= out) {
                  ASSERT_TRUE(bit(maybe[r], j));
                }
                if (sum - doubt > out) {
                  ASSERT_FALSE(bit(maybe[r], j));
                }
                if (sum + doubt <= in) {
                  ASSERT_TRUE(bit(sure[r], j));
                }
                if (sum - doubt > in) {
                  ASSERT_FALSE(bit(sure[r], j));
                }
              }
            }
          }
        }
      }
    }
  });
}

std::vector<simd::TilePair> tile_pairs(std::size_t count) {
  std::vector<simd::TilePair> pairs(count + simd::kPairPadding, {63, 63});
  for (std::size_t i = 0; i < count; ++i) {
    pairs[i] = {static_cast<std::uint8_t>(i * 13 % 64), static_cast<std::uint8_t>(i * 29 % 64)};
  }
  return pairs;
}

TEST(PairDistances, FloatsWithinTheBound) {
  for_each_target([] {
    for (const unsigned kind : {0U, 1U, 2U}) {
      for (const std::size_t width : {16, 32, 128, 144, 400}) {
        const std::size_t stride = width + 16;
        const std::vector<float> x = float_samples(kTileSide * stride, kind, 11);
        const std::vector<float> y = float_samples(kTileSide * stride, kind, 12);
        for (const std::size_t count : {0, 1, 2, 3, 4, 5, 63, 64, 65}) {
          for (const float limit : {0.0F, 10.0F, kInfinity}) {
            std::vector<simd::TilePair> pairs = tile_pairs(count);
            std::vector<float> out(count + simd::kPairPadding);
            simd::pair_distances(x.data(), y.data(), stride, pairs.data(), count, width, limit, out.data());
            for (std::size_t i = 0; i < count; ++i) {
              long double sum = 0;
              for (std::size_t k = 0; k < width; ++k) {
                sum +=
                    square(static_cast<long double>(x[pairs[i].query * stride + k]) - y[pairs[i].point * stride + k]);
              }
              const long double doubt = (static_cast<double>(width) + 3) * kU * sum + 0x1p-140L;
              if (out[i] > limit) {
                ASSERT_GT(sum + doubt, limit);
              } else {
                ASSERT_LE(std::fabs(out[i] - sum), doubt);
              }
            }
          }
        }
      }
    }
  });
}

TEST(PairDistances, BytesExactly) {
  for_each_target([] {
    for (const std::size_t stride : {64, 128, 832, 32768}) {
      std::mt19937 random(5);
      std::vector<std::uint8_t> x(kTileSide * stride), y(kTileSide * stride);
      for (std::uint8_t& value : x) value = static_cast<std::uint8_t>(random());
      for (std::uint8_t& value : y) value = static_cast<std::uint8_t>(random());
      // The largest sums there are, in both directions.
      std::fill_n(x.begin(), stride, std::uint8_t{255});
      std::fill_n(y.begin(), stride, std::uint8_t{0});
      std::fill_n(x.begin() + 13 * static_cast<std::ptrdiff_t>(stride), stride, std::uint8_t{0});
      std::fill_n(y.begin() + 29 * static_cast<std::ptrdiff_t>(stride), stride, std::uint8_t{255});
      for (const std::size_t count : {1, 2, 4, 7}) {
        std::vector<simd::TilePair> pairs = tile_pairs(count);
        std::vector<std::uint32_t> out(count + simd::kPairPadding);
        simd::pair_distances(x.data(), y.data(), stride, pairs.data(), count, out.data());
        for (std::size_t i = 0; i < count; ++i) {
          std::uint64_t sum = 0;
          for (std::size_t k = 0; k < stride; ++k) {
            const int difference = int{x[pairs[i].query * stride + k]} - int{y[pairs[i].point * stride + k]};
            sum += static_cast<std::uint64_t>(difference * difference);
          }
          ASSERT_EQ(out[i], sum);
        }
      }
    }
  });
}

}  // namespace
}  // namespace rthiss::test
