// The operators of Python's syntax: a + b, a == b, -a, bool(a). They skip argument parsing, being most of what programs
// call; anything but tensors and numbers gets NotImplemented, so that the other operand's type may answer.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>

#include <aten/ATen.h>
#include <aten/WrappedScalar.h>

#include <string>

namespace torch::python {

namespace {

bool is_heavy(const at::Tensor& tensor) { return tensor.numel() > 4096 || tensor.is_cuda(); }

using Binary = at::Tensor (*)(const at::Tensor&, const at::Tensor&);
using Unary = at::Tensor (*)(const at::Tensor&);
using InPlace = void (*)(at::Tensor&, const at::Tensor&);

PyObject* compute(Binary operation, const at::Tensor& left, const at::Tensor& right) {
  at::Tensor result;
  {
    const ReleaseGil gil(is_heavy(left) || is_heavy(right));
    result = operation(left, right);
  }
  return wrap(std::move(result));
}

template <Binary operation>
PyObject* binary(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    if (is_tensor(left)) {
      if (is_tensor(right)) return compute(operation, unpack(left), unpack(right));
      if (is_plain_number(right)) {
        return compute(operation, unpack(left), at::wrapped_scalar_tensor(to_scalar(right), unpack(left).device()));
      }
    } else if (is_plain_number(left)) {
      return compute(operation, at::wrapped_scalar_tensor(to_scalar(left), unpack(right).device()), unpack(right));
    }
    Py_RETURN_NOTIMPLEMENTED;
  });
}

template <InPlace operation>
PyObject* in_place(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    at::Tensor& self = unpack_mutable(left);
    if (is_tensor(right)) {
      const ReleaseGil gil(is_heavy(self));
      operation(self, unpack(right));
    } else if (is_plain_number(right)) {
      const at::Tensor number = at::wrapped_scalar_tensor(to_scalar(right), self.device());
      const ReleaseGil gil(is_heavy(self));
      operation(self, number);
    } else {
      Py_RETURN_NOTIMPLEMENTED;
    }
    Py_INCREF(left);
    return left;
  });
}

template <Unary operation>
PyObject* unary(PyObject* object) {
  return guarded([&] {
    const at::Tensor& self = unpack(object);
    at::Tensor result;
    {
      const ReleaseGil gil(is_heavy(self));
      result = operation(self);
    }
    return wrap(std::move(result));
  });
}

#define TORCH_BINARY(name) \
  at::Tensor name(const at::Tensor& left, const at::Tensor& right) { return at::name(left, right); }
#define TORCH_IN_PLACE(name) \
  void name##_(at::Tensor& left, const at::Tensor& right) { left.name##_(right); }
TORCH_BINARY(add)
TORCH_BINARY(sub)
TORCH_BINARY(mul)
TORCH_BINARY(div)
TORCH_BINARY(floor_divide)
TORCH_BINARY(remainder)
TORCH_BINARY(bitwise_and)
TORCH_BINARY(bitwise_or)
TORCH_BINARY(bitwise_xor)
TORCH_BINARY(eq)
TORCH_BINARY(ne)
TORCH_BINARY(lt)
TORCH_BINARY(le)
TORCH_BINARY(gt)
TORCH_BINARY(ge)
TORCH_IN_PLACE(add)
TORCH_IN_PLACE(sub)
TORCH_IN_PLACE(mul)
TORCH_IN_PLACE(div)
TORCH_IN_PLACE(floor_divide)
TORCH_IN_PLACE(remainder)
TORCH_IN_PLACE(bitwise_and)
TORCH_IN_PLACE(bitwise_or)
TORCH_IN_PLACE(bitwise_xor)
#undef TORCH_BINARY
#undef TORCH_IN_PLACE
at::Tensor neg(const at::Tensor& self) { return at::neg(self); }
at::Tensor abs(const at::Tensor& self) { return at::abs(self); }
at::Tensor bitwise_not(const at::Tensor& self) { return at::bitwise_not(self); }

PyObject* matmul(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(left) || !is_tensor(right)) Py_RETURN_NOTIMPLEMENTED;
    at::Tensor result;
    {
      const ReleaseGil gil(is_heavy(unpack(left)) || is_heavy(unpack(right)));
      result = at::matmul(unpack(left), unpack(right));
    }
    return wrap(std::move(result));
  });
}

// A number stays a Scalar here: x ** 2 has kernels of its own.
PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return guarded([&]() -> PyObject* {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (is_tensor(base) && is_tensor(exponent)) return wrap(at::pow(unpack(base), unpack(exponent)));
    if (is_tensor(base) && is_plain_number(exponent)) return wrap(at::pow(unpack(base), to_scalar(exponent)));
    if (is_tensor(exponent) && is_plain_number(base)) return wrap(at::pow(to_scalar(base), unpack(exponent)));
    Py_RETURN_NOTIMPLEMENTED;
  });
}

PyObject* in_place_power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return guarded([&]() -> PyObject* {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (is_tensor(exponent)) {
      unpack_mutable(base).pow_(unpack(exponent));
    } else if (is_plain_number(exponent)) {
      unpack_mutable(base).pow_(to_scalar(exponent));
    } else {
      Py_RETURN_NOTIMPLEMENTED;
    }
    Py_INCREF(base);
    return base;
  });
}

PyObject* positive(PyObject* self) {
  Py_INCREF(self);
  return self;
}

int as_bool(PyObject* self) {
  return guarded([&]() -> int {
    const at::Tensor& tensor = unpack(self);
    if (tensor.numel() == 0) raise(PyExc_RuntimeError, "Boolean value of Tensor with no values is ambiguous");
    if (tensor.numel() > 1) {
      raise(PyExc_RuntimeError, "Boolean value of Tensor with more than one value is ambiguous");
    }
    return tensor.item().toBool() ? 1 : 0;
  });
}

c10::Scalar single_value(PyObject* self) {
  const at::Tensor& tensor = unpack(self);
  if (tensor.numel() != 1) {
    raise(PyExc_RuntimeError, "a Tensor with " + std::to_string(tensor.numel()) +
                                  " elements cannot be converted to Scalar");
  }
  return tensor.item();
}

PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const c10::Scalar value = single_value(self);
    // Python's int() of a float: any size, and its errors for nan and inf.
    if (value.is_floating_point()) return PyLong_FromDouble(value.toDouble());
    return value.is_complex() ? PyLong_FromDouble(value.toDouble()) : from_scalar(value);
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(single_value(self).toDouble()); });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const at::Tensor& tensor = unpack(self);
    if (tensor.numel() != 1 || !c10::is_integral_type(tensor.dtype(), true)) {
      raise(PyExc_TypeError, "only integer tensors of a single element can be converted to an index");
    }
    return PyLong_FromLongLong(tensor.item().toLong());
  });
}

PyNumberMethods make_number_methods() {
  PyNumberMethods methods = {};
  methods.nb_add = binary<add>;
  methods.nb_subtract = binary<sub>;
  methods.nb_multiply = binary<mul>;
  methods.nb_true_divide = binary<div>;
  methods.nb_floor_divide = binary<floor_divide>;
  methods.nb_remainder = binary<remainder>;
  methods.nb_and = binary<bitwise_and>;
  methods.nb_or = binary<bitwise_or>;
  methods.nb_xor = binary<bitwise_xor>;
  methods.nb_power = power;
  methods.nb_matrix_multiply = matmul;
  methods.nb_inplace_add = in_place<add_>;
  methods.nb_inplace_subtract = in_place<sub_>;
  methods.nb_inplace_multiply = in_place<mul_>;
  methods.nb_inplace_true_divide = in_place<div_>;
  methods.nb_inplace_floor_divide = in_place<floor_divide_>;
  methods.nb_inplace_remainder = in_place<remainder_>;
  methods.nb_inplace_and = in_place<bitwise_and_>;
  methods.nb_inplace_or = in_place<bitwise_or_>;
  methods.nb_inplace_xor = in_place<bitwise_xor_>;
  methods.nb_inplace_power = in_place_power;
  methods.nb_negative = unary<neg>;
  methods.nb_absolute = unary<abs>;
  methods.nb_invert = unary<bitwise_not>;
  methods.nb_positive = positive;
  methods.nb_bool = as_bool;
  methods.nb_int = as_int;
  methods.nb_float = as_float;
  methods.nb_index = as_index;
  return methods;
}

}  // namespace

PyNumberMethods tensor_number_methods = make_number_methods();

PyObject* tensor_richcompare(PyObject* self, PyObject* other, int operation) {
  switch (operation) {
    case Py_EQ: return binary<eq>(self, other);
    case Py_NE: return binary<ne>(self, other);
    case Py_LT: return binary<lt>(self, other);
    case Py_LE: return binary<le>(self, other);
    case Py_GT: return binary<gt>(self, other);
    case Py_GE: return binary<ge>(self, other);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

}  // namespace torch::python
