#pragma once
#include <cstdint>

namespace thrust {

template <typename Function, typename Iterator>
class transform_iterator {
 public:
  transform_iterator(Iterator iterator, Function function) : iterator_(iterator), function_(function) {}
  auto operator[](int64_t i) const { return function_(iterator_[i]); }

 private:
  Iterator iterator_;
  Function function_;
};

template <typename Function, typename Iterator>
transform_iterator<Function, Iterator> make_transform_iterator(Iterator iterator, Function function) {
  return {iterator, function};
}

}  // namespace thrust
