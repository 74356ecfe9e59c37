#include "engine/registry.hpp"

#include <fmt/format.h>

#include <rthiss/errors.hpp>

#include "engine/cpu/cpu_engine.hpp"
#include "engine/reference/reference_engine.hpp"

namespace rthiss {

std::unique_ptr<Engine> make_engine(std::string_view name, int threads) {
  if (name == "cpu") return std::make_unique<cpu::CpuEngine>(threads);
  if (name == "reference") return std::make_unique<reference::ReferenceEngine>(threads);
  for (const Availability& engine : engine_availability()) {
    if (engine.name == name) throw UnsupportedError(fmt::format("engine '{}' cannot be used: {}", name, engine.detail));
  }
  throw InvalidArgument(fmt::format("unknown engine '{}'; known: cpu, reference", name));
}

std::vector<Availability> engine_availability() {
  return {{"cpu", true, cpu::CpuEngine(0).describe()},
          {"reference", true, reference::ReferenceEngine(0).describe()},
          {"cuda", false, "this version has no CUDA engine"}};
}

}  // namespace rthiss
