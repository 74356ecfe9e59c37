#include "simd/targets.hpp"

#include <hwy/targets.h>

#include <rthiss/errors.hpp>

#include "simd/gemm.hpp"

namespace rthiss::simd {

std::vector<std::string> supported_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string active_target() { return gemm_target(); }

void force_target(std::string_view name) {
  hwy::SetSupportedTargetsForTest(0);
  if (!name.empty()) {
    const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
    std::int64_t wanted = 0;
    std::string listed;
    for (const std::int64_t target : targets) {
      if (name == hwy::TargetName(target)) wanted = target;
      listed += (listed.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
    }
    if (wanted == 0) {
      throw UnsupportedError("instruction set '" + std::string(name) + "' is not available here; available: " + listed);
    }
    hwy::SetSupportedTargetsForTest(wanted);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace rthiss::simd
