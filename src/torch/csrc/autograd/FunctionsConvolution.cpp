// Gradients of convolutions. The gradient of one with respect to its input is the transposed one of the result's
// gradient, and the other way round.

#include <torch/csrc/autograd/FunctionsManual.h>

#include <aten/ATen.h>

namespace torch::autograd {

namespace {

int64_t of(IntArrayRef values, int64_t dim) { return values[values.size() == 1 ? 0 : static_cast<size_t>(dim)]; }

}  // namespace

Tensor convolution_input_backward(const Tensor& grad, const Tensor& weight, IntArrayRef input_sizes,
                                  IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                  int64_t groups) {
  std::vector<int64_t> extra;
  for (int64_t dim = 0; dim < weight.dim() - 2; ++dim) {
    if (transposed) {
      extra.push_back(0);
    } else {  // the elements at the end that no window reached
      const int64_t reached = (grad.size(dim + 2) - 1) * of(stride, dim) - 2 * of(padding, dim) +
                              of(dilation, dim) * (weight.size(dim + 2) - 1) + 1;
      extra.push_back(input_sizes[static_cast<size_t>(dim) + 2] - reached);
    }
  }
  Tensor result = at::convolution(grad, weight, Tensor(), stride, padding, dilation, !transposed, extra, groups);
  // An output padding of a whole stride (dilation allows it) gives windows that the input does not have.
  for (int64_t dim = 2; dim < result.dim(); ++dim) {
    const int64_t size = input_sizes[static_cast<size_t>(dim)];
    if (result.size(dim) > size) result = result.narrow(dim, 0, size);
  }
  return result;
}

Tensor convolution_weight_backward(const Tensor& grad, const Tensor& input, IntArrayRef weight_sizes,
                                   IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                   int64_t groups) {
  const Tensor& windows = transposed ? input : grad;
  const Tensor& image = transposed ? grad : input;
  return at::_convolution_weight_gradient(windows, image, weight_sizes, stride, padding, dilation, groups);
}

Tensor convolution_bias_backward(const Tensor& grad) {
  std::vector<int64_t> dims{0};
  for (int64_t dim = 2; dim < grad.dim(); ++dim) dims.push_back(dim);
  return grad.sum(dims);
}

}  // namespace torch::autograd
