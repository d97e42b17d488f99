#include <torch/csrc/autograd/wrapper_tools.h>

#include <aten/ATen.h>
#include <aten/EmptyTensor.h>
#include <aten/TensorIterator.h>
#include <aten/native/Sparse.h>

namespace torch::autograd {

at::Tensor as_result(at::Tensor result) {
  AutogradMeta* meta = result.defined() ? find_meta(result) : nullptr;
  if (meta == nullptr || meta->view == nullptr) return result;
  const ViewInfo& view = *meta->view;
  const AutogradMeta* base = find_meta(view.base);
  // A history that is made anew when the base is written, or tangents that lie with the base, need it.
  const bool is_needed = view.version != result._version() || view.creation == ViewCreation::CustomFunction ||
                         view.has_own_tangents || view.tangent_base.defined() || (base && base->tangents) ||
                         (meta->grad_fn == nullptr && view.base.requires_grad());
  if (!is_needed && view.base.impl()->use_count() == 1) meta->view.reset();
  return result;
}

std::vector<std::vector<int64_t>> sizes_of(at::TensorList tensors) {
  std::vector<std::vector<int64_t>> sizes;
  sizes.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) sizes.push_back(tensor.sizes().vec());
  return sizes;
}

void check_out(const char* name, at::TensorList inputs) {
  if (!any_tracked(inputs)) return;
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK(
        !c10::GradMode::is_enabled() || !input.defined() || !input.requires_grad(), name,
        "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.");
  }
  TORCH_CHECK_NOT_IMPLEMENTED(!moves(inputs), "Trying to use forward AD with ", name,
                              "_out that does not support it because it is an out= function");
}

std::string sparse_backend(const at::Tensor& tensor) {
  if (!has_sparse(tensor)) return {};
  return c10::detail::concatenate(tensor.is_sparse() ? "Sparse" : "SparseCsr",
                                  c10::device_type_name(tensor.device_type(), true));
}

std::string sparse_backend(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (has_sparse(tensor)) return sparse_backend(tensor);
  }
  return {};
}

std::string sparse_backend(const at::TensorOptions& options) {
  if (!has_sparse(options)) return {};
  return c10::detail::concatenate(options.layout() == c10::kSparse ? "Sparse" : "SparseCsr",
                                  c10::device_type_name(options.device().type(), true));
}

void throw_not_for_sparse(const char* name, const std::string& backend) {
  throw c10::NotImplementedError(
      c10::detail::concatenate("Could not run 'aten::", name, "' with arguments from the '", backend,
                               "' backend: sparse tensors have no such operator. Call it with "
                               "x.to_dense(), or on the values alone."));
}

void write_out(at::Tensor& out, const at::Tensor& result) {
  if (has_sparse(out) || has_sparse(result)) {
    at::native::write_sparse(out, result);
    return;
  }
  TORCH_CHECK(out.device() == result.device(), "Expected out tensor to be on device ", result.device(),
              ", but got a tensor on ", out.device());
  TORCH_CHECK(c10::can_cast(result.dtype(), out.dtype()), "result type ", result.dtype(),
              " can't be cast to the desired output type ", out.dtype());
  at::detail::resize_output(out, result.sizes());
  at::assert_no_internal_overlap(out);
  at::detail::copy_into(out, result);
}

at::Tensor& write_in_place(at::Tensor& self, const at::Tensor& result) {
  TORCH_CHECK(c10::can_cast(result.dtype(), self.dtype()), "result type ", result.dtype(),
              " can't be cast to the desired output type ", self.dtype());
  TORCH_CHECK(self.sizes() == result.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", result.sizes());
  return self.copy_(result);
}

at::Tensor before_write(const at::Tensor& self, bool is_recorded) { return is_recorded ? at::clone(self) : self; }

at::TensorOptions options_for_out(const at::TensorOptions& options, const at::Tensor& out) {
  TORCH_CHECK(!options.dtype_opt || *options.dtype_opt == out.dtype(), "dtype ", options.dtype(),
              " does not match dtype of out parameter (", out.dtype(), ")");
  TORCH_CHECK(!options.device_opt || options.device_opt->type() == out.device_type(), "device ", options.device(),
              " does not match device of out parameter (", out.device(), ")");
  return at::TensorOptions(out.dtype()).device(out.device());
}

void check_no_formula(const char* name, const at::Tensor& self) {
  if (C10_LIKELY(!any_tracked(self))) return;
  TORCH_CHECK(!c10::GradMode::is_enabled() || !self.requires_grad(), name,
              "(): has no gradient, so it cannot be used in place on a tensor that requires grad; use ",
              "the function without the trailing underscore");
  TORCH_CHECK_NOT_IMPLEMENTED(!moves(self), "Trying to use forward AD with ", name,
                              " that does not support it because it has not been implemented yet");
}

}  // namespace torch::autograd
