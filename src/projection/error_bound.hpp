#pragma once

#include <cmath>
#include <cstddef>

#include "common/host_device.hpp"
#include "geometry/rounding.hpp"

namespace rthiss {

/// Squared norms below this have a norm, and a norm of the rest, that float32 holds.
inline constexpr double kUsableSquare = 0x1p255;

/// Bound of a principal-components image. With z the loaded row minus the centre, Q the orthonormal polar factor of the
/// basis V, eta >= |V^T V - I|, g the product's error units and k components:
///   |p - Q^T z| <= b = (g u sqrt(k) (1 + eta) + eta) |z|        since |V - Q| <= eta and | |V|^T |z| | <= |V|_F |z|,
///   |r^2 - |(I - Q Q^T) z|^2| <= delta = 2 |p| b + b^2 + (d + k + 8) 2^-53 |z|^2,
///   |r - |(I - Q Q^T) z|| <= min(sqrt(delta), delta / r) =: c,
/// where delta's own sums need (d + k - 1) 2^-53 |z|^2 of its last term and what is left, at least 9 2^-53 r of c, pays
/// for the rounding of r; products that underflow add d 2^-149 a component to b, and (Q^T z, |(I - Q Q^T) z|) is a
/// contraction of z, so the error of the row (load_error) and of the subtraction of the centre (u |z|) add once to the
/// Euclidean norm sqrt(b^2 + (c + u r)^2) of both.
class PcaErrorBound {
 public:
  /// `units`: g, the bound on a component of the product relative to sum_c |V_cj z_c|, in units of u = 2^-24.
  PcaErrorBound(std::size_t columns, std::size_t components, double basis_defect, double units)
      : per_norm_(units * 0x1p-24 * std::sqrt(static_cast<double>(components)) * (1.0 + basis_defect) + basis_defect),
        underflow_(static_cast<double>(columns) * static_cast<double>(components) * 0x1p-149),
        sum_units_((static_cast<double>(columns) + static_cast<double>(components) + 8.0) * 0x1p-53) {}

  /// `norm2`: |z|^2, `image2`: |p|^2, both summed in double in any order; sets `rest`.
  RTHISS_HOST_DEVICE float operator()(double norm2, double image2, float load_error, double& rest) const {
    const double z = std::sqrt(norm2) * (1.0 + sum_units_);
    const double p = std::sqrt(image2) * (1.0 + sum_units_);
    const double b = per_norm_ * z + underflow_;
    const double delta = 2.0 * p * b + b * b + sum_units_ * z * z;
    const double left = norm2 - image2;
    rest = left > 0.0 ? std::sqrt(left) : 0.0;
    double c = std::sqrt(delta);
    if (rest > 0.0 && delta / rest < c) c = delta / rest;
    c += 0x1p-24 * rest;
    const double bound = std::sqrt(b * b + c * c) + 0x1p-24 * z * 1.001 + static_cast<double>(load_error);
    return round_up_to_float(bound * (1.0 + 0x1p-49) + 0x1p-140);
  }

 private:
  double per_norm_;
  double underflow_;
  double sum_units_;
};

/// Bound of the image of a choice of coordinates, which is exact but for the norm of the rest: `rest` summed in double
/// over at most d squares and rounded once to float32.
[[nodiscard]] RTHISS_HOST_DEVICE inline float coordinates_error(float load_error, double rest, std::size_t columns) {
  if (!(rest > 0.0)) return load_error;
  const double rounding = rest * (0x1p-24 + (static_cast<double>(columns) + 8.0) * 0x1p-53);
  return round_up_to_float((static_cast<double>(load_error) + rounding) * (1.0 + 0x1p-50) + 0x1p-140);
}

}  // namespace rthiss
