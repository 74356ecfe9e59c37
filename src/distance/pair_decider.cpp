#include "distance/pair_decider.hpp"

#include <rthiss/errors.hpp>

#include <cmath>

#include <fmt/format.h>

#include "distance/euclidean_decider.hpp"

namespace rthiss {

std::unique_ptr<PairDecider> make_pair_decider(Metric metric, double value, std::size_t columns,
                                               const ValueGrid& grid) {
  if (metric.kind != Metric::Kind::kEuclidean) throw UnsupportedError("this build has the Euclidean metric only");
  if (std::isnan(value)) throw InvalidArgument("the radius is NaN; give a number");
  if (value < 0.0) throw InvalidArgument(fmt::format("the radius is {}; give a number >= 0", value));
  return std::make_unique<EuclideanDecider>(std::fabs(value), columns, grid);
}

}  // namespace rthiss
