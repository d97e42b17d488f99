// Attention.

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/native/RunKernel.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

double factor_of(std::optional<double> scale, const Tensor& query) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.sizes().back())));
}

// A tensor whose last dimension lies together: what kernels read.
Tensor with_rows(const Tensor& tensor) {
  return tensor.sizes().back() == 1 || tensor.strides().back() == 1 ? tensor : tensor.contiguous();
}

// Laid out as heads that were projected together: [batch, length, heads, features].
Tensor empty_heads(const Tensor& like, int64_t length, int64_t features) {
  return at::detail::empty({like.sizes()[0], length, like.sizes()[1], features}, like.options()).transpose(1, 2);
}

// The addend of each score, one row for each query, in the type that is computed in; undefined if there is none.
Tensor expanded_mask(const Tensor& mask, const Tensor& query, const Tensor& key) {
  if (!mask.defined()) return mask;
  const Tensor wide = at::detail::to_dtype(mask, query.dtype() == kDouble ? kDouble : kFloat);
  const IntArrayRef sizes = wide.sizes();
  const int64_t keys = key.sizes()[2];
  const Tensor rows = sizes[3] == keys ? with_rows(wide)
                                       : native::expand(wide, {sizes[0], sizes[1], sizes[2], keys}, false).contiguous();
  return native::expand(rows, {query.sizes()[0], query.sizes()[1], query.sizes()[2], keys}, false);
}

// A GPU's tensor cores multiply 16 bits as they are, and a processor's tiles the scores of bfloat16; else they are
// computed in float32.
template <size_t Written, typename Table, typename... Args>
void run_attention(const Table& kernels, bool in_half, c10::Device device, const Args&... args) {
  if (device.is_cuda() || in_half) run_kernel(kernels, device, args...);
  else run_kernel_in_float32<Written>(kernels, device, args...);
}

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p) {
  for (const Tensor* operand : {&query, &key, &value}) {
    TORCH_CHECK(operand->dim() == 4 && operand->dtype() == query.dtype() && operand->device() == query.device() &&
                    operand->sizes()[0] == query.sizes()[0] && operand->sizes()[1] == query.sizes()[1],
                "scaled_dot_product_attention_flash_attention: Accept only 4 dims inputs shape of {B, H, T, K} of one "
                "dtype, but got ",
                query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  }
  TORCH_CHECK(is_floating_type(query.dtype()),
              "scaled_dot_product_attention_flash_attention: Expected data type in FP32, FP64, BF16, FP16, but got ",
              query.dtype(), " instead.");
  TORCH_CHECK(dropout_p == 0, "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0");
  TORCH_CHECK(key.sizes()[2] == value.sizes()[2] && key.sizes()[3] == query.sizes()[3],
              "scaled_dot_product_attention_flash_attention: Q/K/V should have the same head size, and keys as many "
              "rows as values, but got ",
              query.sizes(), ", ", key.sizes(), " and ", value.sizes());
}

// Whether the heads that share a head of key and value may be more rows of one head: they see the same keys.
bool shares_heads_as_rows(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                          bool is_causal) {
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4 || is_causal || query.numel() == 0) return false;
  if (key.size(1) == 0 || key.size(1) != value.size(1) || query.size(1) % key.size(1) != 0) return false;
  if (!mask.defined()) return true;
  return mask.dim() >= 2 && mask.dim() <= 4 && mask.size(-2) == 1 && (mask.dim() == 2 || mask.size(-3) == 1);
}

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu(const Tensor& query, const Tensor& key,
                                                                       const Tensor& value, double dropout_p,
                                                                       bool is_causal, const Tensor& attn_mask,
                                                                       std::optional<double> scale) {
  check_operands(query, key, value, dropout_p);
  // Laid out as the query is.
  const Tensor output =
      query.strides()[1] < query.strides()[2] && query.sizes()[3] == value.sizes()[3]
          ? empty_heads(query, query.sizes()[2], value.sizes()[3])
          : at::detail::empty({query.sizes()[0], query.sizes()[1], query.sizes()[2], value.sizes()[3]},
                              query.options());
  const Tensor logsumexp = at::detail::empty({query.sizes()[0], query.sizes()[1], query.sizes()[2]},
                                             query.dtype() == kDouble ? kDouble : kFloat, query.device());
  if (output.numel() > 0) {
    run_attention<1>(attention_kernels, query.dtype() == kBFloat16, query.device(), output, logsumexp,
                     with_rows(query), with_rows(key), with_rows(value), expanded_mask(attn_mask, query, key),
                     is_causal, factor_of(scale, query));
  }
  return {output, logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& out,
    const Tensor& logsumexp, double dropout_p, bool is_causal, const Tensor& attn_mask, std::optional<double> scale) {
  check_operands(query, key, value, dropout_p);
  const Tensor grad_query = empty_heads(query, query.sizes()[2], query.sizes()[3]);
  const Tensor grad_key = empty_heads(key, key.sizes()[2], key.sizes()[3]);
  const Tensor grad_value = empty_heads(value, value.sizes()[2], value.sizes()[3]);
  if (query.numel() == 0 || value.numel() == 0) {
    for (const Tensor* gradient : {&grad_query, &grad_key, &grad_value}) gradient->zero_();
  } else {
    run_attention<3>(attention_backward_kernels, false, query.device(), grad_query, grad_key, grad_value,
                     with_rows(grad_out), with_rows(query), with_rows(key), with_rows(value), with_rows(out), logsumexp,
                     expanded_mask(attn_mask, query, key), is_causal, factor_of(scale, query));
  }
  return {grad_query, grad_key, grad_value};
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  TORCH_CHECK(!is_causal || !attn_mask.defined(), "Explicit attn_mask should not be set when is_causal=True");
  TORCH_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
              "scaled_dot_product_attention: Expected query, key, and value ",
              "to all be  at least 2 dimensional, but got query.dim(): ", query.dim(), ", key.dim(): ", key.dim(),
              " and value.dim(): ", value.dim(), " instead.");
  if (enable_gqa && shares_heads_as_rows(query, key, value, attn_mask, is_causal)) {
    const DimVector shape{query.size(0), key.size(1), query.size(1) / key.size(1) * query.size(2), query.size(3)};
    const Tensor result = at::scaled_dot_product_attention(query.reshape(shape), key, value, attn_mask, dropout_p,
                                                           /*is_causal=*/false, scale);
    return result.reshape({query.size(0), query.size(1), query.size(2), value.size(3)});
  }
  Tensor keys = key;
  Tensor values = value;
  if (enable_gqa) {  // groups of heads of the query share a head of key and value
    TORCH_CHECK(query.dim() >= 3 && query.size(-3) % key.size(-3) == 0 && query.size(-3) % value.size(-3) == 0,
                "Number of heads in key and value must divide the number of heads in query");
    const auto repeated = [&](const Tensor& heads) {
      const int64_t times = query.size(-3) / heads.size(-3);
      std::vector<int64_t> shape = heads.unsqueeze(-3).sizes().vec();
      shape[shape.size() - 3] = times;
      return heads.unsqueeze(-3).expand(shape).flatten(-4, -3);
    };
    keys = repeated(key);
    values = repeated(value);
  }
  // By kernels of its own, which on CUDA answer to the CPU's name, too: heads of floating numbers, without dropout or a
  // gradient of the mask.
  const bool is_plain =
      query.dim() == 4 && (query.is_cpu() || query.is_cuda()) && is_floating_type(query.dtype()) && dropout_p == 0 &&
      query.dtype() == keys.dtype() && query.dtype() == values.dtype() && keys.dim() == 4 && values.dim() == 4 &&
      query.numel() > 0 && keys.numel() > 0 && values.numel() > 0 &&
      query.sizes().slice(0, 2) == keys.sizes().slice(0, 2) &&
      query.sizes().slice(0, 2) == values.sizes().slice(0, 2) && keys.size(2) == values.size(2) &&
      query.size(3) == keys.size(3) &&
      (!attn_mask.defined() || (attn_mask.dim() >= 2 && attn_mask.dim() <= 4 && !attn_mask.requires_grad()));
  if (is_plain) {
    Tensor addend = attn_mask;
    if (addend.defined()) {
      if (addend.dtype() == kBool) {
        addend = at::masked_fill(at::zeros(addend.sizes(), query.options()), at::logical_not(addend),
                                 Scalar(-std::numeric_limits<double>::infinity()));
      }
      addend = addend.to(query.dtype());
      while (addend.dim() < 4) addend = addend.unsqueeze(0);
    }
    return std::get<0>(
        at::_scaled_dot_product_flash_attention_for_cpu(query, keys, values, 0, is_causal, addend, scale));
  }
  // Scores that are rounded to 16 bits are most of the error. A GPU's batches of heads are left in their type, in which
  // its products are many times faster.
  if (c10::is_reduced_floating_type(query.dtype()) && query.dtype() == keys.dtype() &&
      query.dtype() == values.dtype() && (query.is_cpu() || query.dim() != 4)) {
    return at::scaled_dot_product_attention(query.to(kFloat), keys.to(kFloat), values.to(kFloat), attn_mask, dropout_p,
                                            is_causal, scale)
        .to(query.dtype());
  }
  const double factor = factor_of(scale, query);
  Tensor scores = at::matmul(at::mul(query, Scalar(factor)), keys.transpose(-2, -1));
  Tensor mask = attn_mask;
  if (is_causal) mask = at::tril(at::ones({query.size(-2), keys.size(-2)}, query.options().dtype(kBool)));
  if (mask.defined()) {
    scores = mask.dtype() == kBool
                 ? at::masked_fill(scores, at::logical_not(mask), Scalar(-std::numeric_limits<double>::infinity()))
                 : at::add(scores, mask);
  }
  const Tensor weights = at::softmax(scores, -1);
  return at::matmul(dropout_p > 0 ? at::dropout(weights, dropout_p, true) : weights, values);
}

}  // namespace at::native
