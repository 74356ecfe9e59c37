#include "engine/cuda/cuda_engine.hpp"

#include <fmt/format.h>

#include <rthiss/errors.hpp>

#include "engine/cuda/cuda_stages.hpp"
#include "engine/cuda/current_device.hpp"
#include "engine/cuda/device_memory.hpp"
#include "engine/cuda/devices.hpp"
#include "engine/cuda/optix/availability.hpp"
#include "engine/cuda/optix/context.hpp"
#include "engine/cuda/tuning.hpp"

namespace rthiss::cuda {

namespace {

constexpr int kLeastCapability = 75;  // Turing

int usable_device(const SearchOptions& options) {
  const DeviceList& list = list_devices();
  if (list.devices.empty()) throw UnsupportedError("engine 'cuda' cannot be used: " + list.problem);
  const int wanted = options.device.value_or(0);
  for (const DeviceInfo& device : list.devices) {
    if (device.number != wanted) continue;
    if (10 * device.major + device.minor < kLeastCapability) {
      throw UnsupportedError(
          fmt::format("engine 'cuda' needs a device of compute capability 7.5 or newer; device {} ({}) has {}.{}; "
                      "choose engine 'cpu'",
                      device.number, device.name, device.major, device.minor));
    }
    return wanted;
  }
  throw UnsupportedError(fmt::format("engine 'cuda': there is no device {}; {}", wanted, describe_devices()));
}

}  // namespace

struct CudaEngine::Device {
  int number;
  bool single_queries;  // of preset 'paper'
  DeviceMemory memory;

  Device(int wanted, const SearchOptions& options)
      : number(wanted), single_queries(options.preset == "paper"), memory(wanted, options.device_memory_limit) {}
};

CudaEngine::CudaEngine(const SearchOptions& options) : pool_(options.threads) {
  const int number = usable_device(options);
  const CurrentDevice current(number);
  device_ = std::make_unique<Device>(number, options);
}

CudaEngine::~CudaEngine() { optix::wait_for_context(device_->number); }

std::string CudaEngine::describe() const { return describe_devices(); }

std::vector<int> CudaEngine::devices() const { return {device_->number}; }

PlanTraits CudaEngine::plan_traits() const {
  PlanTraits traits;
  traits.bound_width = tuning::kBoundWidth;
  traits.group_size = tuning::kGroupSize;
  return traits;
}

void CudaEngine::check(const SearchOptions& options) const {
  if ((options.shared_memory || options.mask) && options.preset != "paper") {
    throw UnsupportedError("shared_memory and mask are ablations of preset 'paper': choose that preset, or leave them");
  }
}

std::string CudaEngine::resolve_index(std::string_view name) const {
  // Rays stand for single queries. Where groups are found for whole groups of queries, bvh tests once for 64 of them,
  // and was measured far ahead (docs/optix.md).
  if (name == "auto") return device_->single_queries && optix::has_rt_cores(device_->number) ? "optix" : "bvh";
  if (name == "bvh" || name == "exhaustive") return std::string(name);
  if (name != "optix") {
    throw UnsupportedError(fmt::format("engine 'cuda' has no index '{}'; it has: exhaustive, bvh, optix", name));
  }
  if (const std::string problem = optix::problem_of_library(); !problem.empty()) {
    throw UnsupportedError("index 'optix' cannot be used: " + problem + "; or choose index 'bvh'");
  }
  optix::start_context(device_->number);  // beside the stages before the index
  return "optix";
}

std::unique_ptr<SearchStages> CudaEngine::make_stages(const StageSetup& setup) const {
  return make_cuda_stages(device_->number, device_->memory, pool_, setup);
}

bool is_available() { return !list_devices().devices.empty(); }
std::string describe_availability() { return describe_devices(); }

Availability optix_availability() {
  const DeviceList& list = list_devices();
  if (list.devices.empty()) return {"optix", false, list.problem};
  optix::OptixReport report = optix::describe_optix(list.devices.front().number);
  return {"optix", report.usable, std::move(report.text)};
}

}  // namespace rthiss::cuda
