// The negative log likelihood of class indices, one thread per sample, and margins between several classes, a block per
// sample. A target outside [0, classes) stops the device with an assertion: an exception cannot be thrown from there.

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
  int64_t places;  // of each class's scores
  int64_t ignore_index;

  // Where the score of a sample's class is.
  __device__ int64_t place(int64_t sample, int64_t wanted) const {
    return places == 1 ? sample * classes + wanted : (sample / places * classes + wanted) * places + sample % places;
  }
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
Labels<T> labels_of(const Tensor& target, const Tensor& weight, const Tensor& scores, int64_t ignore_index) {
  return {target.data_ptr<int64_t>(), weight.defined() ? weight.data_ptr<T>() : nullptr, scores.sizes()[1],
          scores.dim() == 3 ? scores.sizes()[2] : 1, ignore_index};
}

template <typename T>
void forward(T* loss, T* counted, const T* scores, Labels<T> labels, int64_t samples) {
  for_each_index(samples, [=] __device__(int64_t sample) {
    const int64_t wanted = labels.wanted(sample);
    const T weight = wanted < 0 ? T{0} : labels.weight(wanted);
    loss[sample] = wanted < 0 ? T{0} : -scores[labels.place(sample, wanted)] * weight;
    if (counted) counted[sample] = weight;
  });
}

template <typename T>
void backward(T* grad_input, const T* grad, Labels<T> labels, int64_t samples) {
  for_each_index(samples, [=] __device__(int64_t sample) {
    const int64_t wanted = labels.wanted(sample);
    if (wanted >= 0) grad_input[labels.place(sample, wanted)] = -grad[sample] * labels.weight(wanted);
  });
}

// Losses of margins, or, with their gradients, how the scores move them. `named` [rows, classes] is all 0.
template <typename T>
__global__ void __launch_bounds__(kThreads) margins_of_rows(T* losses, T* grad_input, const T* grads, const T* scores,
                                                            const int64_t* targets, uint8_t* named, int64_t rows,
                                                            int64_t classes) {
  __shared__ T shared[kWarp];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* score = scores + row * classes;
    const int64_t* target = targets + row * classes;
    uint8_t* is_named = named + row * classes;
    int64_t count = 0;  // of targets
    for (; count < classes && target[count] >= 0; ++count) {
      assert(target[count] < classes && "target out of bounds");
      if (threadIdx.x == 0) is_named[target[count]] = 1;
    }
    __syncthreads();
    T sum{0};
    const T share = losses ? T{0} : grads[row] / static_cast<T>(classes);
    for (int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
      int64_t reached = 0;
      if (!is_named[i]) {
        for (int64_t j = 0; j < count; ++j) {
          const T margin = T{1} - score[target[j]] + score[i];
          if (!(margin > T{0})) continue;
          sum += margin;
          ++reached;
        }
      } else if (!losses) {
        int64_t times = 0;
        for (int64_t j = 0; j < count; ++j) times += target[j] == i ? 1 : 0;
        for (int64_t k = 0; k < classes; ++k)
          if (!is_named[k] && T{1} - score[i] + score[k] > T{0}) reached -= times;
      }
      if (!losses) grad_input[row * classes + i] = static_cast<T>(reached) * share;
    }
    if (!losses) continue;  // the same for all threads
    sum = block_reduce(sum, T{0}, [](T a, T b) { return a + b; }, shared);
    if (threadIdx.x == 0) losses[row] = sum / static_cast<T>(classes);
  }
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
    forward<T>(losses.data_ptr<T>(), weights.defined() ? weights.data_ptr<T>() : nullptr, scores.data_ptr<T>(),
               labels_of<T>(labels, factors, scores, ignore_index), labels.numel());
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
                labels_of<T>(labels, factors, grad_input, ignore_index), labels.numel());
  });
}

void multilabel_margin_loss_kernel(const Tensor& losses, const Tensor& self, const Tensor& target) {
  const Tensor named = at::zeros(self.sizes(), self.options().dtype(kByte));
  dispatch_floating_types(self.dtype(), "multilabel_margin_loss_forward_kernel", [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(margins_of_rows<T>, grid_of_rows(self.sizes()[0]), kThreads, losses.data_ptr<T>(), nullptr, nullptr,
           self.data_ptr<T>(), target.data_ptr<int64_t>(), named.data_ptr<uint8_t>(), self.sizes()[0], self.sizes()[1]);
  });
}

void multilabel_margin_loss_backward_kernel(const Tensor& grad_input, const Tensor& grad_losses, const Tensor& self,
                                            const Tensor& target) {
  const Tensor named = at::zeros(self.sizes(), self.options().dtype(kByte));
  dispatch_floating_types(self.dtype(), "multilabel_margin_loss_backward_kernel", [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(margins_of_rows<T>, grid_of_rows(self.sizes()[0]), kThreads, nullptr, grad_input.data_ptr<T>(),
           grad_losses.data_ptr<T>(), self.data_ptr<T>(), target.data_ptr<int64_t>(), named.data_ptr<uint8_t>(),
           self.sizes()[0], self.sizes()[1]);
  });
}

}  // namespace at::native::cuda
