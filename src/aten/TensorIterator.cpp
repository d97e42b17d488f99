// Building an iterator: devices, dtypes, shape, memory of the results, and flattening. The usual configurations are in
// TensorIteratorConfig.cpp, the loops in TensorIteratorLoops.cpp.

#include <aten/DenseStrides.h>
#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>

namespace at {

namespace {

// Whether CUDA's kernels take `memory` for numbers of `dtype`: those with inputs (native/cuda/Loops.cuh, Reduce.cuh)
// widen halves on their way in, and round on the way out.
bool is_widened_by_kernels(Device device, ScalarType memory, ScalarType dtype) {
  return device.is_cuda() && c10::is_reduced_floating_type(memory) && dtype == kFloat;
}

}  // namespace

TensorIterator::TensorIterator(const TensorIteratorConfig& config)
    : count_(config.count_), outputs_(config.outputs_), is_reduction_(config.is_reduction_) {
  for (int i = 0; i < count_; ++i) {
    operands_[i].output = config.sources_[i].output;
    operands_[i].input = config.sources_[i].input;
    operands_[i].fixed = config.sources_[i].fixed;
  }
  if (C10_LIKELY(try_fast_path(config))) return;
  compute_device(config);
  compute_dtypes(config);
  compute_shape(config);
  if (config.check_overlap_ && !is_reduction_) check_overlap();
  cast_inputs(config);
  compute_strides();
  const DimVector order = order_dimensions();
  make_outputs(order);
  // Only now: a result that was resized may have moved the storage that others lie in, too.
  for (int i = 0; i < count_; ++i) {
    Operand& operand = operands_[i];
    const Tensor& tensor = operand.temporary.defined() ? operand.temporary : operand.source();
    if (!operand.is_inline) operand.data = static_cast<char*>(tensor.impl()->data());
  }
  permute(order);
  coalesce();
  has_work_ = is_reduction_ ? operands_[0].source().numel() != 0 : numel_ != 0;
}

// The common case in one pass: operands of one dtype, device and shape, all contiguous, perhaps with a written number
// (x + 2), and a result that is new or fits. Everything else (and every error) is left to the general path.
bool TensorIterator::try_fast_path(const TensorIteratorConfig& config) {
  const auto flatten = [&](const TensorImpl* whole) {
    device_ = whole->device();
    promoted_ = common_dtype_ = whole->dtype();
    numel_ = whole->numel();
    has_work_ = numel_ != 0;
    if (numel_ != 1) shape_.push_back(numel_);
    for (int i = 0; i < count_; ++i) {
      Operand& operand = operands_[i];
      const TensorImpl* impl = operand.source().impl();
      operand.dtype = common_dtype_;
      operand.data = static_cast<char*>(impl->data());
      if (numel_ != 1) operand.strides.push_back(impl->dim() == 0 ? 0 : static_cast<int64_t>(impl->element_size()));
    }
    return true;
  };
  if (is_reduction_) {
    // reduce_op() gives a whole tensor, contiguous and in the kernel's dtype, a result without dimensions.
    const TensorImpl* input = operands_[1].input->impl();
    return operands_[0].output->dim() == 0 && input->dim() != 0 && flatten(input);
  }
  if (count_ == 1) {  // written without being read
    const Tensor& out = *operands_[0].output;
    if (!out.defined() || !out.is_contiguous()) return false;
    const ScalarType dtype = out.dtype();
    const bool is_kept = config.compute_dtype_ == dtype && c10::computing_type(dtype) == dtype;
    return (config.leave_dtypes_ || is_kept) && flatten(out.impl());
  }
  if (outputs_ != 1 || config.leave_dtypes_ || config.compute_dtype_) return false;
  const TensorImpl* model = nullptr;
  bool has_numbers = false;
  for (int i = 1; i < count_; ++i) {
    const TensorImpl* input = operands_[i].input->impl();
    if (operands_[i].fixed || !input->is_contiguous()) return false;
    if (input->is_wrapped_number()) {
      has_numbers = true;
      continue;
    }
    if (model == nullptr) {
      model = input;
    } else if (input->dtype() != model->dtype() || input->device() != model->device() ||
               input->sizes() != model->sizes()) {
      return false;
    }
  }
  if (model == nullptr) return false;
  const ScalarType dtype = model->dtype();
  const ScalarType computing = c10::computing_type(dtype);
  if (computing != dtype && !model->device().is_cpu() && !model->device().is_cuda()) return false;
  if (config.integers_to_float_ && !c10::is_floating_or_complex_type(dtype)) return false;
  for (int i = 1; has_numbers && i < count_; ++i) {
    const TensorImpl* input = operands_[i].input->impl();
    if (!input->is_wrapped_number()) continue;
    // A number of a higher kind (x + 2.5 with integers) raises the dtype; it has no value on Meta.
    const bool keeps_dtype =
        (c10::is_floating_type(dtype) && !c10::is_complex_type(input->dtype())) || c10::is_complex_type(dtype) ||
        input->dtype() == kBool || (input->dtype() == kLong && dtype != kBool);
    if (!keeps_dtype || !input->device().is_cpu()) return false;
  }
  const ScalarType out_dtype = config.sources_[0].dtype.value_or(dtype);
  Tensor& out = *operands_[0].output;
  if (out.defined()) {
    const TensorImpl* given = out.impl();
    if (given->dtype() != out_dtype || given->device() != model->device() || !given->is_contiguous() ||
        given->sizes() != model->sizes()) {
      return false;
    }
    for (int i = 1; i < count_; ++i) assert_no_partial_overlap(out, *operands_[i].input);
  } else {
    out = detail::empty(model->sizes(), out_dtype, model->device());
  }
  device_ = model->device();
  common_dtype_ = computing;
  promoted_ = dtype;
  numel_ = model->numel();
  has_work_ = numel_ != 0;
  if (numel_ != 1) shape_.push_back(numel_);
  for (int i = 0; i < count_; ++i) {
    Operand& operand = operands_[i];
    const TensorImpl* impl = operand.source().impl();
    operand.dtype = i == 0 ? c10::computing_type(out_dtype) : computing;
    operand.data = static_cast<char*>(impl->data());
    const bool number = i > 0 && impl->is_wrapped_number();
    if (number) {
      set_number(i, config);
    } else if (C10_UNLIKELY(impl->dtype() != operand.dtype)) {
      convert_rows_of(operand, impl->dtype());
    }
    if (numel_ != 1) operand.strides.push_back(number ? 0 : static_cast<int64_t>(impl->element_size()));
  }
  return true;
}

void TensorIterator::compute_device(const TensorIteratorConfig& config) {
  // Tensors with dimensions decide; a 0-dim CPU tensor joins any device as an input.
  const Tensor* decisive = nullptr;
  for (int i = 0; i < count_; ++i) {
    const Tensor& tensor = operands_[i].source();
    if (!tensor.defined()) continue;
    const bool joins = i >= outputs_ && tensor.dim() == 0 && tensor.is_cpu();
    if (decisive == nullptr || (!joins && decisive->dim() == 0 && decisive->is_cpu())) decisive = &tensor;
  }
  TORCH_INTERNAL_ASSERT(decisive != nullptr, "an iterator needs a defined operand");
  device_ = decisive->device();
  if (!config.check_devices_) return;
  for (int i = 0; i < count_; ++i) {
    const Tensor& tensor = operands_[i].source();
    if (!tensor.defined() || tensor.device() == device_) continue;
    const bool joins = i >= outputs_ && tensor.dim() == 0 && tensor.is_cpu();
    TORCH_CHECK(joins, "Expected all tensors to be on the same device, but found at least two devices, ", device_,
                " and ", tensor.device(), "!");
    operands_[i].is_cpu_scalar = true;
  }
}

void TensorIterator::compute_dtypes(const TensorIteratorConfig& config) {
  if (config.leave_dtypes_) {
    for (int i = 0; i < count_; ++i) operands_[i].dtype = operands_[i].source().dtype();
    common_dtype_ = operands_[outputs_ < count_ ? outputs_ : 0].dtype;
    return;
  }
  if (config.compute_dtype_) {
    common_dtype_ = *config.compute_dtype_;
  } else {
    detail::PromotionState state;
    for (int i = outputs_; i < count_; ++i) {
      if (!operands_[i].fixed) state.add(*operands_[i].input);
    }
    common_dtype_ = state.result();
  }
  if (config.integers_to_float_ && !c10::is_floating_or_complex_type(common_dtype_))
    common_dtype_ = c10::get_default_dtype();
  promoted_ = common_dtype_;
  common_dtype_ = c10::computing_type(promoted_);
  for (int i = 0; i < count_; ++i) {
    Operand& operand = operands_[i];
    if (i >= outputs_) {
      operand.dtype = operand.fixed ? operand.input->dtype() : common_dtype_;
      continue;
    }
    operand.new_dtype = config.sources_[i].dtype.value_or(promoted_);
    operand.dtype = c10::computing_type(operand.new_dtype);
    const Tensor& given = *operand.output;
    TORCH_CHECK(!given.defined() || !config.check_output_cast_ || c10::can_cast(operand.new_dtype, given.dtype()),
                "result type ", operand.new_dtype, " can't be cast to the desired output type ", given.dtype());
  }
}

void TensorIterator::compute_shape(const TensorIteratorConfig& config) {
  // shape_ counts from the slow end here; permute() turns it round.
  bool first = true;
  for (int i = outputs_; i < count_; ++i) {
    const IntArrayRef sizes = operands_[i].input->sizes();
    if (first) {
      shape_ = sizes;
    } else if (IntArrayRef(shape_) != sizes) {
      shape_ = broadcast_shapes(shape_, sizes);
    }
    first = false;
  }
  for (int i = 0; i < outputs_; ++i) {
    Operand& operand = operands_[i];
    const Tensor& given = *operand.output;
    if (first) {  // nothing but outputs: they decide
      shape_ = given.sizes();
      first = false;
      continue;
    }
    if (!given.defined()) {
      operand.allocate = true;
      continue;
    }
    if (is_reduction_ || given.sizes() == IntArrayRef(shape_)) continue;
    bool is_input = config.leave_dtypes_;  // copy_ writes into what is there
    for (int j = outputs_; j < count_; ++j) is_input |= operands_[j].input->is_same(given);
    if (is_input) {
      const DimVector common = config.leave_dtypes_ ? broadcast_shapes(given.sizes(), shape_) : shape_;
      TORCH_CHECK(config.leave_dtypes_ && IntArrayRef(common) == given.sizes(), "output with shape ", given.sizes(),
                  " doesn't match the broadcast shape ", IntArrayRef(common));
      shape_ = given.sizes();
    } else {
      operand.resize = true;
    }
  }
  numel_ = 1;
  for (const int64_t size : shape_) numel_ *= size;
}

void TensorIterator::check_overlap() const {
  for (int i = 0; i < outputs_; ++i) {
    const Tensor& out = *operands_[i].output;
    if (!out.defined()) continue;
    assert_no_internal_overlap(out);
    for (int j = outputs_; j < count_; ++j) assert_no_partial_overlap(out, *operands_[j].input);
  }
}

void TensorIterator::convert_rows_of(Operand& operand, ScalarType memory_dtype) {
  operand.memory_dtype = memory_dtype;
  converts_rows_ = true;
}

// A 0-dim operand in host memory: no tensor is worth its allocation.
void TensorIterator::set_number(int index, const TensorIteratorConfig& config) {
  Operand& operand = operands_[index];
  Scalar number = detail::load_scalar(operand.input->data_ptr(), operand.input->dtype());
  if (config.round_numbers_ && promoted_ != operand.dtype) {
    detail::store_scalar(inline_scalars_[index].bytes, promoted_, number);
    number = detail::load_scalar(inline_scalars_[index].bytes, promoted_);
  }
  detail::store_scalar(inline_scalars_[index].bytes, operand.dtype, number);
  operand.is_inline = true;
  operand.is_cpu_scalar = true;
}

void TensorIterator::cast_inputs(const TensorIteratorConfig& config) {
  for (int i = outputs_; i < count_; ++i) {
    Operand& operand = operands_[i];
    const Tensor& given = *operand.input;
    const bool in_memory = given.is_cpu() && given.numel() == 1 && given.dim() == 0;
    if (given.dtype() == operand.dtype) {
      operand.is_cpu_scalar |= in_memory && device_.is_cpu();
      continue;
    }
    if (in_memory) {
      set_number(i, config);
    } else if (device_.is_cpu() ||  // reductions read through ReducePlan, which converts, too
               is_widened_by_kernels(device_, given.dtype(), operand.dtype)) {
      convert_rows_of(operand, given.dtype());
    } else {
      operand.temporary = detail::to_dtype(given, operand.dtype);
    }
  }
}

void TensorIterator::compute_strides() {
  const size_t ndim = shape_.size();
  for (int i = 0; i < count_; ++i) {
    Operand& operand = operands_[i];
    operand.strides.resize(ndim, 0);
    if (operand.allocate || operand.resize || operand.is_inline) continue;  // outputs: make_outputs()
    const Tensor& source = operand.temporary.defined() ? operand.temporary : operand.source();
    const IntArrayRef sizes = source.sizes();
    const int64_t bytes = static_cast<int64_t>(source.element_size());
    const size_t offset = ndim - sizes.size();
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      operand.strides[offset + dim] = sizes[dim] == 1 && shape_[offset + dim] != 1 ? 0 : source.strides()[dim] * bytes;
    }
  }
}

// By the strides of the outputs that exist, then of the inputs.
DimVector TensorIterator::order_dimensions() const {
  return at::order_dimensions(shape_.size(), [&](int64_t a, int64_t b) {
    for (int i = 0; i < count_; ++i) {
      const Operand& operand = operands_[i];
      if (operand.allocate || operand.resize || (is_reduction_ && i < outputs_)) continue;
      const int64_t stride_a = operand.strides[a];
      const int64_t stride_b = operand.strides[b];
      if (stride_a == 0 || stride_b == 0) continue;
      if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
      if (shape_[a] > shape_[b]) return 1;
    }
    return 0;
  });
}

// The strides of results: what all operands agree upon, where they do, even in dimensions of size 1; else the order of
// dimensions. A transposed sum stays transposed.
DimVector TensorIterator::result_strides(const DimVector& order) const {
  const auto all_inputs = [&](const auto& holds) {
    for (int i = outputs_; i < count_; ++i) {
      const Tensor& input = *operands_[i].input;
      if (input.sizes() != IntArrayRef(shape_) || !holds(input)) return false;
    }
    return outputs_ < count_;
  };
  for (const MemoryFormat format :
       {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    if (all_inputs([&](const Tensor& input) { return input.is_contiguous(format); }))
      return c10::strides_in(format, shape_);
  }
  const Tensor* first = outputs_ < count_ ? operands_[outputs_].input : nullptr;
  if (all_inputs([&](const Tensor& input) {
        return input.strides() == first->strides() && input.is_non_overlapping_and_dense();
      })) {
    return first->strides();
  }
  return strides_in_order(shape_, order);
}

void TensorIterator::make_outputs(const DimVector& order) {
  for (int i = 0; i < outputs_; ++i) {
    Operand& operand = operands_[i];
    Tensor& out = *operand.output;
    if (operand.allocate) {
      out = detail::empty_strided(shape_, result_strides(order), operand.new_dtype, device_);
    } else if (operand.resize) {
      detail::resize_output(out, shape_);
      // Without gaps either way: the same storage holds it.
      out.impl()->set_sizes_and_strides(shape_, result_strides(order), out.storage_offset());
    }
    const bool is_widened = outputs_ < count_ && is_widened_by_kernels(device_, out.dtype(), operand.dtype);
    if (out.dtype() != operand.dtype && (can_convert_rows() || is_widened)) {
      convert_rows_of(operand, out.dtype());
    } else if (out.dtype() != operand.dtype) {
      operand.temporary = out.is_non_overlapping_and_dense()
                              ? detail::empty_strided(out.sizes(), out.strides(), operand.dtype, device_)
                              : detail::empty(out.sizes(), operand.dtype, device_);
      needs_finish_ = true;
    }
    const Tensor& written = operand.temporary.defined() ? operand.temporary : out;
    const int64_t bytes = static_cast<int64_t>(written.element_size());
    for (size_t dim = 0; dim < shape_.size(); ++dim) {
      operand.strides[dim] = written.strides()[dim] * bytes;
    }
  }
}

void TensorIterator::permute(const DimVector& order) {
  if (order.size() < 2) return;
  const auto permute = [&](DimVector& values) {
    const DimVector before(values);
    for (size_t i = 0; i < order.size(); ++i) values[i] = before[order[i]];
  };
  permute(shape_);
  for (int i = 0; i < count_; ++i) permute(operands_[i].strides);
}

void TensorIterator::coalesce() {
  // Dimension `next` continues `last` when stepping over all of `last` is one step of `next`, for every operand.
  size_t last = 0;
  const size_t ndim = shape_.size();
  if (ndim == 0) return;
  const auto merges = [&](size_t next) {
    if (shape_[last] == 1 || shape_[next] == 1) return true;
    for (int i = 0; i < count_; ++i) {
      if (operands_[i].strides[last] * shape_[last] != operands_[i].strides[next]) return false;
    }
    return true;
  };
  const auto take_strides = [&](size_t from) {
    for (int i = 0; i < count_; ++i) operands_[i].strides[last] = operands_[i].strides[from];
  };
  for (size_t next = 1; next < ndim; ++next) {
    if (merges(next)) {
      if (shape_[last] == 1) take_strides(next);
      shape_[last] *= shape_[next];
    } else {
      ++last;
      shape_[last] = shape_[next];
      take_strides(next);
    }
  }
  size_t kept = last + 1;
  if (kept == 1 && shape_[0] == 1) kept = 0;  // one element: no dimension at all
  shape_.resize(kept);
  for (int i = 0; i < count_; ++i) operands_[i].strides.resize(kept);
}

void TensorIterator::finish() {
  for (int i = 0; i < outputs_; ++i) {
    const Operand& operand = operands_[i];
    if (operand.temporary.defined() && operand.temporary.dtype() != operand.output->dtype()) {
      detail::copy_into(operand.target.defined() ? operand.target : *operand.output, operand.temporary);
    }
  }
}

}  // namespace at
