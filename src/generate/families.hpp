#pragma once

#include <cstdint>
#include <variant>

#include "generate/generated_points.hpp"

namespace rthiss {
class ThreadPool;
}

namespace rthiss::generate {

inline constexpr std::uint64_t kDefaultSeed = 1;

/// Independent values, uniform in (low, high).
struct UniformFamily {
  double low = 0;
  double high = 1;
  std::uint64_t seed = kDefaultSeed;
};

/// Independent values with density rate * exp(-rate x).
struct ExponentialFamily {
  double rate = 40;
  std::uint64_t seed = kDefaultSeed;
};

/// `clusters` centres, uniform in the unit cube; each row is a random centre plus a normal error.
struct ClustersFamily {
  std::uint64_t clusters = 100;
  double spread = 0.05;  ///< standard deviation in each column
  std::uint64_t seed = kDefaultSeed;
};

/// What learned vectors look like: component k = 1 .. rank along its own random direction has variance proportional to
/// k^-decay; isotropic noise is added; the total variance is 1. With clusters > 0 a part of each component's variance
/// lies between the clusters, whose sizes are skewed (density 1 / (2 sqrt(t)) over the clusters, as of words by topic).
struct EmbeddingFamily {
  std::uint64_t rank = 0;      ///< at most the columns; 0: all columns, at most kMaxDefaultRank
  double decay = 1;            ///< >= 0
  double noise = 0.05;         ///< share of the total variance, in [0, 1]
  std::uint64_t clusters = 0;  ///< 0: one normal distribution
  double between = 0.5;        ///< share of each component's variance that lies between clusters, in [0, 1]
  std::uint64_t seed = kDefaultSeed;

  static constexpr std::uint64_t kMaxDefaultRank = 128;
};

/// Integers 0 .. levels - 1 by a fixed hash of (row, column); exact in float32 up to 2^24 levels.
struct LatticeFamily {
  std::uint64_t levels = 256;
};

/// Independent bits as the values 0 and 1.
struct BinaryFamily {
  std::uint64_t seed = kDefaultSeed;
};

using Family =
    std::variant<UniformFamily, ExponentialFamily, ClustersFamily, EmbeddingFamily, LatticeFamily, BinaryFamily>;

struct GeneratorSpec {
  Family family;
  std::uint64_t rows = 0;
  std::uint64_t columns = 1;
  DType dtype = DType::kFloat32;  ///< kFloat32 (values made in double and rounded once) or kFloat64
};

/// The same bytes for a spec whatever the threads and the machine. A longer array starts with the rows of a shorter
/// one. Throws InvalidArgument (a parameter out of its range, dtype, no columns), std::bad_alloc.
[[nodiscard]] GeneratedPoints generate(const GeneratorSpec& spec, const ThreadPool& pool);

}  // namespace rthiss::generate
