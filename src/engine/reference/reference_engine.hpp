#pragma once

#include "engine/host_stages.hpp"

namespace rthiss::reference {

/// Plain loops over the candidates, every pair decided by the exact tiers: the readable oracle, never optimised.
class ReferenceEngine final : public HostEngine {
 public:
  explicit ReferenceEngine(int threads) : pool_(threads) {}
  [[nodiscard]] std::string name() const override { return "reference"; }
  [[nodiscard]] std::string describe() const override { return "float64 loops without any filter"; }
  [[nodiscard]] const ThreadPool& pool() const override { return pool_; }
  [[nodiscard]] std::unique_ptr<Refiner> make_refiner(const RefinementTask& task,
                                                      std::unique_ptr<Refiner> previous) const override;

 private:
  ThreadPool pool_;
};

}  // namespace rthiss::reference
