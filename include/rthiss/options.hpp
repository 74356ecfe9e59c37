#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rthiss {

enum class NonFinite : std::uint8_t { kError, kIgnore };

/// What "near" means. Radius and threshold are plain doubles, never squared.
struct Metric {
  enum class Kind : std::uint8_t {
    kEuclidean,         ///< neighbour iff distance <= value
    kCosineDistance,    ///< neighbour iff RN64(1 - cos) <= value
    kCosineSimilarity,  ///< neighbour iff RN64(cos) >= value
  };
  Kind kind = Kind::kEuclidean;
};

/// Which tiles a refinement keeps in shared memory (paper, section IV-E): an ablation of preset "paper".
enum class SharedMemory : std::uint8_t { kNone, kQuery, kPrimitive, kBoth };

/// How a refinement hands on what it found (paper, section IV-E): an ablation of preset "paper".
enum class ResultMask : std::uint8_t {
  kCompressed,  ///< one bit a comparison
  kPlain,       ///< one byte a comparison
  kPairs,       ///< (query, point) pairs
};

/// What one primitive of the index stands for.
enum class Primitive : std::uint8_t {
  kGroup,
  kPoint,  ///< every group is a single row: an ablation of the paper
};

/// How rows are put into groups.
enum class GroupingMethod : std::uint8_t {
  kKdTree,   ///< balanced median splits
  kMorton,   ///< consecutive runs along the Morton curve of the first three components
  kHilbert,  ///< the same along the Hilbert curve
  kBall,     ///< balanced splits along the line between two far rows
};

/// How to search. Every choice gives the same set of pairs; they differ in time and memory only.
struct SearchOptions {
  std::string engine = "auto";        ///< "auto" or a name from `engines()`
  std::string index = "auto";         ///< "auto" or a name from `indexes()`
  std::string preset = "auto";        ///< "auto" or "paper"
  std::string projection = "auto";    ///< "auto", "none", "variance", "pca"
  std::optional<int> kd_tree_height;  ///< groups = 2^height; default: floor(ln n) for "paper", chosen for "auto"
  int threads = 0;                    ///< 0: all that the process may use
  std::uint64_t memory_limit = 0;     ///< bytes that the search may add; 0: half of the free memory
  std::uint64_t max_results = 0;      ///< refuse when more ordered pairs than this would be stored; 0: no limit
  bool include_self = false;          ///< self-join only: keep the pairs (i, i)
  bool distances = false;             ///< hand out distances (or similarities) beside the ids
  NonFinite nonfinite = NonFinite::kError;
  Metric metric;
  GroupingMethod grouping = GroupingMethod::kKdTree;
  Primitive primitive = Primitive::kGroup;
  /// Ablations that only engine "cuda" with preset "paper" has; refused elsewhere.
  std::optional<SharedMemory> shared_memory;  ///< default: kBoth
  std::optional<ResultMask> mask;             ///< default: kCompressed
  std::optional<int> device;                  ///< of engine "cuda", as numbered by the driver; default: 0
  std::uint64_t device_memory_limit = 0;      ///< bytes of device memory that the search may use; 0: what is free
  std::uint64_t seed = 1;                     ///< of the samples that steer choices; never changes the result
};

}  // namespace rthiss
