#pragma once
// Attention in 16 bits without scores in memory, by tensor cores.

#include <aten/ATen.h>

namespace at::native::cuda {

// Whether operands (4 dimensions, features lie together) are such that these kernels take them: float16 or bfloat16,
// with at most 128 features, a multiple of 8 of them.
bool takes_flash_attention(const Tensor& query, const Tensor& value);

// As the kernel `attention`, and its gradient. `mask`: float32, as large as the scores; or undefined.
void flash_attention(const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                     const Tensor& value, const Tensor& mask, bool is_causal, double scale);
void flash_attention_backward(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                              const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& out, const Tensor& logsumexp, const Tensor& mask, bool is_causal,
                              double scale);

}  // namespace at::native::cuda
