// The negative log likelihood of class indices, one thread per sample. A target outside [0, classes) traps with a
// message from the device, as an exception cannot be thrown from there.

#include <aten/ATen.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Dispatch.cuh>
#include <aten/native/cuda/Launch.cuh>

#include <cassert>

namespace at::native::cuda {

void nll_loss_kernel(const Tensor& losses, const Tensor& weights, const Tensor& self, const Tensor& target, const Tensor& weight,
                     int64_t ignore_index) {
  const Tensor in = self.contiguous();
  const Tensor labels = target.contiguous();
  const Tensor class_weights = weight.defined() ? weight.contiguous() : Tensor();
  const int64_t classes = in.sizes()[1];
  dispatch_floating(in.dtype(), "nll_loss", [&](auto zero) {
    using scalar_t = decltype(zero);
    const scalar_t* scores = in.data_ptr<scalar_t>();
    const int64_t* label = labels.data_ptr<int64_t>();
    const scalar_t* class_weight = class_weights.defined() ? class_weights.data_ptr<scalar_t>() : nullptr;
    scalar_t* loss = losses.data_ptr<scalar_t>();
    scalar_t* counted = weights.data_ptr<scalar_t>();
    for_each_index(in.sizes()[0], [=] __device__(int64_t sample) {
      const int64_t wanted = label[sample];
      if (wanted == ignore_index) {
        loss[sample] = 0;
        counted[sample] = 0;
        return;
      }
      assert(wanted >= 0 && wanted < classes);
      const scalar_t factor = class_weight ? class_weight[wanted] : scalar_t{1};
      loss[sample] = -scores[sample * classes + wanted] * factor;
      counted[sample] = factor;
    });
  });
}

void nll_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_losses, const Tensor& target, const Tensor& weight,
                              int64_t ignore_index) {
  const Tensor grads = grad_losses.contiguous();
  const Tensor labels = target.contiguous();
  const Tensor class_weights = weight.defined() ? weight.contiguous() : Tensor();
  const int64_t classes = grad_input.sizes()[1];
  Tensor(grad_input).zero_();
  dispatch_floating(grad_input.dtype(), "nll_loss_backward", [&](auto zero) {
    using scalar_t = decltype(zero);
    scalar_t* out = grad_input.data_ptr<scalar_t>();
    const int64_t* label = labels.data_ptr<int64_t>();
    const scalar_t* class_weight = class_weights.defined() ? class_weights.data_ptr<scalar_t>() : nullptr;
    const scalar_t* grad = grads.data_ptr<scalar_t>();
    for_each_index(grad_input.sizes()[0], [=] __device__(int64_t sample) {
      const int64_t wanted = label[sample];
      if (wanted == ignore_index) return;
      assert(wanted >= 0 && wanted < classes);
      out[sample * classes + wanted] = -grad[sample] * (class_weight ? class_weight[wanted] : scalar_t{1});
    });
  });
}

}  // namespace at::native::cuda
