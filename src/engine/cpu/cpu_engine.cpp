#include "engine/cpu/cpu_engine.hpp"

#include <fmt/format.h>

#include "engine/cpu/cascade_refiner.hpp"
#include "engine/cpu/paper_refiner.hpp"
#include "simd/targets.hpp"

namespace rthiss::cpu {

std::string CpuEngine::describe() const {
  return fmt::format("{} threads, SIMD {}", pool_.threads(), simd::active_target());
}

std::unique_ptr<Refiner> CpuEngine::make_refiner(const RefinementTask& task, std::unique_ptr<Refiner> previous) const {
  if (task.cascade) {
    auto* const before = dynamic_cast<CascadeRefiner*>(previous.get());
    return std::make_unique<CascadeRefiner>(task, pool_, before != nullptr ? before->take_point_rows() : nullptr);
  }
  auto* const before = dynamic_cast<PaperRefiner*>(previous.get());
  return std::make_unique<PaperRefiner>(task, pool_, before != nullptr ? before->take_point_rows() : nullptr);
}

}  // namespace rthiss::cpu
