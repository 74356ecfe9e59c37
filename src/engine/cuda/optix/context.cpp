#include "engine/cuda/optix/context.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <map>
#include <mutex>

#include "engine/cuda/current_device.hpp"
#include "engine/cuda/optix/launch_parameters.hpp"
#include "engine/cuda/optix/library.hpp"
#include "engine/cuda/optix/programs_ptx.hpp"

namespace rthiss::cuda::optix {

namespace {

constexpr std::size_t kMostLogBytes = 2048;
constexpr int kLogWarnings = 3;

/// What OptiX says while a context is made; part of the message where that fails.
struct Log {
  std::mutex mutex;
  std::string text;

  static void write(unsigned /*level*/, const char* tag, const char* message, void* data) {
    auto& log = *static_cast<Log*>(data);
    const std::lock_guard lock(log.mutex);
    if (log.text.size() < kMostLogBytes) log.text.append("[").append(tag).append("] ").append(message).append(" ");
  }

  [[nodiscard]] std::string take() {
    const std::lock_guard lock(mutex);
    return std::exchange(text, {});
  }
};

/// Calls come at any time as long as a context lives, and contexts live to the end of the process.
Log& log_of_process() {
  static Log* const log = new Log;
  return *log;
}

void must(abi::Result result, const char* call) {
  if (result != abi::kSuccess) check_optix(result, call, log_of_process().take());
}

void make_pipeline(DeviceContext& made) {
  const abi::FunctionTable& optix = library().functions;
  abi::ModuleOptions module_options{};
  module_options.optimization = abi::kOptimizationLevel3;
  module_options.debug = abi::kDebugNone;
  abi::PipelineOptions options{};
  options.graph_flags = abi::kGraphSingleAccel;
  options.payload_values = kPayloadValues;
  options.attribute_values = 2;
  options.exception_flags = abi::kExceptionNone;
  options.parameters = kParametersName;
  options.primitive_types = abi::kPrimitiveTypeCustom;
  const std::string_view ptx = programs_ptx();
  abi::Module module = nullptr;
  must(optix.module_create(made.context, &module_options, &options, ptx.data(), ptx.size(), nullptr, nullptr, &module),
       "compiling the programs");

  std::array<abi::ProgramGroupDescription, 3> descriptions{};
  descriptions[0].kind = abi::kKindRaygen;
  descriptions[0].single = {module, kRaygenName};
  descriptions[1].kind = abi::kKindMiss;
  descriptions[2].kind = abi::kKindHit;
  descriptions[2].hit.intersection = module;
  descriptions[2].hit.intersection_name = kIntersectionName;
  const abi::ProgramGroupOptions group_options{};
  std::array<abi::ProgramGroup, 3> groups{};
  must(
      optix.program_group_create(made.context, descriptions.data(), 3, &group_options, nullptr, nullptr, groups.data()),
      "making program groups");
  const abi::LinkOptions link{1};
  must(optix.pipeline_create(made.context, &options, &link, groups.data(), 3, nullptr, nullptr, &made.pipeline),
       "linking the programs");

  abi::StackSizes most{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    abi::StackSizes own{};
    must(optix.program_group_get_stack_size(groups[i], &own, made.pipeline), "asking for stack sizes");
    most.raygen = std::max(most.raygen, own.raygen);
    most.miss = std::max(most.miss, own.miss);
    most.closest_hit = std::max(most.closest_hit, own.closest_hit);
    most.any_hit = std::max(most.any_hit, own.any_hit);
    most.intersection = std::max(most.intersection, own.intersection);
    must(optix.record_pack_header(groups[i], made.records[i]), "packing records");
  }
  const std::uint32_t continuation =
      most.raygen + std::max(std::max(most.closest_hit, most.miss), most.intersection + most.any_hit);
  must(optix.pipeline_set_stack_size(made.pipeline, 0, 0, continuation, 1), "setting the stack size");
}

DeviceContext make_context(int device) {
  const auto start = std::chrono::steady_clock::now();
  if (!library().problem.empty()) throw UnsupportedError("index 'optix' cannot be used: " + library().problem);
  const CurrentDevice current(device);
  check(cudaFree(nullptr), "cudaFree");  // the primary context exists from here on
  const abi::FunctionTable& optix = library().functions;
  DeviceContext made;
  const abi::ContextOptions options{&Log::write, &log_of_process(), kLogWarnings, 0};
  const abi::Result result = optix.context_create(nullptr, &options, &made.context);
  if (result != abi::kSuccess) {
    const char* const name = optix.get_error_name(result);
    throw UnsupportedError(std::string("index 'optix' cannot be used: OptiX does not start on the device: ") +
                           (name != nullptr ? name : "unknown error") + " " + log_of_process().take() +
                           "; choose index 'bvh'");
  }
  must(optix.context_set_cache_enabled(made.context, 0), "turning its cache on disk off");
  must(optix.context_get_property(made.context, abi::kPropertyRtCoreVersion, &made.rt_core_version,
                                  sizeof made.rt_core_version),
       "asking for the RT-core version");
  must(optix.context_get_property(made.context, abi::kPropertyMostPrimitives, &made.most_primitives,
                                  sizeof made.most_primitives),
       "asking for the limit of primitives");
  make_pipeline(made);
  made.start_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

/// Contexts by device, never destroyed: at the end of a process the driver may be gone before static objects are.
struct Contexts {
  std::mutex mutex;
  std::map<int, std::shared_future<DeviceContext>> by_device;
};

Contexts& contexts() {
  static Contexts* const all = new Contexts;
  return *all;
}

std::shared_future<DeviceContext> future_of(int device) {
  Contexts& all = contexts();
  const std::lock_guard lock(all.mutex);
  auto& future = all.by_device[device];
  if (!future.valid()) future = std::async(std::launch::async, make_context, device).share();
  return future;
}

}  // namespace

void start_context(int device) { (void)future_of(device); }

const DeviceContext& context_of(int device) { return future_of(device).get(); }

void wait_for_context(int device) noexcept {
  Contexts& all = contexts();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_device.find(device);
  if (found != all.by_device.end()) found->second.wait();
}

}  // namespace rthiss::cuda::optix
