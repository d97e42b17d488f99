#pragma once
// A borrowed, read-only view of contiguous values. It does not own: keep what it points to alive.

#include <c10/util/Exception.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace c10 {

template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}  // NOLINT: implicit, as a list of one
  ArrayRef(const std::vector<T>& values) : data_(values.data()), size_(values.size()) {}  // NOLINT: implicit
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}  // NOLINT: implicit
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // used as an argument, the list outlives the call
#endif
  constexpr ArrayRef(std::initializer_list<T> values) : data_(values.begin()), size_(values.size()) {}  // NOLINT
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t index) const { return data_[index]; }
  const T& at(size_t index) const {
    TORCH_CHECK_INDEX(index < size_, "ArrayRef: index ", index, " is out of range for ", size_, " values");
    return data_[index];
  }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(size_t start) const { return ArrayRef(data_ + start, size_ - start); }
  constexpr ArrayRef slice(size_t start, size_t count) const { return ArrayRef(data_ + start, count); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  friend bool operator==(ArrayRef left, ArrayRef right) {
    if (left.size_ != right.size_) return false;
    for (size_t i = 0; i < left.size_; ++i) {
      if (!(left.data_[i] == right.data_[i])) return false;
    }
    return true;
  }
  friend bool operator!=(ArrayRef left, ArrayRef right) { return !(left == right); }
  // As PyTorch prints sizes in messages: [2, 3].
  friend std::ostream& operator<<(std::ostream& stream, ArrayRef values) {
    stream << '[';
    for (size_t i = 0; i < values.size(); ++i) stream << (i ? ", " : "") << values[i];
    return stream << ']';
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

using IntArrayRef = ArrayRef<int64_t>;

}  // namespace c10
