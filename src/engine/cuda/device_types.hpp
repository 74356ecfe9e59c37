#pragma once

#include <rthiss/options.hpp>

#include <cstdint>

#include "dataset/dataset.hpp"
#include "dataset/filter_space.hpp"
#include "distance/pair_decider.hpp"
#include "engine/cuda/device_array.hpp"
#include "projection/projection.hpp"

namespace rthiss::cuda {

/// One side of a search. Device memory, not owned; rows in group order, "position" is the place in that order.
/// Rows with load_error = +inf that are not ignored have no usable image: every pair of theirs is decided exactly.
struct DeviceSet {
  std::uint32_t rows = 0, columns = 0;
  const float* exact32 = nullptr;       ///< [rows x exact_stride] stored values, widened exactly; or null
  const double* exact64 = nullptr;      ///< the same for types that float32 does not hold; one of both is null
  std::uint32_t exact_stride = 0;       ///< elements, a multiple of 4; padding is 0
  const float* images = nullptr;        ///< [rows x image_stride] in the FilterSpace; may be exact32 itself
  std::uint32_t image_stride = 0;       ///< floats, a multiple of 4; padding is 0
  const float* load_error = nullptr;    ///< [rows] bound of |image - exact image|; null: all 0
  const float* coarse = nullptr;        ///< [rows x coarse_stride] projection; padding is 0
  const float* coarse_error = nullptr;  ///< [rows]
  std::uint32_t coarse_stride = 0;      ///< floats, a multiple of 4
  std::uint32_t coarse_width = 0;       ///< components, and 1 more where the last value is the norm of the rest
  std::uint32_t components = 0;
  const std::uint32_t* original_id = nullptr;  ///< [rows]
  const std::uint8_t* ignored = nullptr;       ///< [rows] 1: nobody's neighbour; null: there are none
  std::uint32_t groups = 0;
  const std::uint32_t* group_begin = nullptr;  ///< [groups + 1] positions
  const float* box_low = nullptr;              ///< [groups x coarse_stride] tight boxes of `coarse`, group-major
  const float* box_high = nullptr;
  const float* group_error = nullptr;  ///< [groups] largest coarse_error
};

/// For each group the query blocks to compare with it, longest list first. Device memory, not owned. A block is a group
/// of the queries, or one query (DeviceTask::single_queries), named by its position.
struct DeviceLists {
  std::uint32_t lists = 0;
  std::uint64_t entries = 0;
  const std::uint32_t* group_ids = nullptr;  ///< [lists]
  const std::uint64_t* begin = nullptr;      ///< [lists + 1]
  const std::uint32_t* block_ids = nullptr;  ///< [entries] ascending within a list, unless single_queries
};

/// The rows that a batch completes.
struct DeviceRange {
  std::uint32_t block_begin = 0, block_end = 0;
  std::uint32_t row_begin = 0, row_end = 0;  ///< query positions of these blocks
  /// Self-join in which each unordered pair of groups stands once: a pair (block, group), block != group, is entered
  /// in both directions where the group is one of the blocks too; else only at the block.
  bool mirror = false;
};

/// Everything that refinement needs to know of a search. What is pointed to outlives the refiner.
struct DeviceTask {
  DeviceSet points, queries;  ///< equal in a self-join
  bool self_join = false, include_self = false;
  bool single_queries = false;
  bool cascade = true;  ///< false: the paper's refinement
  const Dataset* points_data = nullptr;
  const Dataset* queries_data = nullptr;
  const FilterSpace* space = nullptr;
  const PairDecider* decider = nullptr;
  const Projection* projection = nullptr;
  FilterThreshold threshold;
  const ThreadPool* pool = nullptr;
  SharedMemory shared_memory = SharedMemory::kBoth;
  ResultMask mask = ResultMask::kCompressed;
};

/// Device memory that a batch takes.
struct BatchBytes {
  std::uint64_t per_entry = 0;  ///< a (block, group) candidate
  std::uint64_t per_hit = 0;    ///< an ordered pair of neighbours
  std::uint64_t per_row = 0;    ///< a query
};

/// Complete result rows on the device, by ascending original id; ids ascend within a row.
struct DeviceChunk {
  std::uint32_t rows = 0;
  std::uint64_t pairs = 0;
  DeviceArray<std::uint32_t> query_ids;   ///< [rows] original ids
  DeviceArray<std::uint64_t> row_begin;   ///< [rows + 1]
  DeviceArray<std::uint32_t> neighbours;  ///< [pairs] original ids
  DeviceArray<double> values;             ///< [pairs] distances or similarities, NaN where not known; or empty
};

}  // namespace rthiss::cuda
