// The operators of Python's syntax: a + b, a == b, -a, bool(a). They skip argument parsing, being most of what programs
// call; anything but tensors and numbers gets NotImplemented, so that the other operand's type may answer.

#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/exceptions.h>
#include <torch/csrc/utils/argument_parser.h>
#include <torch/csrc/utils/autocast.h>
#include <torch/csrc/utils/overrides.h>

#include <aten/ATen.h>
#include <aten/WrappedScalar.h>

#include <optional>
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

// What classes and modes are asked for: PyTorch's names, which programs compare with.
struct Names {
  const char* forward;    // tensor + other
  const char* reflected;  // other + tensor, asked for as (tensor, other)
};

PyObject* ask_binary(const Names& names, PyObject* left, PyObject* right) {
  return is_tensor(left) ? ask_method(names.forward, left, right) : ask_method(names.reflected, right, left);
}

// `reflected`: for a number on the left and a tensor.
template <Binary operation, const Names& names, Binary reflected = operation>
PyObject* binary(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    if (is_overridden(left, right)) return ask_binary(names, left, right);
    if (is_tensor(left)) {
      if (is_tensor(right)) return compute(operation, unpack(left), unpack(right));
      if (is_plain_number(right)) {
        return compute(operation, unpack(left), at::wrapped_scalar_tensor(to_scalar(right), unpack(left).device()));
      }
    } else if (is_plain_number(left)) {
      return compute(reflected, at::wrapped_scalar_tensor(to_scalar(left), unpack(right).device()), unpack(right));
    }
    Py_RETURN_NOTIMPLEMENTED;
  });
}

template <InPlace operation, const Names& names>
PyObject* in_place(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    if (is_overridden(left, right)) return ask_method(names.forward, left, right);
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

template <Unary operation, const Names& names>
PyObject* unary(PyObject* object) {
  return guarded([&] {
    if (is_overridden(object)) return call_method_override(names.forward, object);
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
constexpr Names kAdd{"add", "add"}, kSub{"sub", "__rsub__"}, kMul{"mul", "mul"}, kDiv{"div", "__rtruediv__"},
    kFloorDivide{"__floordiv__", "__rfloordiv__"}, kRemainder{"remainder", "__rmod__"}, kAnd{"__and__", "bitwise_and"},
    kOr{"__or__", "bitwise_or"}, kXor{"__xor__", "bitwise_xor"}, kMatmul{"matmul", "__rmatmul__"},
    kPower{"pow", "__rpow__"}, kEqual{"__eq__", "__eq__"}, kNotEqual{"ne", "ne"}, kLess{"lt", "gt"},
    kLessEqual{"le", "ge"}, kGreater{"gt", "lt"}, kGreaterEqual{"ge", "le"}, kAddTo{"add_", ""}, kSubFrom{"sub_", ""},
    kMulBy{"mul_", ""}, kDivBy{"div_", ""}, kFloorDivideBy{"floor_divide_", ""}, kRemainderBy{"remainder_", ""},
    kAndTo{"__iand__", ""}, kOrTo{"__ior__", ""}, kXorTo{"__ixor__", ""}, kPowerBy{"pow_", ""}, kNegative{"neg", ""},
    kAbsolute{"abs", ""}, kInvert{"__invert__", ""};
at::Tensor neg(const at::Tensor& self) { return at::neg(self); }
at::Tensor abs(const at::Tensor& self) { return at::abs(self); }
at::Tensor bitwise_not(const at::Tensor& self) { return at::bitwise_not(self); }

// 3 / x is 3 * (1 / x), rounded twice, as in PyTorch: programs get the same digits.
at::Tensor div_number(const at::Tensor& number, const at::Tensor& tensor) {
  const bool may_convert = C10_UNLIKELY(active_autocasts != 0);
  return at::reciprocal(may_convert ? autocast_argument("reciprocal", tensor) : tensor).mul(number);
}

PyObject* matmul(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    if (is_overridden(left, right)) return ask_binary(kMatmul, left, right);
    if (!is_tensor(left) || !is_tensor(right)) Py_RETURN_NOTIMPLEMENTED;
    std::optional<AutocastArguments> converted;
    if (C10_UNLIKELY(active_autocasts != 0)) {
      converted.emplace("matmul", left, &right, 1, nullptr);
      left = converted->self();
      right = converted->values()[0];
    }
    at::Tensor result;
    {
      const ReleaseGil gil(is_heavy(unpack(left)) || is_heavy(unpack(right)));
      result = at::matmul(unpack(left), unpack(right));
    }
    return wrap(std::move(result));
  });
}

// A number stays a Scalar here: x ** 2 has kernels of its own.
PyObject* power_of(PyObject* base, PyObject* exponent) {
  if (is_tensor(base) && is_tensor(exponent)) return wrap(at::pow(unpack(base), unpack(exponent)));
  if (is_tensor(base) && is_plain_number(exponent)) return wrap(at::pow(unpack(base), to_scalar(exponent)));
  if (is_tensor(exponent) && is_plain_number(base)) return wrap(at::pow(to_scalar(base), unpack(exponent)));
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return guarded([&]() -> PyObject* {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (is_overridden(base, exponent)) return ask_binary(kPower, base, exponent);
    if (C10_UNLIKELY(active_autocasts != 0)) {
      const AutocastArguments converted("pow", base, &exponent, 1, nullptr);
      return power_of(converted.self(), converted.values()[0]);
    }
    return power_of(base, exponent);
  });
}

PyObject* in_place_power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return guarded([&]() -> PyObject* {
    if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
    if (is_overridden(base, exponent)) return ask_method(kPowerBy.forward, base, exponent);
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
  return guarded([&] {
    if (is_overridden(self)) return call_method_override("__pos__", self);
    Py_INCREF(self);
    return self;
  });
}

int as_bool(PyObject* self) {
  return guarded([&]() -> int {
    if (is_overridden(self)) return PyObject_IsTrue(Object::steal(call_method_override("__bool__", self)).get());
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
    if (is_overridden(self)) return call_method_override("__int__", self);
    const c10::Scalar value = single_value(self);
    // Python's int() of a float: any size, and its errors for nan and inf.
    if (value.is_floating_point()) return PyLong_FromDouble(value.toDouble());
    return value.is_complex() ? PyLong_FromDouble(value.toDouble()) : from_scalar(value);
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&] {
    if (is_overridden(self)) return call_method_override("__float__", self);
    return PyFloat_FromDouble(single_value(self).toDouble());
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (is_overridden(self)) return call_method_override("__index__", self);
    const at::Tensor& tensor = unpack(self);
    if (tensor.numel() != 1 || !c10::is_integral_type(tensor.dtype(), true)) {
      raise(PyExc_TypeError, "only integer tensors of a single element can be converted to an index");
    }
    return PyLong_FromLongLong(tensor.item().toLong());
  });
}

PyNumberMethods make_number_methods() {
  PyNumberMethods methods = {};
  methods.nb_add = binary<add, kAdd>;
  methods.nb_subtract = binary<sub, kSub>;
  methods.nb_multiply = binary<mul, kMul>;
  methods.nb_true_divide = binary<div, kDiv, div_number>;
  methods.nb_floor_divide = binary<floor_divide, kFloorDivide>;
  methods.nb_remainder = binary<remainder, kRemainder>;
  methods.nb_and = binary<bitwise_and, kAnd>;
  methods.nb_or = binary<bitwise_or, kOr>;
  methods.nb_xor = binary<bitwise_xor, kXor>;
  methods.nb_power = power;
  methods.nb_matrix_multiply = matmul;
  methods.nb_inplace_add = in_place<add_, kAddTo>;
  methods.nb_inplace_subtract = in_place<sub_, kSubFrom>;
  methods.nb_inplace_multiply = in_place<mul_, kMulBy>;
  methods.nb_inplace_true_divide = in_place<div_, kDivBy>;
  methods.nb_inplace_floor_divide = in_place<floor_divide_, kFloorDivideBy>;
  methods.nb_inplace_remainder = in_place<remainder_, kRemainderBy>;
  methods.nb_inplace_and = in_place<bitwise_and_, kAndTo>;
  methods.nb_inplace_or = in_place<bitwise_or_, kOrTo>;
  methods.nb_inplace_xor = in_place<bitwise_xor_, kXorTo>;
  methods.nb_inplace_power = in_place_power;
  methods.nb_negative = unary<neg, kNegative>;
  methods.nb_absolute = unary<abs, kAbsolute>;
  methods.nb_invert = unary<bitwise_not, kInvert>;
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
    case Py_EQ: return binary<eq, kEqual>(self, other);
    case Py_NE: return binary<ne, kNotEqual>(self, other);
    case Py_LT: return binary<lt, kLess>(self, other);
    case Py_LE: return binary<le, kLessEqual>(self, other);
    case Py_GT: return binary<gt, kGreater>(self, other);
    case Py_GE: return binary<ge, kGreaterEqual>(self, other);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

}  // namespace torch::python
