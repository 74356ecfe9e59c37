#include "engine/cpu/group_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/round_up_to.hpp"
#include "refinement/filter_limits.hpp"
#include "simd/tile.hpp"

namespace rthiss::cpu {

namespace {

bool contains(const Array<std::uint32_t>& ascending, std::uint32_t id) {
  return std::binary_search(ascending.begin(), ascending.end(), id);
}

/// Equal as real numbers, by the rows as stored.
bool rows_equal(const Dataset& data, const std::uint32_t* ids, std::size_t count) {
  std::vector<double> first(data.columns()), other(data.columns());
  data.read_row(ids[0], first.data());
  for (std::size_t i = 1; i < count; ++i) {
    data.read_row(ids[i], other.data());
    if (!std::equal(first.begin(), first.end(), other.begin())) return false;
  }
  return true;
}

void copy_rows(const Array<float>& source, std::size_t stride, const std::uint32_t* ids, std::size_t count,
               float* target) {
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(source.data() + ids[i] * stride, stride, target + i * stride);
  }
}

/// Panel, norms and strips' boxes of one chunk, from its rows of `coarse`.
void prepare_chunk(GroupRows& out, std::uint32_t chunk, std::size_t first, std::size_t count) {
  const float* rows = out.coarse.data() + first * out.coarse_stride;
  pack_panel(rows, out.coarse_stride, count, out.coarse_width,
             out.panels.data() + std::size_t{chunk} * out.coarse_width * simd::kTileSide);
  float* half_norms = out.half_norms.data() + std::size_t{chunk} * simd::kTileSide;
  std::fill_n(half_norms, simd::kTileSide, std::numeric_limits<float>::infinity());
  double largest = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < out.coarse_width; ++k) {
      const double value = rows[i * out.coarse_stride + k];
      sum += value * value;
    }
    out.coarse_norms[first + i] = static_cast<float>(sum);
    half_norms[i] = 0.5F * out.coarse_norms[first + i];
    largest = std::max(largest, sum);
  }
  const double norm = std::sqrt(largest) * (1.0 + static_cast<double>(out.coarse_width + 8) * 0x1p-52);
  out.chunk_norm[chunk] = FilterLimits::float_above(norm);
  for (std::size_t strip = 0; strip * simd::kStripColumns < count; ++strip) {
    const std::size_t end = std::min(count, (strip + 1) * simd::kStripColumns);
    float* low = out.strip_low.data() + (std::size_t{chunk} * simd::kStrips + strip) * GroupRows::kNearStride;
    float* high = out.strip_high.data() + (std::size_t{chunk} * simd::kStrips + strip) * GroupRows::kNearStride;
    for (std::size_t k = 0; k < out.near_width; ++k) {
      low[k] = high[k] = rows[strip * simd::kStripColumns * out.coarse_stride + k];
      for (std::size_t i = strip * simd::kStripColumns; i < end; ++i) {
        low[k] = std::min(low[k], rows[i * out.coarse_stride + k]);
        high[k] = std::max(high[k], rows[i * out.coarse_stride + k]);
      }
    }
  }
}

}  // namespace

std::unique_ptr<const GroupRows> arrange_or_keep(std::unique_ptr<const GroupRows> kept, const PreparedSet& set,
                                                 const FilterSpace& space, const Projection& projection, bool cascade,
                                                 const ThreadPool& pool) {
  if (kept != nullptr) return kept;
  return std::make_unique<const GroupRows>(arrange_rows(set, space, projection, cascade, pool));
}

void pack_panel(const float* rows, std::size_t stride, std::size_t count, std::size_t width, float* panel) {
  for (std::size_t k = 0; k < width; ++k) {
    for (std::size_t i = 0; i < simd::kTileSide; ++i)
      panel[k * simd::kTileSide + i] = i < count ? rows[i * stride + k] : 0.0F;
  }
}

GroupRows arrange_rows(const PreparedSet& set, const FilterSpace& space, const Projection& projection, bool cascade,
                       const ThreadPool& pool) {
  const Dataset& data = *set.data;
  const Grouping& grouping = set.grouping;
  const std::size_t groups = grouping.groups();
  const std::size_t d = data.columns();
  GroupRows out;
  out.rows = grouping.original_id.size();
  out.full_stride = round_up_to(d, 16);
  if (cascade && space.bytes) {
    out.byte_stride = round_up_to(d, 64);
    out.bytes = Array<std::uint8_t>(out.rows * out.byte_stride);
  } else {
    out.full = Array<float>(out.rows * out.full_stride);
  }
  out.full_error = Array<float>(groups);
  out.constant = Array<std::uint8_t>(groups, 0);
  out.chunk_begin = Array<std::uint32_t>(groups + 1);
  std::uint32_t chunks = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    out.chunk_begin[g] = chunks;
    chunks += (grouping.group_begin[g + 1] - grouping.group_begin[g] + 63) / 64;
  }
  out.chunk_begin[groups] = chunks;
  out.live = Array<std::uint64_t>(chunks);
  out.all_live = data.ignored_rows().empty();
  if (cascade) {
    out.coarse_width = set.coarse.width;
    out.coarse_stride = set.coarse.stride;
    // Kernels read whole blocks of rows, past the end of the last group too.
    out.coarse = Array<float>((out.rows + simd::kTileSide) * out.coarse_stride);
    std::fill(out.coarse.data() + out.rows * out.coarse_stride, out.coarse.end(), 0.0F);
    out.coarse_norms = Array<float>(out.rows + simd::kTileSide, 0.0F);
    out.half_norms = Array<float>(std::size_t{chunks} * simd::kTileSide);
    out.chunk_norm = Array<float>(chunks);
    out.near_width = std::min(out.coarse_width, GroupRows::kNearStride);
    out.strip_low = Array<float>(std::size_t{chunks} * simd::kStrips * GroupRows::kNearStride, 0.0F);
    out.strip_high = Array<float>(std::size_t{chunks} * simd::kStrips * GroupRows::kNearStride, 0.0F);
    out.panels = Array<float>(std::size_t{chunks} * out.coarse_width * simd::kTileSide);
    out.box_low = Array<float>(groups * out.coarse_stride, 0.0F);
    out.box_high = Array<float>(groups * out.coarse_stride, 0.0F);
    out.fine_stride = set.fine.stride;
    out.fine = Array<float>(out.fine_stride == 0 ? 0 : out.rows * out.fine_stride);
    out.fine_error = Array<float>(groups, 0.0F);
  }
  pool.for_ranges(0, groups, 1, [&](std::size_t begin, std::size_t end) {
    Array<double> scratch(d);
    Array<float> row(d);
    for (std::size_t g = begin; g < end; ++g) {
      const std::uint32_t first = grouping.group_begin[g];
      const std::uint32_t count = grouping.group_begin[g + 1] - first;
      const std::uint32_t* ids = grouping.original_id.data() + first;
      float error = 0.0F;
      for (std::uint32_t i = 0; i < count; ++i) {
        const bool ignored = !out.all_live && contains(data.ignored_rows(), ids[i]);
        const float loaded = space.load(data, ids[i], row.data(), scratch.data());
        if (!ignored) error = std::max(error, loaded);
        if (out.byte_stride != 0) {
          std::uint8_t* target = out.bytes.data() + (first + i) * out.byte_stride;
          for (std::size_t k = 0; k < d; ++k) target[k] = static_cast<std::uint8_t>(row[k]);
          std::fill(target + d, target + out.byte_stride, std::uint8_t{0});
          continue;
        }
        float* target = out.full.data() + (first + i) * out.full_stride;
        if (cascade) {
          std::copy(row.begin(), row.end(), target);
        } else {
          // The projection's order puts columns of high variance first, which is what early exit needs.
          for (std::size_t k = 0; k < d; ++k) target[k] = row[projection.order[k]];
        }
        std::fill(target + d, target + out.full_stride, 0.0F);
      }
      out.full_error[g] = error;
      const std::uint32_t chunk = out.chunk_begin[g];
      for (std::uint32_t part = 0; part * 64 < count; ++part) {
        const std::uint32_t here = std::min<std::uint32_t>(64, count - part * 64);
        std::uint64_t live = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
        if (!out.all_live) {
          for (std::uint32_t i = 0; i < here; ++i) {
            if (contains(data.ignored_rows(), ids[part * 64 + i])) live &= ~(std::uint64_t{1} << i);
          }
        }
        out.live[chunk + part] = live;
      }
      bool flat = cascade;
      if (cascade) {
        copy_rows(set.coarse.values, out.coarse_stride, ids, count, out.coarse.data() + first * out.coarse_stride);
        for (std::size_t k = 0; k < out.coarse_width; ++k) {
          const float low = set.bounds.low[k * set.bounds.stride + g];
          const float high = set.bounds.high[k * set.bounds.stride + g];
          out.box_low[g * out.coarse_stride + k] = low;
          out.box_high[g * out.coarse_stride + k] = high;
          flat &= low == high;
        }
        if (out.fine_stride != 0) {
          copy_rows(set.fine.values, out.fine_stride, ids, count, out.fine.data() + first * out.fine_stride);
          for (std::uint32_t i = 0; i < count; ++i) {
            out.fine_error[g] = std::max(out.fine_error[g], set.fine.error[ids[i]]);
          }
        }
      }
      for (std::uint32_t part = 0; cascade && part * 64 < count; ++part) {
        const std::uint32_t here = std::min<std::uint32_t>(64, count - part * 64);
        prepare_chunk(out, chunk + part, first + part * 64, here);
      }
      out.constant[g] = flat && out.all_live && rows_equal(data, ids, count);
    }
  });
  return out;
}

}  // namespace rthiss::cpu
