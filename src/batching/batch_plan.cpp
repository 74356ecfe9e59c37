#include "batching/batch_plan.hpp"

#include <rthiss/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

namespace rthiss {
namespace {

/// As many candidates as the bytes hold.
std::uint64_t candidates_within(std::uint64_t bytes, const ByteModel& model) {
  return model.per_candidate == 0 ? std::numeric_limits<std::uint64_t>::max() : bytes / model.per_candidate;
}

[[noreturn]] void throw_too_little(std::uint32_t block, const ByteModel& model, std::uint64_t budget) {
  throw OutOfMemory("query block " + std::to_string(block) + " needs " + std::to_string(model.per_block) +
                    " bytes and " + std::to_string(model.per_candidate) + " for each candidate group; the budget is " +
                    std::to_string(budget) + " bytes: raise the memory limit");
}

/// Parts of equal numbers of groups, as few as fit.
void split_by_groups(std::uint32_t block, std::uint32_t count, std::uint32_t groups, const ByteModel& model,
                     std::uint64_t budget, BatchPlan& plan) {
  const std::uint64_t room = model.per_block > budget ? 0 : candidates_within(budget - model.per_block, model);
  if (room == 0) throw_too_little(block, model, budget);
  const std::uint64_t parts = (groups + room - 1) / room;
  for (std::uint64_t part = 0; part < parts; ++part) {
    QueryBatch batch;
    batch.block_begin = block;
    batch.block_end = block + 1;
    batch.group_begin = static_cast<std::uint32_t>(part * groups / parts);
    batch.group_end = static_cast<std::uint32_t>((part + 1) * groups / parts);
    batch.candidates = std::min(batch.group_end - batch.group_begin, count);
    batch.predicted_bytes = model.per_block + batch.candidates * model.per_candidate;
    batch.completes_rows = part + 1 == parts;
    plan.push_back(batch);
  }
}

}  // namespace

BatchPlan plan_batches(std::span<const std::uint32_t> candidates_per_block, std::uint32_t groups,
                       const ByteModel& model, std::uint64_t budget) {
  BatchPlan plan;
  const auto blocks = static_cast<std::uint32_t>(candidates_per_block.size());
  bool open = false;  // the last batch of the plan may take more blocks
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t count = candidates_per_block[block];
    const auto fits = [&](std::uint64_t used) {
      return used <= budget && model.per_block <= budget - used &&
             count <= candidates_within(budget - used - model.per_block, model);
    };
    if (open && !fits(plan.back().predicted_bytes)) open = false;
    if (!open) {
      if (!fits(0)) {
        if (count == 0) throw_too_little(block, model, budget);
        split_by_groups(block, count, groups, model, budget, plan);
        continue;
      }
      plan.push_back({block, block, 0, groups, 0, 0, true});
      open = true;
    }
    QueryBatch& batch = plan.back();
    batch.block_end = block + 1;
    batch.candidates += count;
    batch.predicted_bytes += model.per_block + count * model.per_candidate;
  }
  return plan;
}

}  // namespace rthiss
