// softsum._softsum: forward and backward of a function of tensors, made of libtorch's operators.
#include <torch/extension.h>

#include <vector>

// The sum of log(1 + exp(values)), a scalar, and what backward needs: the sigmoid of the values.
std::vector<at::Tensor> forward(const at::Tensor& values) {
  TORCH_CHECK_VALUE(values.dim() == 1, "softsum: expected a vector, got ", values.dim(), " dimensions");
  TORCH_CHECK_TYPE(values.is_floating_point(), "softsum: expected floating point numbers, got ",
                   values.scalar_type());
  const at::Tensor slope = at::sigmoid(values);
  return {at::sum(at::log(at::add(at::exp(values), 1.0))), slope};
}

at::Tensor backward(const at::Tensor& grad, const at::Tensor& slope) { return grad * slope; }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("forward", &forward, "The sum and its slope.", py::arg("values"));
  module.def("backward", &backward, "The gradient of values.", py::arg("grad"), py::arg("slope"));
}
