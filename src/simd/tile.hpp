#pragma once

#include <cstddef>
#include <cstdint>

namespace rthiss::simd {

/// A tile compares up to kTileSide query rows with up to kTileSide points; one bit of a 64-bit word a pair.
inline constexpr std::size_t kTileSide = 64;
/// Query rows of a tile are padded to a multiple of this many (read, results unused).
inline constexpr std::size_t kTileRows = 6;
/// Rows of room that a tile's padded query rows need.
inline constexpr std::size_t kTileRowRoom = (kTileSide + kTileRows - 1) / kTileRows * kTileRows;

/// Points of `panel` [width x 64, one component of all points contiguous] whose computed squared distance to the box
/// [low, high] [width] is not above `limit`, as bits. Relative error of the computed value: (width + 4) u.
[[nodiscard]] std::uint64_t near_box(const float* panel, std::size_t width, const float* low, const float* high,
                                     float limit);

/// out[r] = x[rows[r]] - center over `width` floats for each of `count` row indices (source and result row-major,
/// strides `stride` and `width` rounded up to 16, padding zero); norms[r] = |out[r]|^2 with relative error (width + 2)
/// u.
void center_rows(const float* x, std::size_t stride, const std::uint8_t* rows, std::size_t count, std::size_t width,
                 const float* center, float* out, float* norms);

/// The same for the points of `panel` [width x 64] in `keep`, moved together to the front of `out` [width x 64];
/// half_norms[j] = |out_j|^2 / 2, +inf for columns without a point. `out` has room for 16 floats more.
void center_columns(const float* panel, std::size_t width, std::uint64_t keep, const float* center, float* out,
                    float* half_norms);

/// Dense filter by scalar products: for row r and column j with acc = x_r . y_j - half_norms[j], bit j of maybe[r] is
/// !(acc < out_limit[r]) (so a NaN stays a maybe), bit j of sure[r] is acc >= in_limit[r].
/// x: [rows x ldx] with rows padded to kTileRows; y: [width x 64].
/// |computed acc - exact acc| <= (width + 3) u (|x_r| + |y_j|)^2 / 2 + (width + 3) 2^-149.
void dense_tile(const float* x, std::size_t ldx, std::size_t rows, const float* y, std::size_t width,
                std::size_t columns, const float* half_norms, const float* out_limit, const float* in_limit,
                std::uint64_t* maybe, std::uint64_t* sure);

/// Dense filter by squared differences, with early exit: bit j of maybe[r] is !(s > out_limit), bit j of sure[r] is
/// s <= in_limit, s = |x_r - y_j|^2 with relative error (width + 3) u plus width 2^-149 absolute. Leaves a block of
/// rows and columns as soon as every partial sum is above out_limit (paper, section IV-E).
void difference_tile(const float* x, std::size_t ldx, std::size_t rows, const float* y, std::size_t width,
                     std::size_t columns, float out_limit, float in_limit, std::uint64_t* maybe, std::uint64_t* sure);

/// out[i] = |x - base[rows[i]]|^2 over `width` floats (a multiple of 16), rows `stride` floats apart, with relative
/// error (width + 3) u plus width 2^-149 absolute. Sums that pass `limit` may be left unfinished (and are then above
/// it).
void pair_distances(const float* x, const float* base, std::size_t stride, const std::uint32_t* rows, std::size_t count,
                    std::size_t width, float limit, float* out);

}  // namespace rthiss::simd
