// Functions of one and two numbers, element by element: see ScalarFunctions.h.
// Integers are computed in the default dtype.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/WrappedScalar.h>
#include <aten/native/CachedParts.h>
#include <aten/native/Views.h>
#include <aten/native/cpu/FusedForward.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

void run_unary_float(const Tensor& self, Tensor& out, UnaryFunction function) {
  TensorIterator::unary_float_op(out, self).run(unary_function_kernels, function);
}

void run_binary_float(const Tensor& self, const Tensor& other, Tensor& out, BinaryFunction function) {
  TensorIterator::binary_float_op(out, self, other).run(binary_function_kernels, function);
}

void run_binary(const Tensor& self, const Tensor& other, Tensor& out, BinaryFunction function) {
  TensorIterator::binary_op(out, self, other).run(binary_function_kernels, function);
}

void refuse_complex(const Tensor& self, const char* name) {
  if (self.is_complex()) at::detail::throw_dtype_not_implemented(name, self.dtype());
}

// Some functions PyTorch has of float32 and float64 only.
void refuse_reduced(const Tensor& self, const char* name) {
  if (self.is_complex() || c10::is_reduced_floating_type(self.dtype()))
    detail::throw_dtype_not_implemented(name, self.dtype());
}

}  // namespace

#define AT_DEFINE(name) \
  void name(const Tensor& self, Tensor& out) { run_unary_float(self, out, UnaryFunction::name); }
AT_FORALL_COMPLEX_FUNCTIONS(AT_DEFINE)
#undef AT_DEFINE

#define AT_DEFINE(name)                              \
  void name(const Tensor& self, Tensor& out) {       \
    refuse_complex(self, #name);                     \
    run_unary_float(self, out, UnaryFunction::name); \
  }
AT_DEFINE(digamma)
AT_DEFINE(erfc)
AT_DEFINE(erfinv)
AT_DEFINE(i0)
AT_DEFINE(lgamma)
#undef AT_DEFINE

#define AT_DEFINE_SPECIAL(name, refuse)                  \
  void special_##name(const Tensor& self, Tensor& out) { \
    refuse(self, #name);                                 \
    run_unary_float(self, out, UnaryFunction::name);     \
  }
#define AT_DEFINE(name) AT_DEFINE_SPECIAL(name, refuse_complex)
AT_DEFINE(entr)
AT_DEFINE(i0e)
AT_DEFINE(i1)
AT_DEFINE(i1e)
#undef AT_DEFINE
#define AT_DEFINE(name) AT_DEFINE_SPECIAL(name, refuse_reduced)
AT_DEFINE(airy_ai)
AT_DEFINE(bessel_j0)
AT_DEFINE(bessel_j1)
AT_DEFINE(bessel_y0)
AT_DEFINE(bessel_y1)
AT_DEFINE(erfcx)
AT_DEFINE(log_ndtr)
AT_DEFINE(modified_bessel_k0)
AT_DEFINE(modified_bessel_k1)
AT_DEFINE(ndtri)
AT_DEFINE(scaled_modified_bessel_k0)
AT_DEFINE(scaled_modified_bessel_k1)
AT_DEFINE(spherical_bessel_j0)
#undef AT_DEFINE
#undef AT_DEFINE_SPECIAL

void special_modified_bessel_i0(const Tensor& self, Tensor& out) {
  refuse_reduced(self, "modified_bessel_i0");
  run_unary_float(self, out, UnaryFunction::i0);
}
void special_modified_bessel_i1(const Tensor& self, Tensor& out) {
  refuse_reduced(self, "modified_bessel_i1");
  run_unary_float(self, out, UnaryFunction::i1);
}

void frac(const Tensor& self, Tensor& out) {
  if (!self.is_floating_point()) at::detail::throw_dtype_not_implemented("frac", self.dtype());
  run_unary_float(self, out, UnaryFunction::frac);
}

void polygamma(int64_t n, const Tensor& self, Tensor& out) {
  TORCH_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  refuse_complex(self, "polygamma");
  if (n == 0) return native::digamma(self, out);
  if (n == 1) return run_unary_float(self, out, UnaryFunction::trigamma);
  const double sign = n % 2 == 0 ? -1.0 : 1.0;
  const Tensor order = wrapped_scalar_tensor(Scalar(static_cast<double>(n + 1)), self.device());
  Tensor sum;
  run_binary_float(order, self, sum, BinaryFunction::zeta);
  native::mul(sum, wrapped_scalar_tensor(Scalar(sign * std::tgamma(static_cast<double>(n + 1))), self.device()), out);
}

Tensor polygamma_of(const Tensor& self, int64_t n) { return at::polygamma(n, self); }

void copysign(const Tensor& self, const Tensor& other, Tensor& out) {
  refuse_complex(self, "copysign");
  refuse_complex(other, "copysign");
  const ScalarType dtype = self.dtype();
  if (out.defined() || !self.is_cpu() || !c10::is_reduced_floating_type(dtype) || other.dtype() != dtype) {
    return run_binary_float(self, other, out, BinaryFunction::copysign);
  }
  // The CPU need not convert halves to take the sign of another one, which is a bit.
  const auto bits_as = [](const Tensor& tensor, ScalarType type) {
    return alias_as(tensor, type, tensor.sizes(), tensor.strides(), tensor.storage_offset());
  };
  Tensor bits;
  TensorIterator::binary_op(bits, bits_as(self, kShort), bits_as(other, kShort)).run(cpu::take_signs_of_halves);
  out = bits_as(bits, dtype);
}

#define AT_DEFINE(name)                                                     \
  void name(const Tensor& self, const Tensor& other, Tensor& out) {         \
    refuse_complex(self, #name);                                            \
    refuse_complex(other, #name);                                           \
    run_binary_float(self, other, out, BinaryFunction::name);               \
  }
AT_DEFINE(atan2)
AT_DEFINE(igamma)
AT_DEFINE(igammac)
AT_DEFINE(xlogy)
#undef AT_DEFINE
#define AT_DEFINE_SPECIAL(name, refuse)                                       \
  void special_##name(const Tensor& self, const Tensor& other, Tensor& out) { \
    refuse(self, #name);                                                      \
    refuse(other, #name);                                                     \
    run_binary_float(self, other, out, BinaryFunction::name);                 \
  }
AT_DEFINE_SPECIAL(xlog1py, refuse_complex)
#define AT_DEFINE(name) AT_DEFINE_SPECIAL(name, refuse_reduced)
AT_DEFINE(chebyshev_polynomial_t)
AT_DEFINE(chebyshev_polynomial_u)
AT_DEFINE(chebyshev_polynomial_v)
AT_DEFINE(chebyshev_polynomial_w)
AT_DEFINE(hermite_polynomial_h)
AT_DEFINE(hermite_polynomial_he)
AT_DEFINE(laguerre_polynomial_l)
AT_DEFINE(legendre_polynomial_p)
AT_DEFINE(shifted_chebyshev_polynomial_t)
AT_DEFINE(shifted_chebyshev_polynomial_u)
AT_DEFINE(shifted_chebyshev_polynomial_v)
AT_DEFINE(shifted_chebyshev_polynomial_w)
AT_DEFINE(zeta)
#undef AT_DEFINE_SPECIAL
#undef AT_DEFINE

// Of floating numbers only.
#define AT_DEFINE(name)                                                    \
  void name(const Tensor& self, const Tensor& other, Tensor& out) {        \
    auto iter = TensorIterator::binary_op(out, self, other);               \
    if (!c10::is_floating_type(iter.common_dtype()))                       \
      at::detail::throw_dtype_not_implemented(#name, iter.common_dtype()); \
    iter.run(binary_function_kernels, BinaryFunction::name);               \
  }
AT_DEFINE(hypot)
AT_DEFINE(logaddexp2)
#undef AT_DEFINE

void logaddexp(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  const ScalarType dtype = iter.common_dtype();
  if (c10::is_complex_type(dtype)) {  // from the one with the greater real part, so that nothing overflows
    const NoGradGuard no_gradient;
    const Tensor is_less = at::lt(at::real(self), at::real(other));
    const Tensor greater = at::where(is_less, other, self);
    const Tensor smaller = at::where(is_less, self, other);
    const Tensor sum = at::add(greater, at::log1p(at::exp(at::sub(smaller, greater))));
    const Tensor is_nothing = at::eq(at::real(greater), Scalar(-std::numeric_limits<double>::infinity()));
    const Tensor result = at::where(is_nothing, greater, sum);
    TensorIterator::unary_op(out, result).run(copy_kernels, false);
    return;
  }
  if (!c10::is_floating_type(dtype)) at::detail::throw_dtype_not_implemented("logaddexp", dtype);
  iter.run(binary_function_kernels, BinaryFunction::logaddexp);
}

namespace {

// Of float16 and bfloat16 the next number is one of theirs, not of float: their bits count up away from 0.
Tensor next_reduced(const Tensor& from, const Tensor& to) {
  const auto bits_as = [](const Tensor& tensor, ScalarType dtype) {
    const Tensor dense = at::detail::to_contiguous(tensor);
    return alias_as(dense, dtype, dense.sizes(), dense.strides(), dense.storage_offset());
  };
  const Tensor grows = at::eq(at::gt(to, from), at::gt(from, Scalar(0)));
  const Tensor bits = bits_as(from, kShort);
  const Tensor stepped = bits_as(at::where(grows, at::add(bits, Scalar(1)), at::sub(bits, Scalar(1))), from.dtype());
  const Tensor smallest = bits_as(at::ones_like(bits), from.dtype());
  const Tensor next = at::where(at::eq(from, Scalar(0)), at::copysign(smallest, to), stepped);
  const Tensor is_number = at::logical_and(at::eq(from, from), at::eq(to, to));
  return at::where(is_number, at::where(at::eq(from, to), to, next), at::add(from, to));
}

}  // namespace

void nextafter(const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType dtype = result_type({self, other});
  if (c10::is_reduced_floating_type(dtype) && self.is_cpu() && other.is_cpu()) {  // whose kernel knows them
    return run_binary(at::detail::to_dtype(self, dtype), at::detail::to_dtype(other, dtype), out,
                      BinaryFunction::nextafter);
  }
  if (c10::is_reduced_floating_type(dtype)) {
    const NoGradGuard no_gradient;
    const std::vector<Tensor> both = at::broadcast_tensors(
        {at::detail::to_dtype(at::detach(self), dtype), at::detail::to_dtype(at::detach(other), dtype)});
    const Tensor result = next_reduced(both[0], both[1]);
    TensorIterator::unary_op(out, result).run(copy_kernels, false);
    return;
  }
  if (dtype != kFloat && dtype != kDouble) at::detail::throw_dtype_not_implemented("nextafter", dtype);
  run_binary(self, other, out, BinaryFunction::nextafter);
}

// Of all numbers; integers have no NaN to pass over.
#define AT_DEFINE(name, integral)                                                                      \
  void name(const Tensor& self, const Tensor& other, Tensor& out) {                                    \
    auto iter = TensorIterator::binary_op(out, self, other);                                           \
    const ScalarType dtype = iter.common_dtype();                                                      \
    if (c10::is_complex_type(dtype)) at::detail::throw_dtype_not_implemented(#name, dtype);            \
    if (c10::is_integral_type(dtype, /*include_bool=*/true)) return iter.run(integral##_kernels);      \
    iter.run(binary_function_kernels, BinaryFunction::name);                                           \
  }
AT_DEFINE(fmax, maximum)
AT_DEFINE(fmin, minimum)
#undef AT_DEFINE

void fmod(const Tensor& self, const Tensor& other, Tensor& out) {
  auto iter = TensorIterator::binary_op(out, self, other);
  const ScalarType dtype = iter.common_dtype();
  if (dtype == kByte) return native::remainder(self, other, out);  // the same without signs, in vectors
  if (c10::is_complex_type(dtype) || dtype == kBool) at::detail::throw_dtype_not_implemented("fmod", dtype);
  iter.run(binary_function_kernels, BinaryFunction::fmod);
}

void heaviside(const Tensor& self, const Tensor& values, Tensor& out) {
  TORCH_CHECK(!self.is_complex() && !values.is_complex(), "heaviside is not yet implemented for complex tensors.");
  TORCH_CHECK(self.dtype() == values.dtype(), "heaviside is not yet implemented for tensors with different dtypes.");
  if (self.is_cpu() && c10::is_integral_type(self.dtype(), /*include_bool=*/true)) {  // by operators that have vectors
    const Tensor steps = at::gt(self, Scalar(0)).to(self.dtype());
    if (out.defined()) at::where_out(out, at::eq(self, Scalar(0)), values, steps);
    else out = at::where(at::eq(self, Scalar(0)), values, steps);
    return;
  }
  run_binary(self, values, out, BinaryFunction::heaviside);
}

// Of integers.
#define AT_DEFINE(name)                                                                                   \
  void name(const Tensor& self, const Tensor& other, Tensor& out) {                                       \
    auto iter = TensorIterator::binary_op(out, self, other);                                              \
    if (!c10::is_integral_type(iter.common_dtype(), false)) {                                             \
      at::detail::throw_dtype_not_implemented(#name, iter.common_dtype());                                    \
    }                                                                                                     \
    iter.run(binary_function_kernels, BinaryFunction::name);                                              \
  }
AT_DEFINE(bitwise_right_shift)
AT_DEFINE(gcd)
AT_DEFINE(lcm)
#undef AT_DEFINE

void bitwise_left_shift(const Tensor& self, const Tensor& other, Tensor& out) {
  const ScalarType dtype = result_type({self, other});
  if (!c10::is_integral_type(dtype, false)) at::detail::throw_dtype_not_implemented("bitwise_left_shift", dtype);
  if (other.is_wrapped_number() && (c10::is_signed_type(dtype) || dtype == kByte)) {
    // By a number that is smaller than the place of the sign: a product, which has vectors.
    const auto places = other.item<int64_t>();
    if (places >= 0 && places < 8 * static_cast<int64_t>(c10::element_size(dtype)) - 1) {
      return native::mul(self, wrapped_scalar_tensor(Scalar(int64_t{1} << places), self.device()), out);
    }
  }
  TensorIterator::binary_op(out, self, other).run(binary_function_kernels, BinaryFunction::bitwise_left_shift);
}

// ---------------------------------------------------------------------------------------------- made of others

Tensor special_ndtr(const Tensor& self) {
  const Tensor x = c10::is_integral_type(self.dtype(), true) ? self.to(c10::get_default_dtype()) : self;
  const ScalarType computed = c10::computing_type(x.dtype());
  const bool is_plain = x.is_cpu() && (computed == kFloat || computed == kDouble) && !is_differentiated(x);
  if (!is_plain || is_dispatched()) return at::erfc(x * -0.70710678118654752440) * 0.5;
  Tensor out;
  TensorIterator::unary_op(out, x).run(cpu::normal_cumulative);
  return out;
}

Tensor logit(const Tensor& self, std::optional<double> eps) {
  refuse_complex(self, "logit");
  const Tensor x = c10::is_integral_type(self.dtype(), true) ? self.to(c10::get_default_dtype()) : self;
  const Tensor one = wrapped_scalar_tensor(Scalar(1), x.device());
  const auto write = [&](const Tensor& from, Tensor& to) {
    Tensor p = from;
    if (eps) native::clamp(from, Scalar(*eps), Scalar(1 - *eps), p = Tensor());
    native::sub(one, p, Scalar(1), to);
    native::div(p, to, to);
    native::log(to, to);
  };
  Tensor result;
  if (!x.is_cpu() || !x.is_contiguous() || x.numel() <= kCachedElements) {
    write(x, result);
    return result;
  }
  result = at::detail::empty(x.sizes(), x.dtype(), x.device());
  for_each_cached_part(x.numel(), 1, [&](int64_t first, int64_t last) {
    const auto part = [=](const Tensor& tensor) {
      return at::detail::make_view(tensor, {last - first}, {1}, tensor.storage_offset() + first);
    };
    Tensor to = part(result);
    write(part(x), to);
  });
  return result;
}

Tensor mvlgamma(const Tensor& self, int64_t p) {
  TORCH_CHECK(p >= 1, "p has to be greater than or equal to 1");
  const Tensor x = c10::is_integral_type(self.dtype(), true) ? self.to(c10::get_default_dtype()) : self;
  refuse_complex(x, "mvlgamma");
  const double logarithm_of_pi = 1.14472988584940017414;
  Tensor result = at::lgamma(x);
  for (int64_t i = 1; i < p; ++i) result = result + at::lgamma(x - static_cast<double>(i) / 2);
  const double dimension = static_cast<double>(p);
  return result + dimension * (dimension - 1) / 4 * logarithm_of_pi;
}

Tensor deg2rad(const Tensor& self) {
  TORCH_CHECK(!self.is_complex(), "deg2rad is not supported for complex tensors.");
  return self * 0.017453292519943295769;
}

Tensor rad2deg(const Tensor& self) {
  TORCH_CHECK(!self.is_complex(), "rad2deg is not supported for complex tensors.");
  return self * 57.295779513082320877;
}

Tensor positive(const Tensor& self) {
  TORCH_CHECK(self.dtype() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

Tensor signbit(const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "signbit is not implemented for complex tensors.");
  if (self.dtype() == kBool) return at::zeros_like(self);
  if (!self.is_floating_point()) return at::lt(self, 0);
  // -0 has one, and some NaN: the sign is that of the bits as an integer.
  const size_t size = c10::element_size(self.dtype());
  const ScalarType bits = size == 2 ? kShort : size == 4 ? kInt : kLong;
  return at::lt(alias_as(at::detach(self), bits, self.sizes(), self.strides(), self.storage_offset()), 0);
}

Tensor round_decimals(const Tensor& self, int64_t decimals) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"round_cpu\" not implemented for '", self.dtype(), "'");
  if (decimals == 0) return at::round(self);
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  return decimals > 0 ? (self * scale).round_().div_(Scalar(scale)) : (self / scale).round_().mul_(Scalar(scale));
}

Tensor isposinf(const Tensor& self) {
  TORCH_CHECK(!self.is_complex(), "isposinf does not support complex inputs.");
  if (!self.is_floating_point()) return at::zeros(self.sizes(), self.options().dtype(kBool));
  return at::eq(self, Scalar(INFINITY));
}

Tensor isneginf(const Tensor& self) {
  TORCH_CHECK(!self.is_complex(), "isneginf does not support complex inputs.");
  if (!self.is_floating_point()) return at::zeros(self.sizes(), self.options().dtype(kBool));
  return at::eq(self, Scalar(-INFINITY));
}

Tensor ldexp(const Tensor& self, const Tensor& other) {
  // In the dtype of the result, so that float16 stays that.
  const ScalarType dtype = result_type({self, other});
  const ScalarType computed = c10::is_floating_or_complex_type(dtype) ? dtype : c10::get_default_dtype();
  return at::mul(self, at::pow(Scalar(2.0), other.to(computed)));
}

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes");
  const Tensor x = at::detach(self);
  if (self.is_cpu() && !is_differentiated(self)) {
    const ScalarType computed = c10::computing_type(self.dtype());
    const Tensor dense = at::detail::to_contiguous(at::detail::to_dtype(x, computed));
    const Tensor mantissa = at::detail::empty(self.sizes(), computed, self.device());
    const Tensor exponent = at::detail::empty(self.sizes(), kInt, self.device());
    cpu::split_exponents(mantissa, exponent, dense);
    return {at::detail::to_dtype(mantissa, self.dtype()), exponent};
  }
  const Tensor size = at::abs(x);
  const Tensor ordinary = at::logical_and(at::gt(size, 0), at::isfinite(size));
  // log2 may be a place off next to a power of 2: the quotient tells.
  const Tensor wide = at::where(ordinary, size, 1.0).to(kDouble);
  Tensor exponent = at::floor(at::log2(wide)) + 1;
  Tensor mantissa = wide / 2.0 / at::pow(Scalar(2.0), exponent - 1);
  const Tensor too_large = at::ge(mantissa, 1);
  const Tensor too_small = at::lt(mantissa, 0.5);
  exponent = at::where(ordinary, exponent + too_large.to(kDouble) - too_small.to(kDouble), 0.0);
  // Differentiable in self: the exponent is a constant.
  mantissa = at::where(ordinary, self / 2.0 / at::pow(Scalar(2.0), exponent - 1), self.to(kDouble)).to(self.dtype());
  return {mantissa, exponent.to(kInt)};
}

namespace {

// What float_power computes in.
ScalarType widest(ScalarType dtype) { return c10::is_complex_type(dtype) ? kComplexDouble : kDouble; }

}  // namespace

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const ScalarType dtype = widest(result_type({self, exponent}));
  return at::pow(self.to(dtype), exponent.to(dtype));
}

Tensor float_power_base_scalar(const Scalar& self, const Tensor& exponent) {
  const ScalarType dtype = widest(result_type(exponent, self));
  return at::pow(self, exponent.to(dtype));
}

Tensor float_power_scalar(const Tensor& self, const Scalar& exponent) {
  return at::pow(self.to(widest(result_type(self, exponent))), exponent);
}

Tensor lerp_tensor(const Tensor& self, const Tensor& end, const Tensor& weight) {
  TORCH_CHECK(self.dtype() == end.dtype(), "expected dtype ", self.dtype(), " for `end` but got dtype ", end.dtype());
  TORCH_CHECK(self.dtype() == weight.dtype(), "expected dtype ", self.dtype(), " for `weight` but got dtype ",
              weight.dtype());
  if (self.is_cpu()) {
    Tensor out;
    TensorIterator::ternary_op(out, self, end, weight).run(cpu::lerp_by_weights);
    return out;
  }
  const Tensor difference = end - self;
  // From the nearer end, so that weight 1 gives `end` exactly.
  return at::where(at::lt(at::abs(weight), 0.5), self + weight * difference, end - difference * (1 - weight));
}

}  // namespace at::native
