#include "distance/pair_decider.hpp"

#include <rthiss/errors.hpp>

#include <cmath>

#include <fmt/format.h>

#include "distance/cosine_decider.hpp"
#include "distance/euclidean_decider.hpp"

namespace rthiss {

std::unique_ptr<PairDecider> make_pair_decider(Metric metric, double value, std::size_t columns,
                                               const ValueGrid& grid) {
  if (metric.kind == Metric::Kind::kCosineSimilarity) {
    if (!(value >= -1.0 && value <= 1.0)) {
      throw InvalidArgument(fmt::format("the cosine similarity is {}; give a number from -1 to 1", value));
    }
    return std::make_unique<CosineDecider>(metric.kind, value, columns, grid);
  }
  if (std::isnan(value)) throw InvalidArgument("the radius is NaN; give a number");
  if (value < 0.0) throw InvalidArgument(fmt::format("the radius is {}; give a number >= 0", value));
  const double radius = std::fabs(value);  // -0.0 is 0.0
  if (metric.kind == Metric::Kind::kCosineDistance) {
    return std::make_unique<CosineDecider>(metric.kind, radius, columns, grid);
  }
  return std::make_unique<EuclideanDecider>(radius, columns, grid);
}

}  // namespace rthiss
