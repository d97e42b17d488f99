// Attention.

#include <aten/ATen.h>
#include <aten/NativeFunctions.h>

#include <cmath>
#include <limits>

namespace at::native {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                                    double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
  TORCH_CHECK(!is_causal || !attn_mask.defined(), "Explicit attn_mask should not be set when is_causal=True");
  TORCH_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, "scaled_dot_product_attention: Expected query, key, and value ",
              "to all be  at least 2 dimensional, but got query.dim(): ", query.dim(), ", key.dim(): ", key.dim(), " and value.dim(): ",
              value.dim(), " instead.");
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
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
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
