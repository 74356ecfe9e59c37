#pragma once

#include "engine/host_stages.hpp"

namespace rthiss::cpu {

/// oneTBB threads and Highway SIMD, dispatched to the best instruction set of the processor at run time.
class CpuEngine final : public HostEngine {
 public:
  explicit CpuEngine(int threads) : pool_(threads) {}
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] const ThreadPool& pool() const override { return pool_; }
  [[nodiscard]] std::unique_ptr<Refiner> make_refiner(const RefinementTask& task,
                                                      std::unique_ptr<Refiner> previous) const override;

 private:
  ThreadPool pool_;
};

}  // namespace rthiss::cpu
