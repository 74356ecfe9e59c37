#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "projection/projection.hpp"

namespace rthiss {

class ThreadPool;

/// Share of pairs that are still near after a number of components (with the norm of the rest), from a sample.
struct AliveCurve {
  std::vector<std::size_t> components;
  std::vector<double> alive;  ///< same length
  std::size_t sample_pairs = 0;
};

/// Which filters a pair passes, and what that costs by the model.
struct CascadeShape {
  std::size_t coarse = 0;  ///< components of the dense filter
  std::size_t fine = 0;    ///< components of the second filter, 0: none
  double in_tiles = 1.0;   ///< share of pairs in tiles that the boxes let through, as the model expects
  double alive_coarse = 1.0, alive_fine = 1.0;
  double cost = 0.0;  ///< cycles a pair of the data

  [[nodiscard]] std::string describe() const;
};

[[nodiscard]] AliveCurve measure_alive(const Sample& sample, const Projection& projection, double radius,
                                       const ThreadPool& pool);

/// The cheapest shape. `may_be_complete`: the projection holds all `columns` coordinates, so that the dense filter over
/// all of them decides nearly every pair by itself. `bytes`: the last filter works on rows of bytes.
[[nodiscard]] CascadeShape best_shape(const AliveCurve& curve, std::size_t columns, bool may_be_complete, bool bytes);

/// Cost by the model of a cascade of `coarse` and `fine` components where pairs are left as the curve says.
[[nodiscard]] double cost_of_shape(const AliveCurve& curve, std::size_t coarse, std::size_t fine, std::size_t columns,
                                   bool may_be_complete, bool bytes);

/// Keeps the first `components` of a projection, the others go into the norm of the rest.
void shorten_projection(Projection& projection, std::size_t components);

}  // namespace rthiss
