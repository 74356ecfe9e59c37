#include "generate/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/floating_point_scope.hpp"
#include "generate/linear_basis.hpp"
#include "generate/portable_math.hpp"
#include "generate/random_stream.hpp"
#include "generate/row_filler.hpp"

namespace rthiss::generate {

namespace {

// One stream a purpose, apart from each other and from those of the named workloads.
enum FamilyStream : std::uint64_t {
  kValues = 1024,
  kCentres,
  kMembership,
  kErrors,
  kDirections,
  kNoise,
};

void require(bool condition, std::string_view what) {
  if (!condition) throw InvalidArgument(fmt::format("generator: {}", what));
}

bool is_share(double value) { return value >= 0 && value <= 1; }

template <typename T>
class FamilyFiller {
 public:
  FamilyFiller(const GeneratorSpec& spec, const ThreadPool& pool)
      : rows_(spec.rows), columns_(spec.columns), pool_(pool) {}

  Array<T> operator()(const UniformFamily& family) const {
    require(std::isfinite(family.low) && std::isfinite(family.high - family.low) && family.low <= family.high,
            "uniform needs finite bounds, low <= high");
    const RandomStream stream(family.seed, kValues);
    const double width = family.high - family.low;
    return values([&](std::uint64_t i) { return family.low + width * stream.uniform(i); });
  }

  Array<T> operator()(const ExponentialFamily& family) const {
    require(std::isfinite(family.rate) && family.rate > 0, "exponential needs a rate above 0");
    const RandomStream stream(family.seed, kValues);
    return values([&](std::uint64_t i) { return -portable_log(stream.uniform(i)) / family.rate; });
  }

  Array<T> operator()(const ClustersFamily& family) const {
    require(family.clusters > 0, "clusters needs at least one cluster");
    require(std::isfinite(family.spread) && family.spread >= 0, "clusters needs a spread of 0 or more");
    const RandomStream centres(family.seed, kCentres), membership(family.seed, kMembership);
    const RandomStream errors(family.seed, kErrors);
    return fill_rows<T>(rows_, columns_, pool_, [&](std::uint64_t i, double* row) {
      const std::uint64_t cluster = membership.bits(i) % family.clusters;
      for (std::uint64_t j = 0; j < columns_; ++j) {
        row[j] = centres.uniform(cluster * columns_ + j) + family.spread * errors.normal(i * columns_ + j);
      }
    });
  }

  Array<T> operator()(const EmbeddingFamily& family) const {
    const std::uint64_t rank =
        family.rank != 0 ? family.rank : std::min<std::uint64_t>(columns_, EmbeddingFamily::kMaxDefaultRank);
    require(rank <= columns_, "embedding needs a rank of at most the columns");
    require(std::isfinite(family.decay) && family.decay >= 0, "embedding needs a decay of 0 or more");
    require(is_share(family.noise), "embedding needs a noise share between 0 and 1");
    require(is_share(family.between), "embedding needs a share between clusters between 0 and 1");

    const RandomStream directions(family.seed, kDirections), errors(family.seed, kErrors);
    const RandomStream membership(family.seed, kMembership), centres(family.seed, kCentres);
    const RandomStream noise(family.seed, kNoise);
    std::vector<double> basis(rank * columns_), deviation(rank);
    for (std::size_t i = 0; i < basis.size(); ++i) basis[i] = directions.normal(i);
    orthonormalize(basis.data(), rank, columns_);
    double total = 0;
    for (std::uint64_t k = 0; k < rank; ++k) {
      deviation[k] = portable_exp(-family.decay * portable_log(static_cast<double>(k + 1)));
      total += deviation[k];
    }
    for (double& value : deviation) value = std::sqrt(value / total * (1 - family.noise));
    const double noise_deviation = std::sqrt(family.noise / static_cast<double>(columns_));
    const double between = family.clusters == 0 ? 0 : std::sqrt(family.between);
    const double within = family.clusters == 0 ? 1 : std::sqrt(1 - family.between);

    return fill_rows<T>(rows_, columns_, pool_, [&](std::uint64_t i, double* row) {
      const double u = membership.uniform(i);
      const auto cluster = static_cast<std::uint64_t>(static_cast<double>(family.clusters) * u * u);
      for (std::uint64_t j = 0; j < columns_; ++j) row[j] = noise_deviation * noise.normal(i * columns_ + j);
      for (std::uint64_t k = 0; k < rank; ++k) {
        double latent = within * errors.normal(i * rank + k);
        if (between > 0) latent += between * centres.normal(cluster * rank + k);
        latent *= deviation[k];
        for (std::uint64_t j = 0; j < columns_; ++j) row[j] += latent * basis[k * columns_ + j];
      }
    });
  }

  Array<T> operator()(const LatticeFamily& family) const {
    require(family.levels > 0 && family.levels <= std::uint64_t{1} << 24, "lattice needs 1 to 2^24 levels");
    const auto levels = static_cast<std::uint32_t>(family.levels);
    return fill_rows<T>(rows_, columns_, pool_, [&](std::uint64_t i, double* row) {
      for (std::uint64_t j = 0; j < columns_; ++j) {
        std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761u + static_cast<std::uint32_t>(j) * 40503u + 12345u;
        h = (h ^ (h >> 15)) * 2246822519u;
        h = (h ^ (h >> 13)) * 3266489917u;
        h ^= h >> 16;
        row[j] = h % levels;
      }
    });
  }

  Array<T> operator()(const BinaryFamily& family) const {
    const RandomStream stream(family.seed, kValues);
    return values([&](std::uint64_t i) { return static_cast<double>(stream.bits(i / 64) >> (i % 64) & 1); });
  }

 private:
  /// Independent values: number i of the array is value(i).
  template <typename Value>
  Array<T> values(const Value& value) const {
    return fill_rows<T>(rows_, columns_, pool_, [&](std::uint64_t i, double* row) {
      for (std::uint64_t j = 0; j < columns_; ++j) row[j] = value(i * columns_ + j);
    });
  }

  std::uint64_t rows_;
  std::uint64_t columns_;
  const ThreadPool& pool_;
};

}  // namespace

GeneratedPoints generate(const GeneratorSpec& spec, const ThreadPool& pool) {
  const FloatingPointScope scope;
  GeneratedPoints points{spec.rows, spec.columns, {}};
  if (spec.dtype == DType::kFloat32) {
    points.values = std::visit(FamilyFiller<float>(spec, pool), spec.family);
  } else if (spec.dtype == DType::kFloat64) {
    points.values = std::visit(FamilyFiller<double>(spec, pool), spec.family);
  } else {
    throw InvalidArgument(fmt::format("generator: dtype {} is not made; float32 and float64 are", name_of(spec.dtype)));
  }
  return points;
}

}  // namespace rthiss::generate
