// What iterators are built from, and the usual configurations: one per shape of operator.

#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>

#include <algorithm>

namespace at {

// ---------------------------------------------------------------- configuration

TensorIteratorConfig& TensorIteratorConfig::output(Tensor& tensor, std::optional<ScalarType> dtype) {
  TORCH_INTERNAL_ASSERT(count_ == outputs_ && count_ < kMaxOperands, "outputs come before inputs");
  sources_[count_].output = &tensor;
  sources_[count_].dtype = dtype;
  ++outputs_;
  ++count_;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::input(const Tensor& tensor) {
  TORCH_INTERNAL_ASSERT(count_ < kMaxOperands);
  TORCH_CHECK(tensor.defined(), "expected a tensor as argument ", count_ - outputs_, ", got an undefined one");
  sources_[count_++].input = &tensor;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::fixed_input(const Tensor& tensor) {
  input(tensor);
  sources_[count_ - 1].fixed = true;
  return *this;
}

// ---------------------------------------------------------------- the usual shapes

TensorIterator TensorIterator::nullary_op(Tensor& out) {
  return TensorIterator(TensorIteratorConfig().output(out).compute_in(out.dtype()).allow_overlap());
}
TensorIterator TensorIterator::unary_op(Tensor& out, const Tensor& self) {
  return TensorIterator(TensorIteratorConfig().output(out).input(self));
}
TensorIterator TensorIterator::unary_float_op(Tensor& out, const Tensor& self) {
  return TensorIterator(TensorIteratorConfig().output(out).input(self).promote_integers_to_float());
}
TensorIterator TensorIterator::unary_predicate_op(Tensor& out, const Tensor& self) {
  return TensorIterator(TensorIteratorConfig().output(out, kBool).input(self));
}
TensorIterator TensorIterator::binary_op(Tensor& out, const Tensor& self, const Tensor& other) {
  return TensorIterator(TensorIteratorConfig().output(out).input(self).input(other));
}
TensorIterator TensorIterator::binary_float_op(Tensor& out, const Tensor& self, const Tensor& other) {
  return TensorIterator(TensorIteratorConfig().output(out).input(self).input(other).promote_integers_to_float());
}
TensorIterator TensorIterator::comparison_op(Tensor& out, const Tensor& self, const Tensor& other) {
  return TensorIterator(TensorIteratorConfig().output(out, kBool).input(self).input(other).round_numbers());
}
TensorIterator TensorIterator::ternary_op(Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c) {
  return TensorIterator(TensorIteratorConfig().output(out).input(a).input(b).input(c));
}
TensorIterator TensorIterator::where_op(Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other) {
  return TensorIterator(TensorIteratorConfig().output(out).fixed_input(condition).input(self).input(other));
}
TensorIterator TensorIterator::copy_op(Tensor& out, const Tensor& src) {
  return TensorIterator(TensorIteratorConfig().output(out).input(src).leave_dtypes().allow_other_devices());
}

TensorIterator TensorIterator::reduce_op(Tensor& out, const Tensor& self, IntArrayRef dims, bool keepdim,
                                         ScalarType out_dtype, ScalarType compute_dtype) {
  const int64_t ndim = self.dim();
  c10::InlineVector<bool, 8> reduced(static_cast<size_t>(ndim), dims.empty());
  for (const int64_t given : dims) {
    const int64_t range = std::max<int64_t>(ndim, 1);
    TORCH_CHECK_INDEX(given >= -range && given < range, "Dimension out of range (expected to be in range of [", -range,
                      ", ", range - 1, "], but got ", given, ")");
    if (ndim == 0) continue;
    const int64_t dim = given < 0 ? given + ndim : given;
    TORCH_CHECK(!reduced[dim], "dim ", dim, " appears multiple times in the list of dims");
    reduced[dim] = true;
  }
  const bool is_whole = ndim > 0 && !keepdim && std::find(reduced.begin(), reduced.end(), false) == reduced.end();
  const bool casts = self.dtype() != compute_dtype || out_dtype != compute_dtype ||
                     c10::computing_type(compute_dtype) != compute_dtype;
  if (is_whole && !casts && !out.defined() && self.is_cpu() && self.is_contiguous() && self.numel() > 1) {
    // The result as it is: try_fast_path() needs no view of it.
    out = detail::empty({}, out_dtype, self.device());
    const TensorIteratorConfig config =
        TensorIteratorConfig().output(out, out_dtype).input(self).compute_in(compute_dtype).reduction();
    return TensorIterator(config);
  }
  DimVector sizes;       // of the caller's result
  DimVector full_sizes;  // with the reduced dimensions as 1
  for (int64_t i = 0; i < ndim; ++i) {
    full_sizes.push_back(reduced[i] ? 1 : self.sizes()[i]);
    if (!reduced[i] || keepdim) sizes.push_back(full_sizes.back());
  }
  if (!out.defined()) {
    out = detail::empty(sizes, out_dtype, self.device());
  } else {
    TORCH_CHECK(out.dtype() == out_dtype, "Expected out tensor to have dtype ", out_dtype, ", but got ", out.dtype(),
                " instead");
    detail::resize_output(out, sizes);
  }
  // Dimensions that were dropped come back with stride 0, so that every operand has the input's dimensions.
  DimVector strides;
  for (int64_t i = 0, kept = 0; i < ndim; ++i) {
    strides.push_back(reduced[i] ? 0 : out.strides()[kept]);
    if (!reduced[i] || keepdim) ++kept;
  }
  Tensor view(c10::make_intrusive<TensorImpl>(out.storage(), out.dtype(), out.device()));
  view.impl()->set_sizes_and_strides(full_sizes, strides, out.storage_offset());
  TensorIterator iter(TensorIteratorConfig().output(view, out_dtype).input(self).compute_in(compute_dtype).reduction());
  // `view` is gone when this returns; the operand keeps a tensor of its own.
  Operand& result = iter.operands_[0];
  (result.temporary.defined() ? result.target : result.temporary) = std::move(view);
  result.output = &out;
  return iter;
}

}  // namespace at
