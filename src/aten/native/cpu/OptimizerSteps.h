#pragma once
// Steps of optimizers in one pass over tensors that lie alike, without gaps. float32 and float64 are rounded as if each
// operator were called; halves are computed in float32 and rounded once.

#include <aten/Tensor.h>

namespace at::native::cpu {

// What is done before: the parameter times `shrink`, and to the gradient, or less it, `decay` times the parameter.
struct StepBeginning {
  double shrink, decay;
  bool maximize;
};
struct AdamNumbers {
  double share, beta2, eps, scale, root;  // `share` of the gradient in its mean; `root` of the bias correction
};
struct SgdNumbers {
  double scale, momentum, share;
  bool nesterov;
};

// Elements of the operands, whole vectors of them.
struct StepPart {
  static constexpr size_t kOperands = 5;
  void* operands[kOperands];
  int64_t count;
  ScalarType dtype;
};

// `largest` and `velocity` may be undefined.
void take_adam_step(const Tensor& self, const Tensor& grad, const Tensor& mean, const Tensor& square,
                    const Tensor& largest, const StepBeginning& beginning, const AdamNumbers& numbers);
void take_sgd_step(const Tensor& self, const Tensor& grad, const Tensor& velocity, const StepBeginning& beginning,
                   const SgdNumbers& numbers);

}  // namespace at::native::cpu
