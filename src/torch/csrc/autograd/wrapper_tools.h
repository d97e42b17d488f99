#pragma once
// What the generated functions of namespace at are made of.

#include <torch/csrc/autograd/forward_mode.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>

namespace torch::autograd {

inline bool is_tracked(const at::Tensor& tensor) { return tensor.defined() && tensor.impl()->is_tracked(); }
inline bool is_tracked(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (is_tracked(tensor)) return true;
  }
  return false;
}

// Whether an operation on these inputs is to be recorded for backward, or followed forward.
template <typename... Inputs>
inline bool any_tracked(const Inputs&... inputs) {
  return (is_tracked(inputs) || ...) && is_tracking();
}

inline bool has_sparse(const at::Tensor& tensor) {
  return tensor.defined() && C10_UNLIKELY(tensor.impl()->sparse() != nullptr) && tensor.layout() != c10::kStrided;
}
inline bool has_sparse(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (has_sparse(tensor)) return true;
  }
  return false;
}
inline bool has_sparse(const at::TensorOptions& options) { return options.layout() != c10::kStrided; }

// Whether the function for sparse tensors is asked for: one of the inputs is sparse, or the result is to be.
template <typename... Inputs>
inline bool any_sparse(const Inputs&... inputs) {
  return (has_sparse(inputs) || ...);
}

// "SparseCPU", "SparseCsrCPU"; empty for what is not sparse.
TORCH_API std::string sparse_backend(const at::Tensor& tensor);
TORCH_API std::string sparse_backend(at::TensorList tensors);
TORCH_API std::string sparse_backend(const at::TensorOptions& options);
[[noreturn]] TORCH_API void throw_not_for_sparse(const char* name, const std::string& backend);

// Throws NotImplementedError, as PyTorch does for an operator that sparse tensors have not.
template <typename... Inputs>
[[noreturn]] C10_NOINLINE void refuse_sparse(const char* name, const Inputs&... inputs) {
  std::string backend;
  ((backend = backend.empty() ? sparse_backend(inputs) : backend), ...);
  throw_not_for_sparse(name, backend);
}

// What a function made of others returns: a view, if the last of them made one, but of a tensor that nobody else has.
// To the program it is a tensor like any other: it may be detached in place, and has no `_base`.
TORCH_API at::Tensor as_result(at::Tensor result);
template <typename... Results>
std::tuple<Results...> as_result(std::tuple<Results...> results) {
  return std::apply([](auto&... each) { return std::make_tuple(as_result(std::move(each))...); }, results);
}

inline c10::Device device_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.device() : c10::Device(c10::kCPU);
}

TORCH_API std::vector<std::vector<int64_t>> sizes_of(at::TensorList tensors);

// Throws Error if an input is tracked: an out= function writes where backward and tangents could not follow.
TORCH_API void check_out(const char* name, at::TensorList inputs);
template <typename... Inputs>
inline void check_out(const char* name, const Inputs&... inputs) {
  if (C10_LIKELY(!any_tracked(inputs...))) return;
  (check_out(name, at::TensorList(inputs)), ...);
}
// Makes `out` hold `result`: in its own dtype, if that can hold `result`'s, and with the shape of `result`.
TORCH_API void write_out(at::Tensor& out, const at::Tensor& result);
// `self`, which gets the values of `result` with its history: what a function gives, written over its first argument.
TORCH_API at::Tensor& write_in_place(at::Tensor& self, const at::Tensor& result);
// What to compute that result from: a copy of `self` where operators are recorded that may keep it.
TORCH_API at::Tensor before_write(const at::Tensor& self, bool is_recorded);
// What a factory makes that has to fill `out`: dtype and device are those of `out`,
// and must not be asked for otherwise.
TORCH_API at::TensorOptions options_for_out(const at::TensorOptions& options, const at::Tensor& out);
// Throws Error if `self` is tracked: an in-place function without a formula would leave a wrong history.
TORCH_API void check_no_formula(const char* name, const at::Tensor& self);

}  // namespace torch::autograd
