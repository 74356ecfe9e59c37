#include "engine/registry.hpp"

#include <fmt/format.h>

#include <rthiss/errors.hpp>

#include "engine/cpu/cpu_engine.hpp"
#include "engine/reference/reference_engine.hpp"
#include "index/registry.hpp"
#if defined(RTHISS_HAVE_CUDA)
#include "engine/cuda/cuda_engine.hpp"
#endif

namespace rthiss {

namespace {

/// Operations of a brute-force join from which starting a device (some tenths of a second) pays.
constexpr double kDeviceWork = 1e10;

Availability cuda_availability() {
#if defined(RTHISS_HAVE_CUDA)
  return {"cuda", cuda::is_available(), cuda::describe_availability()};
#else
  return {"cuda", false, "not built: build the preset 'cuda', which needs the CUDA toolkit (docs/cuda.md)"};
#endif
}

Availability optix_availability() {
#if defined(RTHISS_HAVE_CUDA)
  return cuda::optix_availability();
#else
  return {"optix", false, "not built: it is an index of the engine 'cuda' (docs/optix.md)"};
#endif
}

}  // namespace

std::string choose_engine(const SearchOptions& options, std::uint64_t rows, std::uint64_t columns) {
  if (options.engine != "auto") return options.engine;
  if (options.index == "optix") {
    const Availability cuda = cuda_availability();
    if (!cuda.available) throw UnsupportedError("index 'optix' needs the engine 'cuda': " + cuda.detail);
    return "cuda";
  }
  const double work = static_cast<double>(rows) * static_cast<double>(rows) * static_cast<double>(columns);
  const bool other_index = options.index != "auto" && options.index != "bvh" && options.index != "exhaustive";
  const bool wanted = options.device || options.shared_memory || options.mask;
  if ((work < kDeviceWork && !wanted) || other_index) return "cpu";
  return cuda_availability().available ? "cuda" : "cpu";
}

std::unique_ptr<Engine> make_engine(std::string_view name, const SearchOptions& options) {
  if (name == "cpu") return std::make_unique<cpu::CpuEngine>(options.threads);
  if (name == "reference") return std::make_unique<reference::ReferenceEngine>(options.threads);
#if defined(RTHISS_HAVE_CUDA)
  if (name == "cuda") return std::make_unique<cuda::CudaEngine>(options);
#endif
  for (const Availability& engine : engine_availability()) {
    if (engine.name == name) throw UnsupportedError(fmt::format("engine '{}' cannot be used: {}", name, engine.detail));
  }
  throw InvalidArgument(fmt::format("unknown engine '{}'; known: cpu, reference, cuda", name));
}

std::vector<Availability> engine_availability() {
  return {{"cpu", true, cpu::CpuEngine(0).describe()},
          {"reference", true, reference::ReferenceEngine(0).describe()},
          cuda_availability()};
}

std::vector<Availability> all_index_availability() {
  std::vector<Availability> all = index_availability();
  all.push_back(optix_availability());
  return all;
}

std::vector<std::string> index_names() {
  std::vector<std::string> names;
  for (const Availability& index : index_availability()) names.push_back(index.name);
  names.emplace_back("optix");
  return names;
}

}  // namespace rthiss
