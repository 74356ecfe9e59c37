#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/parallel.hpp"
#include "geometry/farthest_points.hpp"
#include "refinement/refinement_task.hpp"

namespace rthiss::cpu {

/// One side's rows in group order, laid out for the CPU's kernels. A "chunk" is up to 64 consecutive positions of one
/// group.
struct GroupRows {
  /// Later components tell little about a box that the first have not.
  static constexpr std::size_t kNearStride = 16;

  std::size_t rows = 0;
  std::size_t full_stride = 0;
  Array<float> full;        ///< [n x full_stride] FilterSpace images, padding 0
  Array<float> full_error;  ///< [groups] largest load error
  std::size_t byte_stride = 0;
  Array<std::uint8_t> bytes;  ///< [n x byte_stride] the images where all are integers 0 ... 255, padding 0
  std::size_t coarse_width = 0, coarse_stride = 0;
  Array<float> coarse;                 ///< [n + 64 x coarse_stride]
  Array<float> coarse_norms;           ///< [n + 64] |row|^2 of `coarse`, rounded to nearest
  Array<float> half_norms;             ///< [chunks x 64] half of it; +inf where a chunk has no point
  Array<float> chunk_norm;             ///< [chunks] largest |row| of `coarse`, rounded up
  std::size_t near_width = 0;          ///< components of the strips' boxes
  Array<float> strip_low, strip_high;  ///< [chunks x 4 x kNearStride] boxes of each 16 positions, padding 0
  Array<float> panels;                 ///< [chunks x coarse_width x 64] component-major copy of `coarse`, or of `full`
  std::size_t panel_width = 0;
  std::size_t fine_stride = 0;
  Array<float> fine;                 ///< [n x fine_stride] or empty
  Array<float> fine_error;           ///< [groups]
  Array<std::uint32_t> chunk_begin;  ///< [groups + 1] first chunk of each group
  Array<float> box_low, box_high;    ///< [groups x coarse_stride] group-major copy of the bounds, padding 0
  Array<std::uint64_t> live;         ///< [chunks] bit j: position j of the chunk takes part (not an ignored row)
  Array<std::uint8_t> constant;      ///< [groups] all rows equal as real numbers
  bool all_live = true;

  [[nodiscard]] BoxCorners box(std::size_t group) const {
    return {box_low.data() + group * coarse_stride, box_high.data() + group * coarse_stride};
  }
};

/// `cascade` false (the paper's refinement): `full` holds the columns in the projection's order, and everything that
/// comes from `coarse` and `fine` stays empty.
[[nodiscard]] GroupRows arrange_rows(const PreparedSet& set, const FilterSpace& space, const Projection& projection,
                                     bool cascade, const ThreadPool& pool);

/// The same on its own, unless `kept` holds it already.
[[nodiscard]] std::unique_ptr<const GroupRows> arrange_or_keep(std::unique_ptr<const GroupRows> kept,
                                                               const PreparedSet& set, const FilterSpace& space,
                                                               const Projection& projection, bool cascade,
                                                               const ThreadPool& pool);

/// panel [width x 64] = the first `count` <= 64 rows, component-major; missing rows are 0.
void pack_panel(const float* rows, std::size_t stride, std::size_t count, std::size_t width, float* panel);

}  // namespace rthiss::cpu
