// Gradients of bags of rows.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>
#include <aten/native/EmbeddingBag.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <torch/csrc/autograd/dispatch.h>

namespace torch::autograd {

using at::native::BagMode;
using at::native::is_differentiated;

namespace {

// Gradients are added up in float32 where they have 16 bits.
Tensor widened(const Tensor& tensor) {
  return c10::is_reduced_floating_type(tensor.dtype()) ? tensor.to(at::kFloat) : tensor;
}

// The gradient of each row that was looked up, of sums and means; recorded.
Tensor gradients_of_rows(const Tensor& grad, const Tensor& indices, const Tensor& owners, const Tensor& sizes,
                         int64_t rows, bool scale_grad_by_freq, BagMode mode, const Tensor& factors) {
  Tensor result = widened(grad).index_select(0, owners);
  if (mode == BagMode::mean) {
    const Tensor counted = sizes.to(at::kLong).clamp_min(1).index_select(0, owners);
    result = result.div(counted.to(result.dtype()).unsqueeze(1));
  }
  if (factors.defined()) result = result.mul(factors.unsqueeze(1));
  if (scale_grad_by_freq) {
    const Tensor counts = at::bincount(indices, {}, rows).index_select(0, indices);
    result = result.div(counts.to(result.dtype()).unsqueeze(1));
  }
  return result.to(grad.dtype());
}

}  // namespace

Tensor embedding_backward(const Tensor& grad, const Tensor& indices, IntArrayRef weight_sizes, int64_t padding_idx,
                          bool sparse) {
  if (sparse) return embedding_sparse_backward(grad, indices, weight_sizes, padding_idx);
  const Tensor rows = indices.reshape({-1});
  Tensor values = grad.reshape({-1, weight_sizes[1]});
  const bool is_padded = padding_idx >= 0;
  const bool is_batch = dispatch::is_wrapper(grad);  // which has no views to write into
  if (is_padded && is_batch) values = values.masked_fill(rows.eq(padding_idx).unsqueeze(1), 0);
  const Tensor result = index_select_backward(values, weight_sizes, 0, rows);
  if (is_padded && !is_batch) result.select(0, padding_idx).zero_();
  return result;
}

Tensor embedding_bag_backward(const Tensor& grad, IntArrayRef weight_sizes, const Tensor& indices,
                              const Tensor& offsets, const Tensor& sizes, const Tensor& rows, bool scale_grad_by_freq,
                              int64_t number, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
                              int64_t padding_idx) {
  const auto mode = static_cast<BagMode>(number);
  if (mode == BagMode::max) {
    const Tensor counted = grad.masked_fill(sizes.eq(0).unsqueeze(1), 0);
    return zeros_beside(grad, weight_sizes).scatter_add(0, rows.to(at::kLong), counted);
  }
  const bool is_recorded =
      is_differentiated(grad) || (per_sample_weights.defined() && is_differentiated(per_sample_weights));
  const bool is_plain = !is_recorded && !sparse && !scale_grad_by_freq && !at::native::is_dispatched();
  if (is_plain && at::native::has_bag_kernels(grad, per_sample_weights)) {
    const Tensor places = indices.to(at::kLong).contiguous();
    const auto bags = at::native::bags_of(places, offsets, include_last_offset, padding_idx);
    Tensor result = zeros_beside(grad, weight_sizes);
    at::native::cpu::add_bags_gradient(result, grad.contiguous(), bags,
                                       per_sample_weights.defined() ? per_sample_weights.contiguous() : Tensor(),
                                       mode == BagMode::mean);
    return result;
  }
  const Tensor owners = at::native::owners_of_bags(indices, offsets, include_last_offset);
  Tensor values = gradients_of_rows(grad, indices, owners, sizes, weight_sizes[0], scale_grad_by_freq, mode,
                                    per_sample_weights);
  if (sparse) return embedding_sparse_backward(values, indices, weight_sizes, padding_idx);
  if (padding_idx >= 0) values = values.masked_fill(indices.eq(padding_idx).unsqueeze(1), 0);
  return zeros_beside(grad, weight_sizes).index_add(0, indices, values);
}

Tensor embedding_bag_factors_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                      const Tensor& offsets, bool include_last_offset, int64_t padding_idx) {
  const Tensor owners = at::native::owners_of_bags(indices, offsets, include_last_offset);
  const Tensor products = widened(grad).index_select(0, owners).mul(weight.index_select(0, indices));
  const Tensor result = products.sum(IntArrayRef{1});
  return padding_idx < 0 ? result : result.masked_fill(indices.eq(padding_idx), 0);
}

}  // namespace torch::autograd
