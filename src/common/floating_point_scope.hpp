#pragma once

namespace rthiss {

/// While it lives, the calling thread rounds to nearest with subnormals kept (no FTZ, no DAZ) and all floating-point
/// exceptions masked; afterwards the caller's control state is back exactly as it was. Cheap when nothing differs.
class FloatingPointScope {
 public:
  FloatingPointScope() noexcept;
  ~FloatingPointScope();
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  unsigned long long saved_control_;
};

}  // namespace rthiss
