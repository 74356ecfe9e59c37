#pragma once

#include <cstdint>

#include "engine/cuda/candidate_sets.hpp"
#include "engine/cuda/direct_pass.hpp"
#include "index/candidate_test.hpp"

namespace rthiss::cuda::optix {

/// What the programs do with a group that is near a query.
enum class Task : std::uint32_t {
  kCountByQuery,  ///< counts [queries of the launch]
  kCountByGroup,  ///< counts [groups]
  kFill,          ///< block_ids at the group's cursor
  kMark,          ///< a bit of the query's block in the group's row; counts [blocks of the range], if given
  kDirect,        ///< DirectPass
};

/// One launch: a ray for each of the queries [first_query, first_query + width).
struct LaunchParameters {
  std::uint64_t scene = 0;
  double scale = 1.0;  ///< of the scene (SceneSpace)
  Task task = Task::kCountByQuery;
  std::uint32_t axes = 0;        ///< components that are coordinates of the scene
  std::uint32_t components = 0;  ///< that are tested
  bool sphere_boxes = false;
  std::uint32_t first_query = 0;
  BoxSet groups, queries;
  CandidateThreshold threshold{CandidateTest{}, 0};
  std::uint32_t group_begin = 0, group_end = 0;
  std::uint32_t* counts = nullptr;
  // kFill
  std::uint64_t* cursor = nullptr;
  const std::uint64_t* end = nullptr;
  std::uint32_t* block_ids = nullptr;
  // kMark
  const std::uint32_t* block_of_query = nullptr;
  std::uint32_t* marks = nullptr;  ///< [groups x mark_words], the range's blocks from block_begin on
  std::uint32_t mark_words = 0, block_begin = 0;
  bool once = false;  ///< groups g >= once_from take blocks <= g only
  std::uint32_t once_from = 0;
  // kDirect
  DirectPass direct;
};

// Names in the compiled programs.
inline constexpr const char* kParametersName = "rthiss_launch";
inline constexpr const char* kRaygenName = "__raygen__find";
inline constexpr const char* kIntersectionName = "__intersection__find";
/// What a ray carries: pairs or groups found, and for kDirect pairs compared and decided in float64.
inline constexpr int kPayloadValues = 3;

/// OptiX launches are limited to 2^30 rays.
inline constexpr std::uint32_t kMostRays = std::uint32_t{1} << 30;
[[nodiscard]] constexpr std::uint32_t rays_of_next_launch(std::uint64_t queries_left) {
  return static_cast<std::uint32_t>(queries_left < kMostRays ? queries_left : kMostRays);
}

}  // namespace rthiss::cuda::optix
