#pragma once
// A list of integers that may be missing, as an argument: takes nothing, a list, `{0, 1}` or one number.

#include <c10/util/ArrayRef.h>

#include <optional>
#include <vector>

namespace at {

// std::optional<IntArrayRef> cannot do this safely: given `{0}` it would refer to a temporary that is gone.
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}                                            // NOLINT: implicit
  OptionalIntArrayRef(std::optional<c10::IntArrayRef> values) : values_(values) {}  // NOLINT: implicit
  OptionalIntArrayRef(c10::IntArrayRef values) : values_(values) {}                 // NOLINT: implicit
  OptionalIntArrayRef(const std::vector<int64_t>& values) : values_(values) {}      // NOLINT: implicit
  OptionalIntArrayRef(const int64_t& value) : values_(c10::IntArrayRef(value)) {}   // NOLINT: implicit
  OptionalIntArrayRef(std::initializer_list<int64_t> values)                        // NOLINT: implicit
      : values_(c10::IntArrayRef(values.begin(), values.size())) {}

  operator std::optional<c10::IntArrayRef>() const { return values_; }  // NOLINT: implicit
  bool has_value() const { return values_.has_value(); }
  c10::IntArrayRef value() const { return values_.value(); }
  // A copy that owns its numbers.
  std::optional<std::vector<int64_t>> vec() const {
    if (!values_) return std::nullopt;
    return values_->vec();
  }

 private:
  std::optional<c10::IntArrayRef> values_;
};

}  // namespace at
