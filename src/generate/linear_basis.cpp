#include "generate/linear_basis.hpp"

#include <cmath>

namespace rthiss::generate {

double ordered_dot(const double* x, const double* y, std::size_t n) noexcept {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum = sum + x[i] * y[i];
  return sum;
}

void scale_to_unit(double* x, std::size_t n) noexcept {
  const double length = std::sqrt(ordered_dot(x, x, n));
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] / length;
}

void orthonormalize(double* matrix, std::size_t rows, std::size_t columns) noexcept {
  for (std::size_t k = 0; k < rows; ++k) {
    double* row = matrix + k * columns;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t p = 0; p < k; ++p) {
        const double* other = matrix + p * columns;
        const double part = ordered_dot(row, other, columns);
        for (std::size_t j = 0; j < columns; ++j) row[j] = row[j] - part * other[j];
      }
    }
    scale_to_unit(row, columns);
  }
}

}  // namespace rthiss::generate
