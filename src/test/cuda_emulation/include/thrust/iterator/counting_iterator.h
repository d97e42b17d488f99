#pragma once
#include <cstdint>

namespace thrust {

template <typename T>
class counting_iterator {
 public:
  explicit counting_iterator(T first) : first_(first) {}
  T operator[](int64_t i) const { return first_ + static_cast<T>(i); }

 private:
  T first_;
};

}  // namespace thrust
