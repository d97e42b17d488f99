#pragma once
// What the generated functions of namespace at are made of.

#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

inline bool needs_gradient(const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); }
inline bool needs_gradient(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (needs_gradient(tensor)) return true;
  }
  return false;
}

// Whether an operation on these inputs is to be recorded.
template <typename... Inputs>
inline bool any_requires_grad(const Inputs&... inputs) {
  return (needs_gradient(inputs) || ...) && c10::GradMode::is_enabled();
}

inline void append_edges(edge_list& edges, const at::Tensor& tensor) {
  edges.push_back(gradient_edge(tensor));
}
inline void append_edges(edge_list& edges, at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) append_edges(edges, tensor);
}

// One edge per tensor, in order.
template <typename... Inputs>
inline edge_list collect_next_edges(const Inputs&... inputs) {
  edge_list edges;
  edges.reserve(sizeof...(inputs));
  (append_edges(edges, inputs), ...);
  return edges;
}

inline c10::Device device_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.device() : c10::Device(c10::kCPU);
}

TORCH_API std::vector<std::vector<int64_t>> sizes_of(at::TensorList tensors);

// Throws Error: an out= function writes where backward could not follow.
TORCH_API void check_out(const char* name, bool requires_grad);
// Makes `out` hold `result`: in its own dtype, if that can hold `result`'s, and with the shape of `result`.
TORCH_API void write_out(at::Tensor& out, const at::Tensor& result);
// `self`, which gets the values of `result` with its history: what a function gives, written over its first argument.
TORCH_API at::Tensor& write_in_place(at::Tensor& self, const at::Tensor& result);
// What to compute that result from: a copy of `self` where operators are recorded that may keep it.
TORCH_API at::Tensor before_write(const at::Tensor& self, bool is_recorded);
// What a factory makes that has to fill `out`: dtype and device are those of `out`, and must not be asked for otherwise.
TORCH_API at::TensorOptions options_for_out(const at::TensorOptions& options, const at::Tensor& out);
// Throws Error: an in-place function without a formula would leave a wrong history.
TORCH_API void check_no_formula(const char* name, bool requires_grad);

}  // namespace torch::autograd
