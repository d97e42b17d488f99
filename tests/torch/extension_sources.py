"""The extension that test_cpp_extension.py compiles: one function for each thing that crosses the border."""

from __future__ import annotations

CONVERSIONS = """
#include <stdexcept>
#include <tuple>

at::Tensor twice(const at::Tensor& x) { return x * 2; }
at::Tensor same(at::Tensor x) { return x; }
at::Tensor undefined() { return at::Tensor(); }
std::optional<at::Tensor> maybe(std::optional<at::Tensor> x) { return x; }
at::Tensor last(at::ArrayRef<at::Tensor> tensors) { return tensors[tensors.size() - 1]; }
std::vector<at::Tensor> swapped(std::vector<at::Tensor> x) { return {x.at(1), x.at(0)}; }
std::tuple<at::Tensor, int64_t> with_size(at::Tensor x) { return {x, x.numel()}; }
at::Tensor filled(at::IntArrayRef size, at::Scalar value, at::ScalarType dtype, at::Device device) {
  return at::full(size, value, at::TensorOptions().dtype(dtype).device(device));
}
std::vector<int64_t> list_of(at::IntArrayRef numbers) { return numbers.vec(); }
at::IntArrayRef sizes(const at::Tensor& x) { return x.sizes(); }
at::ScalarType dtype_of(const at::Tensor& x) { return x.scalar_type(); }
std::optional<at::ScalarType> maybe_dtype(std::optional<at::ScalarType> dtype) { return dtype; }
at::Device device_of(const at::Tensor& x) { return x.device(); }
at::Scalar scalar(at::Scalar value) { return value; }
void add_one(at::Tensor x) { x.add_(1); }

void fail(const std::string& kind) {
  if (kind == "error") TORCH_CHECK(false, "it is an error");
  if (kind == "index") TORCH_CHECK_INDEX(false, "it is an index");
  if (kind == "value") TORCH_CHECK_VALUE(false, "it is a value");
  if (kind == "type") TORCH_CHECK_TYPE(false, "it is a type");
  if (kind == "not implemented") TORCH_CHECK_NOT_IMPLEMENTED(false, "it is to do");
  if (kind == "out of range") throw std::out_of_range("pybind11's own");
  if (kind == "std") throw std::runtime_error("of the library");
  if (kind == "python") throw py::key_error("of Python");
}
void backward(const at::Tensor& x) { x.backward(); }
int64_t c_api(py::object object) {
  if (!THPVariable_Check(object.ptr())) throw py::type_error("no tensor");
  return THPVariable_Unpack(object.ptr()).numel();
}
bool gil_is_released() {
  py::gil_scoped_release release;
  // Results and temporaries of operators need no GIL.
  const at::Tensor x = at::ones({3}) + 1;
  return x.sum().item<double>() == 6.0 && !PyGILState_Check();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("twice", &twice, "Twice x.", py::arg("x"));
  m.def("same", &same);
  m.def("undefined", &undefined);
  m.def("maybe", &maybe, py::arg("x") = py::none());
  m.def("last", &last);
  m.def("swapped", &swapped);
  m.def("with_size", &with_size);
  m.def("filled", &filled, py::arg("size"), py::arg("value"), py::arg("dtype") = at::kFloat,
        py::arg("device") = at::Device(at::kCPU));
  m.def("list_of", &list_of);
  m.def("sizes", &sizes);
  m.def("dtype_of", &dtype_of);
  m.def("maybe_dtype", &maybe_dtype);
  m.def("device_of", &device_of);
  m.def("scalar", &scalar);
  m.def("add_one", &add_one);
  m.def("fail", &fail);
  m.def("backward", &backward, py::call_guard<py::gil_scoped_release>());
  m.def("c_api", &c_api);
  m.def("gil_is_released", &gil_is_released);
}
"""

GATE = """
#include <torch/extension.h>

// A gated linear cell, forward and backward, for a torch.autograd.Function in Python.
std::vector<at::Tensor> forward(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) {
  const at::Tensor z = at::addmm(bias, input, weight.t());
  const at::Tensor gate = at::sigmoid(z);
  return {z * gate, z, gate};
}
std::vector<at::Tensor> backward(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight,
                                 const at::Tensor& z, const at::Tensor& gate) {
  TORCH_CHECK(grad.sizes() == z.sizes(), "grad and output differ in size");
  const at::Tensor slope = grad * (gate + z * gate * (1 - gate));
  return {slope.mm(weight), slope.t().mm(input), slope.sum(0)};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
  m.def("backward", &backward);
}
"""
