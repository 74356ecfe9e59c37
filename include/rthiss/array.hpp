#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace rthiss {

/// A fixed-size owner of trivially copyable elements in host memory, aligned to 64 bytes. Unlike std::vector it does
/// not write the elements when it is made, so that large results are first touched by the threads that fill them.
template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  static constexpr std::size_t kAlignment = 64;

  Array() noexcept = default;
  /// Uninitialised elements. Throws std::bad_alloc.
  explicit Array(std::size_t size) : data_(allocate(size)), size_(size), capacity_(size) {}
  Array(std::size_t size, const T& value) : Array(size) {
    for (T& element : *this) element = value;
  }
  explicit Array(std::span<const T> source) : Array(source.size()) {
    for (std::size_t i = 0; i < source.size(); ++i) data_[i] = source[i];
  }
  Array(Array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, std::size_t{0})),
        capacity_(std::exchange(other.capacity_, std::size_t{0})) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { std::free(data_); }

  /// Now `size` elements, uninitialised: in the memory that is there if it is large enough, else in new memory.
  /// Throws std::bad_alloc and is then empty.
  void reset(std::size_t size) {
    if (size > capacity_) {
      std::free(std::exchange(data_, nullptr));
      size_ = capacity_ = 0;
      data_ = allocate(size);
      capacity_ = size;
    }
    size_ = size;
  }

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] T& back() noexcept { return data_[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }
  [[nodiscard]] std::span<T> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data_, size_}; }

 private:
  static T* allocate(std::size_t size) {
    if (size == 0) return nullptr;
    if (size > (static_cast<std::size_t>(-1) / 2) / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = (size * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // elements that fit into the memory
};

}  // namespace rthiss
