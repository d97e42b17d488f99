#pragma once
// Numbers as if they had been integers of few bits: what fake_quantize and its gradient share.

#include <aten/Tensor.h>

namespace at::native {

// `parameter` (one number for each channel) as a tensor that broadcasts over dimension `axis` of `self`.
Tensor along_axis(const Tensor& self, const Tensor& parameter, int64_t axis);

// Whether each number's integer, before it is clamped, lies between quant_min and quant_max.
Tensor is_within_levels(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t quant_min,
                        int64_t quant_max);
Tensor is_within_levels(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max);

}  // namespace at::native
