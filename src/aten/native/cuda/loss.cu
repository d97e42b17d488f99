// The negative log likelihood of class indices, one thread per sample. A target outside [0, classes) stops the device
// with an assertion: an exception cannot be thrown from there.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cuda/Launch.cuh>

#include <cassert>

namespace at::native::cuda {

namespace {

// What both directions read. `factor` is null when all classes weigh 1.
template <typename T>
struct Labels {
  const int64_t* label;
  const T* factor;
  int64_t classes;
  int64_t ignore_index;

  // The class of a sample, or -1 when it does not count.
  __device__ int64_t wanted(int64_t sample) const {
    const int64_t result = label[sample];
    if (result == ignore_index) return -1;
    assert(result >= 0 && result < classes && "target out of bounds");
    return result;
  }
  __device__ T weight(int64_t wanted) const { return factor ? factor[wanted] : T{1}; }
};

template <typename T>
Labels<T> labels_of(const Tensor& target, const Tensor& weight, int64_t classes, int64_t ignore_index) {
  return {target.data_ptr<int64_t>(), weight.defined() ? weight.data_ptr<T>() : nullptr, classes, ignore_index};
}

template <typename T>
void forward(T* loss, T* counted, const T* scores, Labels<T> labels, int64_t samples) {
  for_each_index(samples, [=] __device__(int64_t sample) {
    const int64_t wanted = labels.wanted(sample);
    const T weight = wanted < 0 ? T{0} : labels.weight(wanted);
    loss[sample] = wanted < 0 ? T{0} : -scores[sample * labels.classes + wanted] * weight;
    counted[sample] = weight;
  });
}

template <typename T>
void backward(T* grad_input, const T* grad, Labels<T> labels, int64_t samples) {
  for_each_index(samples, [=] __device__(int64_t sample) {
    const int64_t wanted = labels.wanted(sample);
    if (wanted >= 0) grad_input[sample * labels.classes + wanted] = -grad[sample] * labels.weight(wanted);
  });
}

Tensor packed(const Tensor& tensor) { return tensor.defined() ? tensor.contiguous() : tensor; }

}  // namespace

void nll_loss_kernel(const Tensor& losses, const Tensor& weights, const Tensor& self, const Tensor& target,
                     const Tensor& weight, int64_t ignore_index) {
  const Tensor scores = packed(self);
  const Tensor labels = packed(target);
  const Tensor factors = packed(weight);
  dispatch_floating_types(scores.dtype(), "nll_loss", [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward<T>(losses.data_ptr<T>(), weights.data_ptr<T>(), scores.data_ptr<T>(),
               labels_of<T>(labels, factors, scores.sizes()[1], ignore_index), scores.sizes()[0]);
  });
}

// `grad_input` comes filled with zeros.
void nll_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_losses, const Tensor& target,
                              const Tensor& weight, int64_t ignore_index) {
  const Tensor grads = packed(grad_losses);
  const Tensor labels = packed(target);
  const Tensor factors = packed(weight);
  dispatch_floating_types(grad_input.dtype(), "nll_loss_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    backward<T>(grad_input.data_ptr<T>(), grads.data_ptr<T>(),
                labels_of<T>(labels, factors, grad_input.sizes()[1], ignore_index), grad_input.sizes()[0]);
  });
}

}  // namespace at::native::cuda
