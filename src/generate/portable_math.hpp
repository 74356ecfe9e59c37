#pragma once

namespace rthiss::generate {

/// Natural logarithm and exponential out of single IEEE operations in a fixed order: accurate to a few ulps and, unlike
/// those of the C library, the same bits everywhere. For finite x (> 0 in the logarithm) of moderate size.
[[nodiscard]] double portable_log(double x) noexcept;
[[nodiscard]] double portable_exp(double x) noexcept;

}  // namespace rthiss::generate
