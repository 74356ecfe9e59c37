#pragma once

#include <cstdint>
#include <vector>

namespace rthiss {

/// Hits of up to 64 consecutive queries with up to 64 consecutive points, both as positions in group order: bit r of
/// `rows` says that query `query_begin` + r has hits, and each such row owns one word, in ascending order of rows,
/// whose bit j stands for point `point_begin` + j. Bits past the last point are 0 and no stored word is 0.
/// This is the paper's result mask (section IV-E), without its empty rows.
struct HitTile {
  std::uint32_t block;  ///< query block that the queries belong to
  std::uint32_t query_begin;
  std::uint32_t point_begin;
  std::uint32_t part;  ///< which part of the mask holds the words
  std::uint64_t rows;
  std::uint64_t word_begin;
};

/// Result bits of one batch, in parts that were each written by one worker.
struct HitMask {
  struct Part {
    std::vector<HitTile> tiles;
    std::vector<std::uint64_t> words;
  };
  std::vector<Part> parts;

  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Part& part : parts) {
      sum += part.tiles.capacity() * sizeof(HitTile) + part.words.capacity() * sizeof(std::uint64_t);
    }
    return sum;
  }
};

}  // namespace rthiss
