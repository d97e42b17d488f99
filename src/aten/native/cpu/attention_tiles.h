#pragma once
// Attention of bfloat16 by tiles (bfloat16_tiles.h): weights of values are rounded to bfloat16, sums are float32.

#include <aten/Tensor.h>

namespace at::native::cpu {

// Whether there are tiles, and they are made for it.
bool attends_by_tiles(const Tensor& query, const Tensor& key, const Tensor& value);

// As attention_kernel (attention_kernels.cpp); the mask, if there is one, is float32.
void attend_by_tiles(const Tensor& out, const Tensor& logsumexp, const Tensor& query, const Tensor& key,
                     const Tensor& value, const Tensor& mask, bool is_causal, float scale);

}  // namespace at::native::cpu
