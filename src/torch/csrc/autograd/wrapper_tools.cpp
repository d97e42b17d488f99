#include <torch/csrc/autograd/wrapper_tools.h>

namespace torch::autograd {

std::vector<std::vector<int64_t>> sizes_of(at::TensorList tensors) {
  std::vector<std::vector<int64_t>> sizes;
  sizes.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) sizes.push_back(tensor.sizes().vec());
  return sizes;
}

void check_out(const char* name, bool requires_grad) {
  TORCH_CHECK(!requires_grad, name,
              "(): functions with out=... arguments don't support automatic differentiation, but one of the "
              "arguments "
              "requires grad.");
}

void check_no_formula(const char* name, bool requires_grad) {
  TORCH_CHECK(!requires_grad, name,
              "(): has no gradient, so it cannot be used in place on a tensor that requires grad; use ",
              "the function without the trailing underscore");
}

}  // namespace torch::autograd
