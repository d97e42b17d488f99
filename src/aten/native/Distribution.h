#pragma once
// Which distribution a kernel draws from.

namespace at::native {

enum class Distribution { exponential, geometric, log_normal, cauchy, poisson, binomial, gamma };

}  // namespace at::native
