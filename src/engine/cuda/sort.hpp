#pragma once

#include <cstdint>

#include "engine/cuda/device_array.hpp"

/// Sorts and scans of CUB, in one place because they take long to compile. All are stable, ordered in `stream`, and
/// take their scratch from `memory`.
namespace rthiss::cuda {

/// Sorts (key, value) by the bits [begin_bit, end_bit) of the key.
void sort_pairs(const std::uint64_t* keys, std::uint64_t* sorted_keys, const std::uint32_t* values,
                std::uint32_t* sorted_values, std::uint64_t count, int begin_bit, int end_bit, DeviceMemory& memory,
                Stream stream);
void sort_pairs(const std::uint32_t* keys, std::uint32_t* sorted_keys, const std::uint32_t* values,
                std::uint32_t* sorted_values, std::uint64_t count, int begin_bit, int end_bit, DeviceMemory& memory,
                Stream stream);
/// By falling key.
void sort_pairs_falling(const std::uint32_t* keys, std::uint32_t* sorted_keys, const std::uint32_t* values,
                        std::uint32_t* sorted_values, std::uint64_t count, DeviceMemory& memory, Stream stream);

/// sums[i] = values[0] + ... + values[i - 1], for i in [0, count]; `values` must have count + 1 elements.
void exclusive_sums(const std::uint32_t* values, std::uint64_t* sums, std::uint64_t count, DeviceMemory& memory,
                    Stream stream);

/// values[i] = i.
void fill_iota(std::uint32_t* values, std::uint64_t count, Stream stream);

}  // namespace rthiss::cuda
