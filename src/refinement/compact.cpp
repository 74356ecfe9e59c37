#include "refinement/compact.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "simd/sort.hpp"

namespace rthiss {

namespace {

/// Tiles of each block, by counting sort.
struct TilesByBlock {
  std::vector<std::uint64_t> begin;
  std::vector<const HitTile*> tiles;

  TilesByBlock(const HitMask& mask, std::uint32_t block_begin, std::uint32_t block_end)
      : begin(std::size_t{block_end - block_begin} + 1, 0) {
    for (const HitMask::Part& part : mask.parts) {
      for (const HitTile& tile : part.tiles) ++begin[tile.block - block_begin + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    tiles.resize(begin.back());
    std::vector<std::uint64_t> cursor(begin.begin(), begin.end() - 1);
    for (const HitMask::Part& part : mask.parts) {
      for (const HitTile& tile : part.tiles) tiles[cursor[tile.block - block_begin]++] = &tile;
    }
  }

  [[nodiscard]] std::span<const HitTile* const> of(std::size_t block) const {
    return std::span(tiles).subspan(begin[block], begin[block + 1] - begin[block]);
  }
};

/// Calls `body(position, point_begin, word)` for every row of a tile.
template <typename Body>
void for_rows(const HitMask& mask, const HitTile& tile, const Body& body) {
  const std::uint64_t* word = mask.parts[tile.part].words.data() + tile.word_begin;
  for (std::uint64_t rows = tile.rows; rows != 0; rows &= rows - 1) {
    body(tile.query_begin + static_cast<std::uint32_t>(std::countr_zero(rows)), tile.point_begin, *word++);
  }
}

}  // namespace

NeighborChunk compact(const HitMask& mask, const RefinementTask& task, std::uint32_t block_begin,
                      std::uint32_t block_end, bool distances, const ThreadPool& pool) {
  const Grouping& queries = task.queries->grouping;
  const std::uint32_t* point_ids = task.points->grouping.original_id.data();
  const std::uint32_t first = queries.group_begin[block_begin];
  const std::size_t rows = queries.group_begin[block_end] - first;
  const std::size_t blocks = block_end - block_begin;
  const TilesByBlock tiles(mask, block_begin, block_end);

  Array<std::uint64_t> counts(rows, 0);
  pool.for_ranges(0, blocks, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      for (const HitTile* tile : tiles.of(block)) {
        for_rows(mask, *tile, [&](std::uint32_t position, std::uint32_t, std::uint64_t word) {
          counts[position - first] += static_cast<std::uint64_t>(std::popcount(word));
        });
      }
    }
  });

  // Row of the chunk at each position: the rank of its original id.
  NeighborChunk chunk;
  chunk.query_ids = Array<std::uint32_t>(rows);
  Array<std::uint32_t> rank(rows);
  if (rows == queries.original_id.size()) {
    std::iota(chunk.query_ids.begin(), chunk.query_ids.end(), 0U);
    std::copy(queries.original_id.begin(), queries.original_id.end(), rank.begin());
  } else {
    Array<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return queries.original_id[first + a] < queries.original_id[first + b];
    });
    for (std::size_t i = 0; i < rows; ++i) {
      rank[order[i]] = static_cast<std::uint32_t>(i);
      chunk.query_ids[i] = queries.original_id[first + order[i]];
    }
  }
  chunk.row_begin = Array<std::uint64_t>(rows + 1);
  chunk.row_begin[0] = 0;
  for (std::size_t i = 0; i < rows; ++i) chunk.row_begin[rank[i] + 1] = counts[i];
  for (std::size_t i = 0; i < rows; ++i) chunk.row_begin[i + 1] += chunk.row_begin[i];
  chunk.neighbor_ids = Array<std::uint32_t>(chunk.row_begin[rows]);
  if (distances) chunk.distances = Array<double>(chunk.row_begin[rows]);

  pool.for_ranges(0, blocks, 1, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint64_t> cursor;
    std::vector<double> x(task.points->data->columns()), y(x.size());
    for (std::size_t block = begin; block < end; ++block) {
      const std::uint32_t block_first = queries.group_begin[block_begin + block];
      const std::size_t block_rows = queries.group_begin[block_begin + block + 1] - block_first;
      cursor.resize(block_rows);
      for (std::size_t r = 0; r < block_rows; ++r) cursor[r] = chunk.row_begin[rank[block_first + r - first]];
      for (const HitTile* tile : tiles.of(block)) {
        for_rows(mask, *tile, [&](std::uint32_t position, std::uint32_t point_begin, std::uint64_t word) {
          std::uint64_t at = cursor[position - block_first];
          for (; word != 0; word &= word - 1) {
            chunk.neighbor_ids[at++] = point_ids[point_begin + static_cast<std::uint32_t>(std::countr_zero(word))];
          }
          cursor[position - block_first] = at;
        });
      }
      for (std::size_t r = 0; r < block_rows; ++r) {
        const std::uint64_t row_begin = chunk.row_begin[rank[block_first + r - first]];
        simd::sort_ids(chunk.neighbor_ids.data() + row_begin, cursor[r] - row_begin);
        if (!distances || cursor[r] == row_begin) continue;
        task.queries->data->read_row(queries.original_id[block_first + r], x.data());
        for (std::uint64_t at = row_begin; at < cursor[r]; ++at) {
          task.points->data->read_row(chunk.neighbor_ids[at], y.data());
          chunk.distances[at] = task.decider->value(x.data(), y.data());
        }
      }
    }
  });
  return chunk;
}

}  // namespace rthiss
