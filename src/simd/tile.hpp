#pragma once

#include <cstddef>
#include <cstdint>

namespace rthiss::simd {

/// A tile compares up to kTileSide query rows with up to kTileSide points; one bit of a 64-bit word a pair. Its columns
/// fall into strips, and each strip has its own set of rows that are compared with it.
inline constexpr std::size_t kTileSide = 64;
inline constexpr std::size_t kStripColumns = 16;
inline constexpr std::size_t kStrips = kTileSide / kStripColumns;
inline constexpr std::size_t kBlockRows = 6;  ///< rows that the dense filter works on together

/// For each of `boxes` boxes [low, high] (each [stride] floats, one after the other): the points of `panel` [width x
/// 64, one component of all points contiguous] whose computed squared distance to it is not above `limit`, as bits.
/// Relative error of the computed value: (width + 4) u. boxes <= kStrips.
void near_boxes(const float* panel, std::size_t width, const float* low, const float* high, std::size_t stride,
                std::size_t boxes, float limit, std::uint64_t* near);

/// out[r] = x[r] - center over `width` floats (a multiple of 16) for `count` rows; all row-major with stride `width`.
/// norms[r] = |out[r]|^2 with relative error (width + 2) u.
void center_rows(const float* x, std::size_t count, std::size_t width, const float* center, float* out, float* norms);

/// The same for `panel` [width x 64]; half_norms[j] = |out_j|^2 / 2, +inf for columns from `count` on.
void center_columns(const float* panel, std::size_t width, std::size_t count, const float* center, float* out,
                    float* half_norms);

/// What a dense filter by scalar products compares with.
struct DenseLimits {
  const float* half_norms;    ///< [64] of the columns; +inf where there is no point
  const float* out_limit;     ///< [64] of the rows: below it a pair is out
  const float* in_limit;      ///< [64] of the rows: from it on a pair is in, once its rests are taken off; null: never
  const float* row_rests;     ///< [64] twice the norm of what the components leave out; with in_limit
  const float* column_rests;  ///< [64] that norm; with in_limit
};

/// Dense filter by scalar products: for row r and column j with acc = x_r . y_j - half_norms[j], bit j of maybe[r] is
/// !(acc < out_limit[r]) (so a NaN stays a maybe), and where it is set, bit j of sure[r] is
/// acc - row_rests[r] column_rests[j] >= in_limit[r]. Computed for the rows in near[strip] of each strip at least;
/// elsewhere both are 0. Words of rows without a maybe are not written. x: [64 x ldx]; y: [width x 64].
/// |computed acc - exact acc| <= (width + 3) u (|x_r| + |y_j|)^2 / 2 + (width + 3) 2^-149.
/// Returns which rows have a maybe.
[[nodiscard]] std::uint64_t dense_tile(const float* x, std::size_t ldx, const float* y, std::size_t width,
                                       const std::uint64_t* near, const DenseLimits& limits, std::uint64_t* maybe,
                                       std::uint64_t* sure);

/// Query rows of a `difference_tile` are padded to a multiple of this many (read, results unused).
inline constexpr std::size_t kTileRows = 6;
/// Rows of room that a tile's padded query rows need.
inline constexpr std::size_t kTileRowRoom = (kTileSide + kTileRows - 1) / kTileRows * kTileRows;

/// Dense filter by squared differences, with early exit: bit j of maybe[r] is !(s > out_limit), bit j of sure[r] is
/// s <= in_limit, s = |x_r - y_j|^2 with relative error (width + 3) u plus width 2^-149 absolute. Leaves a block of
/// rows and columns as soon as every partial sum is above out_limit (paper, section IV-E).
void difference_tile(const float* x, std::size_t ldx, std::size_t rows, const float* y, std::size_t width,
                     std::size_t columns, float out_limit, float in_limit, std::uint64_t* maybe, std::uint64_t* sure);

/// A pair of a tile: query row and point, both below kTileSide.
struct TilePair {
  std::uint8_t query, point;
};
/// `pair_distances` writes (and reads) up to this many entries past `count`.
inline constexpr std::size_t kPairPadding = 3;

/// out[i] = |x_q - y_p|^2 over `width` floats (a multiple of 16) for pairs[i] = (q, p); rows of both sides are `stride`
/// floats apart. Relative error (width + 3) u plus width 2^-149 absolute. Sums that pass `limit` may be left unfinished
/// (and are then above it). Overwrites pairs[count ... count + kPairPadding).
void pair_distances(const float* x, const float* y, std::size_t stride, TilePair* pairs, std::size_t count,
                    std::size_t width, float limit, float* out);

/// The same for rows of integers 0 ... 255, exactly; `width` = `stride` is a multiple of 64, at most 32768.
void pair_distances(const std::uint8_t* x, const std::uint8_t* y, std::size_t stride, TilePair* pairs,
                    std::size_t count, std::uint32_t* out);

}  // namespace rthiss::simd
