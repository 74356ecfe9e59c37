#pragma once

#include <cstddef>

namespace rthiss::generate {

/// Sum of products in ascending order, one rounding an operation (a fixed order is what makes the bytes portable).
[[nodiscard]] double ordered_dot(const double* x, const double* y, std::size_t n) noexcept;

/// Divides by the length.
void scale_to_unit(double* x, std::size_t n) noexcept;

/// Makes the rows of a [rows x columns] matrix orthonormal, rows <= columns (Gram-Schmidt, each row twice).
void orthonormalize(double* matrix, std::size_t rows, std::size_t columns) noexcept;

}  // namespace rthiss::generate
