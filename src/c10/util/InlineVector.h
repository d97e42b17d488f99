#pragma once
// A vector of trivially copyable values that holds its first N inside itself: sizes and strides without allocation.

#include <c10/util/ArrayRef.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>

namespace c10 {

template <typename T, size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>, "InlineVector copies bytes");

 public:
  using value_type = T;

  InlineVector() = default;
  explicit InlineVector(size_t size, T value = T()) { resize(size, value); }
  InlineVector(std::initializer_list<T> values) { assign(ArrayRef<T>(values.begin(), values.size())); }
  InlineVector(ArrayRef<T> values) { assign(values); }  // NOLINT: implicit
  template <typename Iterator, typename = typename std::iterator_traits<Iterator>::iterator_category>
  InlineVector(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  InlineVector(const InlineVector& other) { assign(other); }
  InlineVector(InlineVector&& other) noexcept
      : size_(other.size_), capacity_(other.capacity_), heap_(std::move(other.heap_)) {
    if (!heap_) std::memcpy(inline_, other.inline_, std::min(size_, N) * sizeof(T));
    other.size_ = 0;
    other.capacity_ = N;
  }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      size_ = other.size_;
      capacity_ = other.capacity_;
      heap_ = std::move(other.heap_);
      if (!heap_) std::memcpy(inline_, other.inline_, std::min(size_, N) * sizeof(T));
      other.size_ = 0;
      other.capacity_ = N;
    }
    return *this;
  }

  void assign(ArrayRef<T> values) {
    reserve(values.size());
    if (!values.empty()) std::memmove(data(), values.data(), values.size() * sizeof(T));
    size_ = values.size();
  }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max(capacity, capacity_ * 2);
    std::unique_ptr<T[]> larger(new T[capacity]);
    if (size_) std::memcpy(larger.get(), data(), size_ * sizeof(T));
    heap_ = std::move(larger);
    capacity_ = capacity;
  }
  void resize(size_t size, T value = T()) {
    reserve(size);
    for (size_t i = size_; i < size; ++i) data()[i] = value;
    size_ = size;
  }
  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void insert(size_t position, T value) {
    push_back(value);
    std::rotate(begin() + position, end() - 1, end());
  }
  void erase(size_t position) {
    std::copy(begin() + position + 1, end(), begin() + position);
    --size_;
  }

  T* data() { return heap_ ? heap_.get() : inline_; }
  const T* data() const { return heap_ ? heap_.get() : inline_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t index) { return data()[index]; }
  const T& operator[](size_t index) const { return data()[index]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& front() { return data()[0]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  operator ArrayRef<T>() const { return ArrayRef<T>(data(), size_); }  // NOLINT: implicit

  friend bool operator==(const InlineVector& left, const InlineVector& right) {
    return ArrayRef<T>(left) == ArrayRef<T>(right);
  }

 private:
  size_t size_ = 0;
  size_t capacity_ = N;
  std::unique_ptr<T[]> heap_;
  T inline_[N];
};

// Sizes, strides or dimension numbers of one tensor.
using DimVector = InlineVector<int64_t, 5>;

}  // namespace c10
