#pragma once
// pybind11 knows torch's types: what a function bound with it may take and return.
//
//   C++                    Python, taken                            Python, returned
//   at::Tensor             torch.Tensor                             the same object, if the tensor has one
//   at::ScalarType         torch.dtype; float, int, bool            torch.dtype
//   at::Device             torch.device                             torch.device
//   at::Scalar             a number, a 0-dim tensor                 int, float, bool
//   at::IntArrayRef        a tuple or list of ints                  tuple
//   at::ArrayRef<Tensor>   a tuple or list of tensors               list
//
// std::optional<T> takes None, too; std::vector and std::tuple of them work as pybind11/stl.h says. An undefined tensor
// is None when it is returned. Other types are a TypeError of pybind11's. Errors of torch are Python exceptions of
// their kind: TORCH_CHECK raises RuntimeError, TORCH_CHECK_INDEX IndexError.

#include <torch/csrc/python_api.h>

#include <aten/ATen.h>

#if !__has_include(<pybind11/pybind11.h>)
#error \
    "torch/extension.h needs pybind11's headers: install pybind11 (`conda install pybind11` or `pip install pybind11`)"
#endif
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace PYBIND11_NAMESPACE {
namespace detail {

template <>
struct type_caster<at::Tensor> {
  PYBIND11_TYPE_CASTER(at::Tensor, const_name("torch.Tensor"));

  bool load(handle source, bool) {
    if (!THPVariable_Check(source.ptr())) return false;
    value = THPVariable_Unpack(source.ptr());
    return true;
  }
  static handle cast(const at::Tensor& tensor, return_value_policy, handle) { return THPVariable_Wrap(tensor); }
};

template <>
struct type_caster<c10::ScalarType> {
  PYBIND11_TYPE_CASTER(c10::ScalarType, const_name("torch.dtype"));

  type_caster() : value(c10::ScalarType::Undefined) {}
  bool load(handle source, bool) { return torch::python::unwrap_dtype(source.ptr(), value); }
  static handle cast(c10::ScalarType dtype, return_value_policy, handle) { return torch::python::wrap_dtype(dtype); }
};

template <>
struct type_caster<c10::Device> {
  PYBIND11_TYPE_CASTER(c10::Device, const_name("torch.device"));

  type_caster() : value(c10::kCPU) {}
  bool load(handle source, bool) { return torch::python::unwrap_device(source.ptr(), value); }
  static handle cast(const c10::Device& device, return_value_policy, handle) {
    return torch::python::wrap_device(device);
  }
};

template <>
struct type_caster<c10::Scalar> {
  PYBIND11_TYPE_CASTER(c10::Scalar, const_name("float | int | bool | torch.Tensor"));

  bool load(handle source, bool) { return torch::python::unwrap_scalar(source.ptr(), value); }
  static handle cast(const c10::Scalar& scalar, return_value_policy, handle) {
    return torch::python::wrap_scalar(scalar);
  }
};

template <>
struct type_caster<c10::IntArrayRef> {
  PYBIND11_TYPE_CASTER(c10::IntArrayRef, const_name("tuple[int, ...]"));

  bool load(handle source, bool) {
    if (!PyTuple_Check(source.ptr()) && !PyList_Check(source.ptr())) return false;
    const auto items = reinterpret_borrow<sequence>(source);
    numbers_.resize(items.size());
    for (size_t index = 0; index < numbers_.size(); ++index) {
      if (!torch::python::unwrap_integer(object(items[index]).ptr(), numbers_[index])) return false;
    }
    value = numbers_;
    return true;
  }
  static handle cast(c10::IntArrayRef numbers, return_value_policy, handle) {
    tuple result(numbers.size());
    for (size_t index = 0; index < numbers.size(); ++index) result[index] = int_(numbers[index]);
    return result.release();
  }

 private:
  std::vector<int64_t> numbers_;  // what `value` refers to, for the call's time
};

template <>
struct type_caster<c10::ArrayRef<at::Tensor>> {
  PYBIND11_TYPE_CASTER(c10::ArrayRef<at::Tensor>, const_name("tuple[torch.Tensor, ...]"));

  bool load(handle source, bool convert) {
    if (!PyTuple_Check(source.ptr()) && !PyList_Check(source.ptr())) return false;
    if (!tensors_.load(source, convert)) return false;
    value = static_cast<std::vector<at::Tensor>&>(tensors_);
    return true;
  }
  static handle cast(c10::ArrayRef<at::Tensor> tensors, return_value_policy policy, handle parent) {
    return list_caster<std::vector<at::Tensor>, at::Tensor>::cast(
        std::vector<at::Tensor>(tensors.begin(), tensors.end()), policy, parent);
  }

 private:
  make_caster<std::vector<at::Tensor>> tensors_;
};

}  // namespace detail
}  // namespace PYBIND11_NAMESPACE

// Hidden, as all of pybind11 is: each extension has its own, and none may be taken for another's.
namespace torch {
namespace python __attribute__((visibility("hidden"))) {

// Runs when the extension's library is loaded, which Python does with the GIL.
inline bool register_exceptions_of_torch() {
  if (!Py_IsInitialized() || !PyGILState_Check()) return false;
  pybind11::register_local_exception_translator([](std::exception_ptr exception) {
    if (exception && !set_exception(exception)) std::rethrow_exception(exception);
  });
  return true;
}
inline const bool has_exceptions_of_torch = register_exceptions_of_torch();

}  // namespace python
}  // namespace torch
