#include <rthiss/statistics.hpp>

#include <algorithm>
#include <cmath>

namespace rthiss {

BatchSizes& BatchSizes::operator+=(const BatchSizes& other) noexcept {
  if (other.batches == 0) return *this;
  if (batches == 0) return *this = other;
  // Sums of squares about the means, put together without cancellation.
  const auto own = static_cast<double>(batches);
  const auto others = static_cast<double>(other.batches);
  const double apart = other.mean - mean;
  squares += other.squares + apart * apart * own * others / (own + others);
  mean += apart * others / (own + others);
  batches += other.batches;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
  return *this;
}

double BatchSizes::deviation() const noexcept {
  return batches == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(batches));
}

}  // namespace rthiss
