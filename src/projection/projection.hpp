#pragma once

#include <rthiss/array.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include "dataset/filter_space.hpp"

namespace rthiss {

class ThreadPool;

/// The map that indexes the data, from a FilterSpace to k components: a choice of coordinates, or principal components
/// V^T (z - center). A contraction up to `basis_defect`.
struct Projection {
  std::string name;            ///< "none", "variance" or "pca"
  std::size_t columns = 0;     ///< d
  std::size_t components = 0;  ///< k, without the norm of the rest
  bool with_rest = false;      ///< one more value: the norm of what the components leave out
  Array<float> center;         ///< [d]; pca only
  Array<float> basis;          ///< V^T [k x d], row-major; pca only
  Array<std::uint32_t> order;  ///< [d] column at each place; "none" and "variance"
  double basis_defect = 0.0;   ///< bound on the spectral norm of V^T V - I; pca only
  Array<double> variance;      ///< [k] of the sample along each component, falling

  [[nodiscard]] bool is_coordinates() const noexcept { return basis.empty(); }
  [[nodiscard]] std::size_t width() const noexcept { return components + (with_rest ? 1 : 0); }
};

/// Rows of a FilterSpace that stand for the data where something is only chosen, never decided.
struct Sample {
  std::size_t rows = 0;
  std::size_t columns = 0;
  Array<float> values;  ///< [rows x columns]
};

/// Up to `rows` rows, spread evenly with a random offset of `seed`.
[[nodiscard]] Sample draw_sample(const Dataset& data, const FilterSpace& space, std::size_t rows, std::uint64_t seed,
                                 const ThreadPool& pool);

/// Coordinates by falling variance of the sample, ties by column number (paper, section IV-A); `sorted` false keeps
/// the caller's order ("none").
[[nodiscard]] Projection choose_coordinates(const Sample& sample, std::size_t components, bool sorted);

/// The leading principal components of the sample, by subspace iteration (by the full decomposition for small d).
[[nodiscard]] Projection principal_components(const Sample& sample, std::size_t components, std::uint64_t seed,
                                              const ThreadPool& pool);

}  // namespace rthiss
