#pragma once

#include <rthiss/searcher.hpp>

#include "engine/engine.hpp"

namespace rthiss::cuda {

/// One NVIDIA device. Uses the process's primary context and streams of its own, so that other libraries in the process
/// go on undisturbed; allocates from a pool of its own and returns everything at the end.
class CudaEngine final : public Engine {
 public:
  /// Throws UnsupportedError with the reason where the device cannot be used.
  explicit CudaEngine(const SearchOptions& options);
  ~CudaEngine() override;

  [[nodiscard]] std::string name() const override { return "cuda"; }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] const ThreadPool& pool() const override { return pool_; }
  [[nodiscard]] std::vector<int> devices() const override;
  [[nodiscard]] PlanTraits plan_traits() const override;
  void check(const SearchOptions& options) const override;
  [[nodiscard]] std::string resolve_index(std::string_view name) const override;
  [[nodiscard]] std::unique_ptr<SearchStages> make_stages(const StageSetup& setup) const override;

 private:
  struct Device;

  ThreadPool pool_;
  std::unique_ptr<Device> device_;
};

/// Can the engine be used here, with what, or why not.
[[nodiscard]] bool is_available();
[[nodiscard]] std::string describe_availability();
/// The same for the index "optix". Starts OptiX, which takes some tenths of a second once a process.
[[nodiscard]] Availability optix_availability();

}  // namespace rthiss::cuda
