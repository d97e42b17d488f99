// Steps of optimizers on the CPU, in one pass over a parameter: each says whether it was taken; else nothing happened,
// and the caller computes with other operators.

#include <aten/NativeFunctions.h>
#include <aten/Tensor.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>
#include <aten/native/cpu/OptimizerSteps.h>

#include <cmath>
#include <initializer_list>

namespace at::native {

namespace {

// Whether all lie alike in the CPU's memory, without gaps, and no operator on them is recorded or shown to someone.
// Halves are rounded once in a pass, and after each operator without it: only who asks for that has it.
bool is_one_pass(std::initializer_list<const Tensor*> tensors, bool rounds_once) {
  const Tensor& self = **tensors.begin();
  const ScalarType computed = c10::computing_type(self.dtype());
  if (is_dispatched() || (!rounds_once && computed != self.dtype()) || (computed != kFloat && computed != kDouble))
    return false;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    if (!tensor->is_cpu() || tensor->is_sparse() || tensor->dtype() != self.dtype() ||
        tensor->sizes() != self.sizes() || tensor->strides() != self.strides() || is_differentiated(*tensor))
      return false;
  }
  return self.is_non_overlapping_and_dense();
}

void count_writes(std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) {
    if (tensor->defined()) tensor->impl()->bump_version();
  }
}

}  // namespace

bool _adam_step(const Tensor& self, const Tensor& grad, const Tensor& mean, const Tensor& square, const Tensor& largest,
                double lr, double beta1, double beta2, double eps, double decay, bool decoupled, bool maximize,
                double step, bool rounds_once) {
  if (!is_one_pass({&self, &grad, &mean, &square, &largest}, rounds_once)) return false;
  cpu::take_adam_step(self, grad, mean, square, largest,
                      {decoupled ? 1 - lr * decay : 1, decoupled ? 0 : decay, maximize},
                      {1 - beta1, beta2, eps, -(lr / (1 - std::pow(beta1, step))),
                       std::pow(1 - std::pow(beta2, step), 0.5)});
  count_writes({&self, &mean, &square, &largest});
  return true;
}

bool _sgd_step(const Tensor& self, const Tensor& grad, const Tensor& velocity, double lr, double momentum,
               double dampening, bool nesterov, double decay, bool maximize, bool rounds_once) {
  if (!is_one_pass({&self, &grad, &velocity}, rounds_once)) return false;
  cpu::take_sgd_step(self, grad, velocity, {1, decay, maximize}, {-lr, momentum, 1 - dampening, nesterov});
  count_writes({&self, &velocity});
  return true;
}

}  // namespace at::native
