#include "engine/cpu/cascade_refiner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/cpu/list_bundles.hpp"
#include "geometry/farthest_points.hpp"
#include "refinement/bit_transpose.hpp"
#include "simd/tile.hpp"

namespace rthiss::cpu {

namespace {

constexpr double kFloatUnit = 0x1p-24;
// Rounding of the scalar-product form, over the squared radius, from which a tile is moved to its own points first.
constexpr double kTolerableError = 1.0 / 64.0;

}  // namespace

/// Scratch of one worker; sized once.
struct CascadeRefiner::Worker {
  Worker(std::size_t columns, std::size_t coarse_stride)
      : pairs(columns),
        center(coarse_stride),
        rows(simd::kTileSide * coarse_stride, 0.0F),
        panel(coarse_stride * simd::kTileSide) {}

  PairStage::Scratch pairs;
  Array<float> center, rows, panel;
  float norms[simd::kTileSide] = {};
  float half_norms[simd::kTileSide] = {};
  float out_limit[simd::kTileSide] = {};
  float in_limit[simd::kTileSide] = {};
  float row_rests[simd::kTileSide] = {};
  std::uint64_t maybe[simd::kTileSide] = {};
  std::uint64_t sure[simd::kTileSide] = {};
  RefinementCounts counts;
};

/// The two sides of a tile, as its kernels take them.
struct CascadeRefiner::Tile {
  std::uint32_t block, group;
  std::uint32_t query_chunk;
  std::uint32_t query_begin, point_begin;  // positions
  std::size_t rows, columns;               // points on either side
  std::uint64_t query_live, point_live;
  const float* query_rows;   // [64 x stride]
  const float* point_panel;  // [width x 64]
  const float* norms;        // [64] of the queries
  const float* half_norms;   // [64] of the points
  double norm_sum;           // largest norms of both sides, added
};

CascadeRefiner::CascadeRefiner(const RefinementTask& task, const ThreadPool& pool,
                               std::unique_ptr<const GroupRows> point_rows)
    : task_(task),
      pool_(pool),
      limits_(task.threshold, *task.space),
      kept_point_rows_(arrange_or_keep(std::move(point_rows), *task.points, *task.space, *task.projection, true, pool)),
      point_rows_(*kept_point_rows_),
      query_rows_storage_(task.self_join ? GroupRows()
                                         : arrange_rows(*task.queries, *task.space, *task.projection, true, pool)),
      query_rows_(task.self_join ? point_rows_ : query_rows_storage_),
      pair_stage_(task_, limits_, query_rows_, point_rows_),
      integer_limit_(task.coarse_complete ? exact_integer_limit(task) : -1.0F) {}

RefinementCounts CascadeRefiner::refine(const CandidateLists& lists, const CandidateRange& /*range*/, bool mirror,
                                        const RefinementResult& result, RefinementProgress& progress) {
  const auto workers = static_cast<std::size_t>(pool_.threads());
  if (result.mask != nullptr) result.mask->parts.resize(std::max(result.mask->parts.size(), workers));
  Array<std::uint64_t> whole(result.counts != nullptr ? task_.queries->grouping.groups() : 0, 0);
  std::vector<std::unique_ptr<Worker>> scratch(workers);
  const std::vector<ListBundle> bundles = bundle_lists(lists, task_.points->grouping.groups(), pool_.threads());
  pool_.for_tasks(bundles.size(), [&](std::size_t task, int id) {
    auto& worker = scratch[static_cast<std::size_t>(id)];
    if (!worker) worker = std::make_unique<Worker>(task_.points->data->columns(), point_rows_.coarse_stride);
    HitRecorder recorder(task_, result, static_cast<std::uint32_t>(id), mirror, whole.data(), progress);
    bundles[task].for_entries(lists, [&](std::uint32_t list, std::uint32_t block, std::uint32_t next_block) {
      compare(*worker, recorder, block, lists.group_ids[list], next_block);
      return recorder.entry_done();
    });
    recorder.flush();
  });
  if (result.counts != nullptr) {
    const Grouping& queries = task_.queries->grouping;
    for (std::size_t block = 0; block < whole.size(); ++block) {
      if (whole[block] == 0) continue;
      for (std::uint32_t q = queries.group_begin[block]; q < queries.group_begin[block + 1]; ++q) {
        result.counts[queries.original_id[q]] += whole[block];
      }
    }
  }
  RefinementCounts counts;
  for (const auto& worker : scratch) {
    if (!worker) continue;
    worker->counts.decided += worker->pairs.decided;
    worker->counts.decided.filter = worker->counts.comparisons - worker->counts.decided.total();
    counts += worker->counts;
  }
  return counts;
}

/// The next block's rows come from beyond the second cache, in pieces too short for the hardware to guess.
void CascadeRefiner::prefetch(std::uint32_t block) const {
  const std::uint32_t begin = task_.queries->grouping.group_begin[block];
  const std::size_t rows =
      std::min<std::size_t>(simd::kTileSide, task_.queries->grouping.group_begin[block + 1] - begin);
  const float* first = query_rows_.coarse.data() + begin * query_rows_.coarse_stride;
  for (std::size_t i = 0; i < rows * query_rows_.coarse_stride; i += 16) __builtin_prefetch(first + i);
}

void CascadeRefiner::compare(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t group,
                             std::uint32_t next_block) const {
  if (within_whole(block, group)) {
    const Grouping& queries = task_.queries->grouping;
    const Grouping& points = task_.points->grouping;
    const std::uint64_t rows = queries.group_begin[block + 1] - queries.group_begin[block];
    const std::uint64_t columns = points.group_begin[group + 1] - points.group_begin[group];
    worker.counts.accepted_whole += rows * columns;
    recorder.record_whole(block, group);
    return;
  }
  if (point_rows_.constant[group] != 0 && query_rows_.constant[block] != 0) {
    return decide_constant(worker, recorder, block, group);
  }
  prefetch(next_block);
  for (std::uint32_t q = query_rows_.chunk_begin[block]; q < query_rows_.chunk_begin[block + 1]; ++q) {
    for (std::uint32_t p = point_rows_.chunk_begin[group]; p < point_rows_.chunk_begin[group + 1]; ++p) {
      compare_tile(worker, recorder, block, q, group, p);
    }
  }
}

/// All rows of either side are equal: one pair decides for all.
void CascadeRefiner::decide_constant(Worker& worker, HitRecorder& recorder, std::uint32_t block,
                                     std::uint32_t group) const {
  const Grouping& queries = task_.queries->grouping;
  const Grouping& points = task_.points->grouping;
  const std::uint32_t query = queries.group_begin[block];
  const std::uint32_t point = points.group_begin[group];
  task_.queries->data->read_row(queries.original_id[query], worker.pairs.query.data());
  task_.points->data->read_row(points.original_id[point], worker.pairs.point.data());
  ++worker.counts.comparisons;
  if (task_.decider->within(worker.pairs.query.data(), worker.pairs.point.data(), worker.pairs.decided)) {
    const std::uint64_t rows = queries.group_begin[block + 1] - query;
    const std::uint64_t columns = points.group_begin[group + 1] - point;
    worker.counts.accepted_whole += rows * columns - 1;
    recorder.record_whole(block, group);
  }
}

/// Is the largest distance that the bounds allow within the radius?
bool CascadeRefiner::within_whole(std::uint32_t block, std::uint32_t group) const {
  if (!point_rows_.all_live || !query_rows_.all_live) return false;
  const double error =
      static_cast<double>(task_.queries->bounds.error[block]) + static_cast<double>(task_.points->bounds.error[group]);
  const std::size_t components = task_.points->coarse.components;
  return farthest_within(query_rows_.box(block), point_rows_.box(group), components,
                         point_rows_.coarse_width > components, farthest_limit(limits_.in_radius(), error));
}

void CascadeRefiner::compare_tile(Worker& worker, HitRecorder& recorder, std::uint32_t block, std::uint32_t query_chunk,
                                  std::uint32_t group, std::uint32_t point_chunk) const {
  const std::size_t width = point_rows_.coarse_width;
  const std::size_t stride = point_rows_.coarse_stride;
  const Grouping& queries = task_.queries->grouping;
  const Grouping& points = task_.points->grouping;
  const double error =
      static_cast<double>(task_.queries->bounds.error[block]) + static_cast<double>(task_.points->bounds.error[group]);
  Tile tile;
  tile.block = block;
  tile.group = group;
  tile.query_chunk = query_chunk;
  tile.query_begin =
      queries.group_begin[block] + (query_chunk - query_rows_.chunk_begin[block]) * std::uint32_t{simd::kTileSide};
  tile.point_begin =
      points.group_begin[group] + (point_chunk - point_rows_.chunk_begin[group]) * std::uint32_t{simd::kTileSide};
  tile.rows = std::min<std::size_t>(simd::kTileSide, queries.group_begin[block + 1] - tile.query_begin);
  tile.columns = std::min<std::size_t>(simd::kTileSide, points.group_begin[group + 1] - tile.point_begin);
  tile.query_live = query_rows_.live[query_chunk];
  tile.point_live = point_rows_.live[point_chunk];

  // 1. Queries near the box of each strip of points.
  const float near_limit = limits_.out(error, static_cast<double>(point_rows_.near_width) + 6.0,
                                       FilterLimits::projected_underflow(point_rows_.near_width));
  const std::size_t strips = (tile.columns + simd::kStripColumns - 1) / simd::kStripColumns;
  const std::size_t boxes = std::size_t{point_chunk} * simd::kStrips * GroupRows::kNearStride;
  std::uint64_t near[simd::kStrips] = {};
  std::fill_n(near, strips, ~std::uint64_t{0});
  if (task_.cull_rows) {
    simd::near_boxes(query_rows_.panels.data() + std::size_t{query_chunk} * width * simd::kTileSide,
                     point_rows_.near_width, point_rows_.strip_low.data() + boxes,
                     point_rows_.strip_high.data() + boxes, GroupRows::kNearStride, strips, near_limit, near);
  }
  std::uint64_t any = 0;
  for (std::uint64_t& strip : near) any |= strip &= tile.query_live;
  if (any == 0) return;

  const bool diagonal = task_.self_join && tile.query_begin == tile.point_begin;

  // 2. The dense filter, as the rows lie, or moved to one of the points where that is needed for precision.
  tile.query_rows = query_rows_.coarse.data() + tile.query_begin * stride;
  tile.point_panel = point_rows_.panels.data() + std::size_t{point_chunk} * width * simd::kTileSide;
  tile.norms = query_rows_.coarse_norms.data() + tile.query_begin;
  tile.half_norms = point_rows_.half_norms.data() + std::size_t{point_chunk} * simd::kTileSide;
  tile.norm_sum = static_cast<double>(query_rows_.chunk_norm[query_chunk]) +
                  static_cast<double>(point_rows_.chunk_norm[point_chunk]);
  double moved = 0.0;
  const double reach = limits_.out_radius() + error;
  if (!exact_in_integers(tile) && product_error(tile) > kTolerableError * reach * reach) {
    center_tile(worker, tile);
    moved = 1.01 * kFloatUnit * tile.norm_sum;
  }
  const std::uint64_t found = filter_tile(worker, tile, error + moved, near);
  worker.counts.comparisons += computed_pairs(tile, near, diagonal);
  if (found == 0 && !diagonal) return;

  // 3. What is left, pair by pair. A group with itself: each pair once.
  std::uint64_t words[simd::kTileSide] = {};
  worker.pairs.count = 0;
  for (std::uint64_t bits = found & any; bits != 0; bits &= bits - 1) {
    const auto row = static_cast<std::size_t>(std::countr_zero(bits));
    const std::uint64_t wanted = tile.point_live & (!diagonal   ? ~std::uint64_t{0}
                                                    : row == 63 ? 0
                                                                : ~std::uint64_t{0} << (row + 1));
    const std::uint64_t maybe = worker.maybe[row] & wanted;
    words[row] = worker.sure[row] & maybe;
    for (std::uint64_t open = maybe & ~words[row]; open != 0; open &= open - 1) {
      worker.pairs.pairs[worker.pairs.count++] = {static_cast<std::uint8_t>(row),
                                                  static_cast<std::uint8_t>(std::countr_zero(open))};
    }
  }
  if (worker.pairs.count != 0) {
    pair_stage_.decide(worker.pairs, block, tile.query_begin, group, tile.point_begin, words);
  }
  if (diagonal) {
    std::uint64_t mirrored[simd::kTileSide];
    std::copy_n(words, simd::kTileSide, mirrored);
    transpose_bits(mirrored);
    for (std::size_t r = 0; r < simd::kTileSide; ++r) {
      words[r] |= mirrored[r] | (tile.query_live & (std::uint64_t{1} << r));
    }
  }
  recorder.record(block, tile.query_begin, group, tile.point_begin, words);
}

/// Scalar products of integers: multiples of 1/2 below 2^23, so there is no rounding anywhere.
bool CascadeRefiner::exact_in_integers(const Tile& tile) const {
  return integer_limit_ >= 0.0F && tile.norm_sum * tile.norm_sum < 0x1p22;
}

/// Bound on what the scalar-product form adds to a squared distance, (2 width + 10) u (|x| + |y|)^2; norms that
/// underflow to 0 are below 2^-68, the width being below 2^13 (at most 128).
double CascadeRefiner::product_error(const Tile& tile) const {
  const double norms = tile.norm_sum + 0x1p-68;
  if (!(norms < 0x1p63)) return std::numeric_limits<double>::infinity();  // squares and products may overflow
  return (2.0 * static_cast<double>(point_rows_.coarse_width) + 10.0) * kFloatUnit * norms * norms +
         4.0 * FilterLimits::projected_underflow(point_rows_.coarse_width);
}

void CascadeRefiner::center_tile(Worker& worker, Tile& tile) const {
  const std::size_t width = point_rows_.coarse_width;
  const std::size_t stride = point_rows_.coarse_stride;
  std::copy_n(point_rows_.coarse.data() + tile.point_begin * stride, stride, worker.center.data());
  if (width > task_.points->coarse.components) worker.center[width - 1] = 0.0F;  // rests are used as they are
  simd::center_rows(tile.query_rows, tile.rows, stride, worker.center.data(), worker.rows.data(), worker.norms);
  simd::center_columns(tile.point_panel, width, tile.columns, worker.center.data(), worker.panel.data(),
                       worker.half_norms);
  const float largest_row = *std::max_element(worker.norms, worker.norms + tile.rows);
  const float largest_half = *std::max_element(worker.half_norms, worker.half_norms + tile.columns);
  const double slack = 1.0 + (static_cast<double>(width) + 8.0) * kFloatUnit;
  tile.query_rows = worker.rows.data();
  tile.point_panel = worker.panel.data();
  tile.norms = worker.norms;
  tile.half_norms = worker.half_norms;
  tile.norm_sum =
      std::sqrt(static_cast<double>(largest_row) * slack) + std::sqrt(2.0 * static_cast<double>(largest_half) * slack);
}

/// Fills maybe and sure, returns the rows with a maybe. The norms of the rests of two points may differ by anything
/// between their difference and their sum: the difference is in the scalar product; 4 times their product more is the
/// farthest that the pair can be.
std::uint64_t CascadeRefiner::filter_tile(Worker& worker, const Tile& tile, double error,
                                          const std::uint64_t* near) const {
  const std::size_t width = point_rows_.coarse_width;
  const std::size_t stride = point_rows_.coarse_stride;
  const bool has_rest = width > task_.points->coarse.components;
  double out = static_cast<double>(integer_limit_);
  double in = out;
  if (!exact_in_integers(tile)) {
    const double absolute = product_error(tile);
    const double rests = has_rest ? static_cast<double>(query_rows_.box_high[tile.block * stride + width - 1]) *
                                        static_cast<double>(point_rows_.box_high[tile.group * stride + width - 1])
                                  : 0.0;
    out = static_cast<double>(limits_.out(error, 6.0, absolute));
    in = static_cast<double>(limits_.in(error, 6.0, absolute + 32.0 * kFloatUnit * rests));
  }
  // In float32: the rounding of the difference, at most u (norm + limit), is in product_error and in the limits' units.
  const auto out_squared = static_cast<float>(out);
  const auto in_squared = static_cast<float>(in);
  for (std::size_t r = 0; r < tile.rows; ++r) {
    worker.out_limit[r] = 0.5F * (tile.norms[r] - out_squared);
    worker.in_limit[r] = 0.5F * (tile.norms[r] - in_squared);
  }
  const float* column_rests = worker.row_rests;  // all zero where there are no rests
  if (has_rest) {
    const float* query_rests =
        query_rows_.panels.data() + (std::size_t{tile.query_chunk} * width + width - 1) * simd::kTileSide;
    for (std::size_t r = 0; r < tile.rows; ++r) worker.row_rests[r] = 2.0F * query_rests[r];
    column_rests = tile.point_panel + (width - 1) * simd::kTileSide;
  }
  const simd::DenseLimits limits{tile.half_norms, worker.out_limit, in >= 0.0 ? worker.in_limit : nullptr,
                                 worker.row_rests, column_rests};
  return simd::dense_tile(tile.query_rows, stride, tile.point_panel, width, near, limits, worker.maybe, worker.sure);
}

std::uint64_t CascadeRefiner::computed_pairs(const Tile& tile, const std::uint64_t* near, bool diagonal) const {
  if (diagonal) return tile.rows * (tile.rows - 1) / 2;
  std::uint64_t pairs = 0;
  for (std::size_t strip = 0; strip < simd::kStrips; ++strip) {
    if (near[strip] == 0) continue;
    const std::size_t columns = std::min(simd::kStripColumns, tile.columns - strip * simd::kStripColumns);
    pairs += columns * static_cast<std::size_t>(std::popcount(near[strip]));
  }
  return pairs;
}

}  // namespace rthiss::cpu
