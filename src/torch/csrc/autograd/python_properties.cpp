// Properties of tensors: x.shape, x.grad, x.requires_grad = True.

#include <torch/csrc/autograd/python_engine.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/types.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/overrides.h>

#include <aten/ATen.h>

#include <iterator>
#include <string>

namespace torch::python {

namespace {

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return new_size(unpack(self).sizes()); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return new_dtype(unpack(self).dtype()); });
}
PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return new_device(unpack(self).device()); });
}
PyObject* get_layout(PyObject* self, void*) { return new_layout(unpack(self).layout()); }
PyObject* get_is_sparse(PyObject* self, void*) { return new_bool(unpack(self).is_sparse()); }
PyObject* get_is_sparse_csr(PyObject* self, void*) { return new_bool(unpack(self).is_sparse_csr()); }
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLongLong(unpack(self).dim()); }
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(unpack(self).element_size()); }
PyObject* get_nbytes(PyObject* self, void*) {
  return guarded([&] {
    TORCH_CHECK(unpack(self).layout() == c10::kStrided,
                "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
                "tensors, add the nbytes of the indices and values.  If you want the size of the  equivalent dense "
                "tensor, multiply numel() by element_size()");
    return PyLong_FromSize_t(unpack(self).nbytes());
  });
}
PyObject* get_is_cpu(PyObject* self, void*) { return new_bool(unpack(self).is_cpu()); }
PyObject* get_is_cuda(PyObject* self, void*) { return new_bool(unpack(self).is_cuda()); }
PyObject* get_is_meta(PyObject* self, void*) { return new_bool(unpack(self).is_meta()); }
PyObject* get_false(PyObject*, void*) { return new_bool(false); }
PyObject* get_version(PyObject* self, void*) {
  return guarded([&] {
    TORCH_CHECK(!unpack(self).impl()->is_inference(), "Inference tensors do not track version counter.");
    return PyLong_FromUnsignedLong(unpack(self)._version());
  });
}
PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded([&] { return new_bool(unpack(self).is_leaf()); });
}
PyObject* get_requires_grad(PyObject* self, void*) { return new_bool(unpack(self).requires_grad()); }
PyObject* get_retains_grad(PyObject* self, void*) {
  return guarded([&] { return new_bool(unpack(self).retains_grad()); });
}
PyObject* get_output_nr(PyObject* self, void*) {
  return guarded([&] { return PyLong_FromLongLong(unpack(self).output_nr()); });
}
PyObject* get_base(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const at::Tensor& tensor = unpack(self);
    return tensor.is_view() ? wrap(tensor._base()) : new_none();
  });
}
PyObject* get_grad(PyObject* self, void*) {
  return guarded([&] { return wrap(unpack(self).grad()); });
}
PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded([&] { return wrap_node(unpack(self).grad_fn()); });
}
PyObject* get_data(PyObject* self, void*) {
  return guarded([&] { return wrap(unpack(self).variable_data()); });
}

PyObject* get_transposed(PyObject* self, void*) {
  return guarded([&] {
    const at::Tensor& tensor = unpack(self);
    at::DimVector order;
    for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) order.push_back(dim);
    return wrap(at::permute(tensor, order));
  });
}

PyObject* get_matrix_transposed(PyObject* self, void*) {
  return guarded([&] {
    const at::Tensor& tensor = unpack(self);
    if (tensor.dim() < 2) {
      raise(PyExc_RuntimeError, "tensor.mT is only supported on matrices or batches of matrices. Got " +
                                    std::to_string(tensor.dim()) + "-D tensor.");
    }
    return wrap(at::transpose(tensor, -2, -1));
  });
}

PyObject* get_real(PyObject* self, void*) {
  return guarded([&] { return wrap(at::real(unpack(self))); });
}
PyObject* get_imag(PyObject* self, void*) {
  return guarded([&] { return wrap(at::imag(unpack(self))); });
}
template <at::Tensor (*part)(const at::Tensor&)>
int set_part(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> int {
    if (!value) raise(PyExc_RuntimeError, "a part of a tensor cannot be deleted");
    at::Tensor target = part(unpack(self));
    if (is_tensor(value)) target.copy_(unpack(value));
    else target.fill_(to_scalar(value));
    return 0;
  });
}

PyObject* get_adjoint(PyObject* self, void*) {
  return guarded([&] {
    const at::Tensor& tensor = unpack(self);
    if (tensor.dim() == 0) return wrap(at::conj(tensor));
    if (tensor.dim() < 2) {
      raise(PyExc_RuntimeError, "tensor.mH is only supported on matrices or batches of matrices. Got " +
                                    std::to_string(tensor.dim()) + "-D tensor.");
    }
    return wrap(at::adjoint(tensor));
  });
}
PyObject* get_matrix_adjoint(PyObject* self, void*) {
  return guarded([&] {
    const at::Tensor& tensor = unpack(self);
    if (tensor.dim() != 2 && tensor.dim() != 0) {
      raise(PyExc_RuntimeError,
            "tensor.H is only supported on matrices (2-D tensors). Got " + std::to_string(tensor.dim()) + "-D tensor." +
                (tensor.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : ""));
    }
    return wrap(at::adjoint(tensor));
  });
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> int {
    if (!value || !PyBool_Check(value)) raise(PyExc_RuntimeError, "requires_grad must be a bool");
    const at::Tensor& tensor = unpack(self);
    if (!tensor.is_leaf()) {
      const std::string advice = " If you want to use a computed variable in a subgraph that doesn't require "
                                 "differentiation use var_no_grad = var.detach().";
      raise(PyExc_RuntimeError, "you can only change requires_grad flags of leaf variables." +
                                    (value == Py_False ? advice : std::string()));
    }
    if (value == Py_True && !c10::is_floating_or_complex_type(tensor.dtype())) {
      raise(PyExc_RuntimeError, "only Tensors of floating point and complex dtype can require gradients");
    }
    tensor.requires_grad_(value == Py_True);
    return 0;
  });
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> int {
    const at::Tensor& tensor = unpack(self);
    if (!value || value == Py_None) {
      tensor.set_grad(at::Tensor());
      return 0;
    }
    if (!is_tensor(value)) {
      raise(PyExc_TypeError, "assigned grad expected to be a Tensor or None but got type " + type_name(value));
    }
    const at::Tensor& grad = unpack(value);
    if (value == self) raise(PyExc_RuntimeError, "can't assign Variable as its own grad");
    if (grad.dtype() != tensor.dtype() || grad.device() != tensor.device()) {
      raise(PyExc_RuntimeError, std::string("assigned grad has data of a different type: expected ") +
                                    c10::dtype_name(tensor.dtype()) + " on " + tensor.device().str() + ", got " +
                                    c10::dtype_name(grad.dtype()) + " on " + grad.device().str());
    }
    if (grad.sizes() != tensor.sizes()) {
      raise(PyExc_RuntimeError, "assigned grad has data of a different size");
    }
    tensor.set_grad(grad);
    return 0;
  });
}

int set_data(PyObject* self, PyObject* value, void*) {
  return guarded([&]() -> int {
    if (!value || !is_tensor(value)) raise(PyExc_TypeError, "Variable data has to be a tensor");
    TORCH_CHECK(unpack(self).layout() == unpack(value).layout(),
                "Attempted to call `variable.set_data(tensor)`, but `variable` and "
                "`tensor` have incompatible tensor type.");
    unpack(self).impl()->shallow_assign(*unpack(value).impl());
    return 0;
  });
}

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "The sizes of the dimensions, a torch.Size.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "Where the tensor lives.", nullptr},
    {"layout", get_layout, nullptr, "torch.strided, or one of the sparse layouts.", nullptr},
    {"ndim", get_ndim, nullptr, "How many dimensions there are.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"T", get_transposed, nullptr, "A view with the dimensions in reverse order.", nullptr},
    {"mT", get_matrix_transposed, nullptr, "A view with the last two dimensions swapped.", nullptr},
    {"H", get_matrix_adjoint, nullptr, "The conjugate of a matrix, transposed.", nullptr},
    {"mH", get_adjoint, nullptr, "The conjugate, with the last two dimensions swapped.", nullptr},
    {"real", get_real, set_part<at::real>, "The real parts: a view; a real tensor's are itself.", nullptr},
    {"imag", get_imag, set_part<at::imag>, "The imaginary parts of a complex tensor: a view.", nullptr},
    {"is_cpu", get_is_cpu, nullptr, nullptr, nullptr},
    {"is_cuda", get_is_cuda, nullptr, nullptr, nullptr},
    {"is_meta", get_is_meta, nullptr, nullptr, nullptr},
    {"is_sparse", get_is_sparse, nullptr, "Whether the layout is torch.sparse_coo.", nullptr},
    {"is_sparse_csr", get_is_sparse_csr, nullptr, "Whether the layout is torch.sparse_csr.", nullptr},
    {"is_quantized", get_false, nullptr, "False: there are no quantized tensors.", nullptr},
    {"is_nested", get_false, nullptr, "False: there are no nested tensors.", nullptr},
    {"is_mkldnn", get_false, nullptr, "False: there are no tensors in a layout of MKL-DNN.", nullptr},
    {"is_ipu", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_maia", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_mps", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_mtia", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_vulkan", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_xla", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_xpu", get_false, nullptr, "False: there are no such devices here.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether it has no history: made by the user, or without requires_grad.",
     nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether operations on it are recorded.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "Whether retain_grad() was called on a tensor with history.", nullptr},
    {"output_nr", get_output_nr, nullptr, "Which result of its grad_fn it is.", nullptr},
    {"grad", get_grad, set_grad, "The gradient that backward() accumulated, or None.", nullptr},
    {"_grad", get_grad, set_grad, nullptr, nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The node of the graph that made it, or None.", nullptr},
    {"data", get_data, set_data, "The same memory without history.", nullptr},
    {"_version", get_version, nullptr, "How often it was written in place.", nullptr},
    {"_base", get_base, nullptr, "The tensor it is a view of, or None.", nullptr},
};

// What the type has: the property above, which `closure` points to, unless the value's class answers for it.
PyObject* get_property(PyObject* self, void* closure) {
  const auto* property = static_cast<const PyGetSetDef*>(closure);
  if (!is_overridden(self)) return property->get(self, nullptr);
  return guarded([&] { return call_property_override(property->name, self, nullptr, false); });
}

int set_property(PyObject* self, PyObject* value, void* closure) {
  const auto* property = static_cast<const PyGetSetDef*>(closure);
  if (!is_overridden(self)) return property->set(self, value, nullptr);
  return guarded([&]() -> int {
    const Object answer = Object::steal(call_property_override(property->name, self, value, true));
    return 0;
  });
}

}  // namespace

PyGetSetDef* tensor_properties() {
  static PyGetSetDef table[std::size(properties) + 2] = {};
  PyGetSetDef* row = table;
  *row++ = {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr};
  for (PyGetSetDef& property : properties) {
    *row++ = {property.name, get_property, property.set ? set_property : nullptr, property.doc, &property};
  }
  return table;
}

}  // namespace torch::python
