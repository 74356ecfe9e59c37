#include "engine/cpu/paper_refiner.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "common/round_up_to.hpp"
#include "refinement/hit_recorder.hpp"
#include "simd/tile.hpp"

namespace rthiss::cpu {

struct PaperRefiner::Worker {
  explicit Worker(std::size_t columns, std::size_t stride)
      : query(columns), point(columns), rows(simd::kTileRowRoom * stride, 0.0F), panel(columns * simd::kTileSide) {}

  std::vector<double> query, point;
  Array<float> rows, panel;
  std::uint64_t maybe[simd::kTileRowRoom] = {};
  std::uint64_t sure[simd::kTileRowRoom] = {};
  RefinementCounts counts;
};

PaperRefiner::PaperRefiner(const RefinementTask& task, const ThreadPool& pool,
                           std::unique_ptr<const GroupRows> point_rows)
    : task_(task),
      pool_(pool),
      limits_(task.threshold, *task.space),
      kept_point_rows_(
          arrange_or_keep(std::move(point_rows), *task.points, *task.space, *task.projection, false, pool)),
      point_rows_(*kept_point_rows_),
      query_rows_(arrange_rows(*task.queries, *task.space, *task.projection, false, pool)) {}

RefinementCounts PaperRefiner::refine(const CandidateLists& lists, const CandidateRange& /*range*/, bool mirror,
                                      const RefinementResult& result, RefinementProgress& progress) {
  const auto workers = static_cast<std::size_t>(pool_.threads());
  if (result.mask != nullptr) result.mask->parts.resize(std::max(result.mask->parts.size(), workers));
  std::vector<std::unique_ptr<Worker>> scratch(workers);
  const std::size_t columns = task_.points->data->columns();
  const std::size_t stride = point_rows_.full_stride;
  const float integer_limit = exact_integer_limit(task_);
  const Grouping& points = task_.points->grouping;
  const Grouping& queries = task_.queries->grouping;

  pool_.for_tasks(lists.group_ids.size(), [&](std::size_t list, int id) {
    auto& worker = scratch[static_cast<std::size_t>(id)];
    if (!worker) worker = std::make_unique<Worker>(columns, stride);
    HitRecorder recorder(task_, result, static_cast<std::uint32_t>(id), mirror, nullptr, progress);
    const std::uint32_t group = lists.group_ids[list];
    for (std::uint32_t chunk = point_rows_.chunk_begin[group]; chunk < point_rows_.chunk_begin[group + 1]; ++chunk) {
      const std::uint32_t point_begin =
          points.group_begin[group] + (chunk - point_rows_.chunk_begin[group]) * std::uint32_t{simd::kTileSide};
      const std::size_t here = std::min<std::size_t>(simd::kTileSide, points.group_begin[group + 1] - point_begin);
      pack_panel(point_rows_.full.data() + point_begin * stride, stride, here, columns, worker->panel.data());
      for (std::uint64_t entry = lists.begin[list]; entry < lists.begin[list + 1];) {
        // Blocks are single queries here; a tile takes as many of the list as it has rows.
        const std::size_t rows = std::min<std::uint64_t>(simd::kTileRowRoom, lists.begin[list + 1] - entry);
        double load_error = 0.0;
        for (std::size_t r = 0; r < rows; ++r) {
          const std::uint32_t block = lists.block_ids[entry + r];
          std::copy_n(query_rows_.full.data() + queries.group_begin[block] * stride, stride,
                      worker->rows.data() + r * stride);
          load_error = std::max(load_error, static_cast<double>(query_rows_.full_error[block]));
        }
        load_error += static_cast<double>(point_rows_.full_error[group]);
        float out = integer_limit, in = integer_limit;
        if (integer_limit < 0.0F) {
          const double units = static_cast<double>(columns) + 20.0;
          out = limits_.out(load_error, units, limits_.row_underflow(columns));
          in = limits_.in(load_error, units, limits_.row_underflow(columns));
        }
        simd::difference_tile(worker->rows.data(), stride, round_up_to(rows, simd::kTileRows), worker->panel.data(),
                              columns, here, out, in, worker->maybe, worker->sure);
        for (std::size_t r = 0; r < rows; ++r) {
          const std::uint32_t block = lists.block_ids[entry + r];
          const std::uint32_t query = queries.group_begin[block];
          if ((query_rows_.live[query_rows_.chunk_begin[block]] & 1) == 0) continue;
          worker->counts.comparisons += static_cast<std::uint64_t>(std::popcount(point_rows_.live[chunk]));
          const std::uint64_t maybe = worker->maybe[r] & point_rows_.live[chunk];
          std::uint64_t hits = worker->sure[r] & maybe;
          if (const std::uint64_t open = maybe & ~hits; open != 0) {
            task_.queries->data->read_row(queries.original_id[query], worker->query.data());
            for (std::uint64_t bits = open; bits != 0; bits &= bits - 1) {
              const auto j = static_cast<std::uint32_t>(std::countr_zero(bits));
              task_.points->data->read_row(points.original_id[point_begin + j], worker->point.data());
              if (task_.decider->within(worker->query.data(), worker->point.data(), worker->counts.decided)) {
                hits |= std::uint64_t{1} << j;
              }
            }
          }
          if (hits == 0) continue;
          std::uint64_t words[simd::kTileSide] = {hits};
          recorder.record(block, query, group, point_begin, words);
        }
        entry += rows;
        const bool last_chunk = chunk + 1 == point_rows_.chunk_begin[group + 1];
        if (!recorder.entry_done(last_chunk ? rows : 0)) return;
      }
    }
    recorder.flush();
  });

  RefinementCounts counts;
  for (const auto& worker : scratch) {
    if (!worker) continue;
    worker->counts.decided.filter = worker->counts.comparisons - worker->counts.decided.total();
    counts += worker->counts;
  }
  return counts;
}

}  // namespace rthiss::cpu
