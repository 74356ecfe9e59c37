#pragma once

#include <rthiss/array.hpp>
#include <rthiss/options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dataset/dataset.hpp"
#include "dataset/filter_space.hpp"
#include "simd/tile.hpp"

namespace rthiss {

class ThreadPool;

/// Leaves of a query's candidates those that can be among its k nearest: by distances in float32, or in integers where
/// the rows are bytes, each with its bound. Const calls are thread-safe, each with a scratch of its own.
class NearestFilter {
 public:
  class Scratch {
   public:
    explicit Scratch(std::size_t columns);

   private:
    friend class NearestFilter;
    struct Reach {
      double least = 0;
      std::uint32_t id = 0;
    };
    Array<float> query, points;                     // [stride], [64 x stride] images
    Array<std::uint8_t> query_bytes, points_bytes;  // the same as bytes
    std::vector<double> row;                        // [columns]
    simd::TilePair pairs[simd::kTileSide + simd::kPairPadding];
    float errors[simd::kTileSide];
    float sums[simd::kTileSide + simd::kPairPadding];
    std::uint32_t integer_sums[simd::kTileSide + simd::kPairPadding];
    std::vector<double> farthest;  // heap of the k smallest upper bounds so far
    std::vector<Reach> reaches;
  };

  /// The sets outlive the filter. `radius`: about that of the candidates; it only steers the float32 scale.
  NearestFilter(const Dataset& points, const Dataset& queries, Metric metric, double radius, const ThreadPool& pool);

  /// Moves to the front of `ids` those that can be among the nearest `k` of the query by (rounded distance, id), in
  /// their order, and gives their number, at least k. 1 <= k <= ids.size().
  [[nodiscard]] std::size_t keep_near(std::uint32_t query, std::span<std::uint32_t> ids, std::size_t k,
                                      Scratch& scratch) const;

 private:
  /// Gives the bound on the image's error.
  [[nodiscard]] float load(const Dataset& data, std::uint32_t row, Array<float>& image, std::size_t place,
                           Scratch& scratch) const;
  void load_bytes(const Dataset& data, std::uint32_t row, std::uint8_t* bytes, Scratch& scratch) const;
  /// Bounds of up to 64 squared distances, where above `limit` only the lower one must hold.
  void measure(std::span<const std::uint32_t> ids, float query_error, double limit, std::size_t k,
               Scratch& scratch) const;
  static void note(Scratch& scratch, std::uint32_t id, double least, double most, std::size_t k);

  const Dataset& points_;
  const Dataset& queries_;
  FilterSpace space_;
};

}  // namespace rthiss
