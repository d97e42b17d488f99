#include <torch/csrc/autograd/dispatch.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>

namespace torch::autograd::dispatch {

namespace detail {
std::atomic<int64_t> users{0};
}

namespace {
std::atomic<Handler> handler{nullptr};
}

void count_user(int change) { detail::users.fetch_add(change, std::memory_order_relaxed); }
void set_handler(Handler wanted) { handler.store(wanted); }

bool ask(const char* name, std::initializer_list<Argument> arguments, std::initializer_list<Result> results) {
  const Handler answer = handler.load();
  if (!answer) return false;
  return answer(name, Arguments(arguments.begin(), arguments.size()), Results(results.begin(), results.size()));
}

bool ask_to_write(const char* name, std::initializer_list<Argument> arguments,
                  std::initializer_list<const at::Tensor*> written) {
  c10::DimVector versions;
  for (const at::Tensor* tensor : written) versions.push_back(tensor->_version());
  if (!ask(name, arguments, {})) return false;
  // A mode that called the operator itself has counted already.
  const int64_t* before = versions.data();
  for (const at::Tensor* tensor : written) {
    if (tensor->_version() == *before++) tensor->impl()->bump_version();
  }
  return true;
}

bool is_wrapper(const at::Tensor& tensor) {
  return tensor.defined() && tensor.impl()->sparse() && tensor.layout() == c10::kStrided;
}

at::Tensor make_wrapper(at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storage_offset, c10::ScalarType dtype,
                        c10::Device device) {
  at::Tensor tensor(c10::make_intrusive<c10::TensorImpl>(c10::Storage(), dtype, device));
  tensor.impl()->set_sparse(c10::SparseParts{c10::kStrided, nullptr, nullptr, nullptr, false}, sizes);
  tensor.impl()->set_sizes_and_strides(sizes, strides, storage_offset);
  return tensor;
}

at::Tensor detached(const at::Tensor& tensor, bool share_version) {
  if (C10_UNLIKELY(in_use())) {
    at::Tensor result;
    if (ask("detach", {tensor}, {result})) return result;
  }
  return at::Tensor(tensor.impl()->shallow_copy(share_version));
}

}  // namespace torch::autograd::dispatch
