// Random numbers: bounds and dtypes; the numbers are drawn by kernels from a generator.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/PinnedMemory.h>
#include <aten/TensorIterator.h>
#include <aten/native/Dimensions.h>
#include <aten/native/RunKernel.h>
#include <aten/native/TypeNames.h>
#include <aten/native/Views.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

Generator generator_for(const Tensor& tensor, const Generator& generator) {
  if (!generator.defined()) return tensor.is_meta() ? generator : default_generator(tensor.device());
  TORCH_CHECK(generator->device().type() == tensor.device_type() || tensor.is_meta(), "Expected a '",
              tensor.device_type(), "' device type for generator but found '", generator->device().type(),
              "'");
  return generator;
}

// How many integers from 0 up a dtype holds exactly, as random_() draws from.
uint64_t full_range(ScalarType dtype) {
  return (uint64_t{1} << c10::type_facts(dtype).digits) + (c10::is_floating_type(dtype) ? 1 : 0);
}

// The smallest and largest integer that random numbers of a dtype may be asked for.
std::pair<double, double> bounds(ScalarType dtype) {
  const c10::TypeFacts& facts = c10::type_facts(dtype);
  if (c10::is_floating_type(dtype)) {
    const double highest = std::ldexp(1.0 - std::ldexp(1.0, -facts.digits), facts.max_exponent);
    return {-highest, highest};
  }
  const double values = std::ldexp(1.0, facts.digits);
  return {facts.is_signed ? -values : 0.0, values - 1.0};
}

void check_bounds(const Tensor& self, int64_t from, int64_t last) {
  const auto [lowest, highest] = bounds(self.dtype());
  TORCH_CHECK(static_cast<double>(from) >= lowest && static_cast<double>(from) <= highest,
              "from is out of bounds for ", cpp_type_name(self.dtype()));
  TORCH_CHECK(static_cast<double>(last) >= lowest && static_cast<double>(last) <= highest,
              "to - 1 is out of bounds for ", cpp_type_name(self.dtype()));
}

// The part of [from, to) whose ends a floating dtype holds exactly.
std::pair<int64_t, int64_t> representable_range(ScalarType dtype, int64_t from, int64_t to) {
  const int digits = c10::type_facts(dtype).digits;
  const auto rounded = [&](int64_t value) {
    return dispatch_ordered_types(dtype, "random_", [&](auto type) {
      return static_cast<int64_t>(static_cast<double>(static_cast<typename decltype(type)::type>(value)));
    });
  };
  // The distance between neighbouring values of this size.
  const auto step = [&](int64_t value) {
    int bits = 0;
    for (uint64_t rest = static_cast<uint64_t>(std::abs(value)); rest >>= 1;) ++bits;
    return int64_t{1} << (bits - digits + 1);
  };
  const int64_t next = rounded(from + 1);
  const int64_t last = rounded(to - 1);
  return {next < from ? next + step(from + 1) : from, last >= to ? last - step(to - 1) : to};
}

Tensor& fill_random(Tensor& self, int64_t from, uint64_t range, const Generator& generator) {
  assert_no_internal_overlap(self);
  if (self.numel() > 0)
    run_kernel(random_kernels, self.device(), self, from, range, generator_for(self, generator));
  return self;
}

void check_floating(const Tensor& self, const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"", name, "\" not implemented for '", self.dtype(),
                              "'");
}

}  // namespace

Tensor& uniform_(Tensor& self, double from, double to, const Generator& generator) {
  if (self.is_complex()) {
    Tensor parts = at::view_as_real(at::detach(self));
    native::uniform_(parts, from, to, generator);
    return self;
  }
  check_floating(self, "check_uniform_bounds");
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  const double highest = bounds(self.dtype()).second;
  TORCH_CHECK(to - from <= highest, "uniform_ expects to-from <= std::numeric_limits<", self.dtype(),
              ">::max(), but found to=", to, " and from=", from,
              " which result in to-from to exceed the limit");
  assert_no_internal_overlap(self);
  if (self.numel() > 0)
    run_kernel_in_float32(uniform_kernels, self.device(), self, from, to, generator_for(self, generator));
  // Rounded to 16 bits, the largest numbers would be `to`, which is no number of the interval.
  if (c10::is_reduced_floating_type(self.dtype()) && from < to) {
    const c10::NoGradGuard no_gradient;
    self.masked_fill_(at::eq(self, Scalar(to)), Scalar(from));
  }
  return self;
}

namespace {

// The numbers that PyTorch draws for 16 bits: 16 at a time, and for the last 16 elements from new ones.
void fill_reduced_normal(const Tensor& self, double mean, double std, const Generator& generator) {
  constexpr int64_t group = 16;
  const int64_t count = self.numel();
  const Tensor wide = at::detail::empty({count}, kFloat, self.device());
  const auto draw = [&](const Tensor& part) { run_kernel(normal_kernels, self.device(), part, mean, std, generator); };
  draw(at::narrow(wide, 0, 0, count / group * group));
  const Tensor last = at::detail::empty({group}, kFloat, self.device());
  draw(last);
  at::detail::copy_into(at::narrow(wide, 0, count - group, group), last);
  at::detail::copy_into(self, at::reshape(wide, self.sizes()));
}

}  // namespace

Tensor& normal_(Tensor& self, double mean, double std, const Generator& generator) {
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  if (self.is_complex()) {  // the parts share the variance
    Tensor parts = at::view_as_real(at::detach(self));
    native::normal_(parts, mean, std / std::sqrt(2.0), generator);
    return self;
  }
  check_floating(self, "normal_kernel_cpu");
  assert_no_internal_overlap(self);
  if (self.numel() == 0) return self;
  const Generator source = generator_for(self, generator);
  const bool has_rest = self.numel() > 16 && self.numel() % 16 != 0;
  if (self.is_cpu() && c10::is_reduced_floating_type(self.dtype()) && has_rest && self.is_contiguous()) {
    fill_reduced_normal(at::detach(self), mean, std, source);
  } else {
    run_kernel_in_float32(normal_kernels, self.device(), self, mean, std, source);
  }
  return self;
}

Tensor& random_(Tensor& self, const Generator& generator) {
  return fill_random(self, 0, full_range(self.dtype()), generator);
}

Tensor& random_to_(Tensor& self, int64_t to, const Generator& generator) {
  return native::random_from_(self, 0, to, generator);
}

Tensor& random_from_(Tensor& self, int64_t from, std::optional<int64_t> to, const Generator& generator) {
  if (to) {
    TORCH_CHECK(from < *to, "random_ expects 'from' to be less than 'to', but got from=", from,
                " >= to=", *to);
    check_bounds(self, from, *to - 1);
    if (self.is_floating_point()) {
      std::tie(from, to) = representable_range(self.dtype(), from, *to);
      TORCH_CHECK(
          from < *to,
          "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=", from,
          " >= to=", *to);
    }
    return fill_random(self, from, static_cast<uint64_t>(*to) - static_cast<uint64_t>(from), generator);
  }
  check_bounds(self, from, from);
  // Up to the largest value that the dtype holds; from the lowest int64 that is every one (2^64, which is
  // said as 0).
  return fill_random(self, from, full_range(self.dtype()) - static_cast<uint64_t>(from), generator);
}

Tensor rand(IntArrayRef size, const Generator& generator, const TensorOptions& options) {
  Tensor result = at::detail::empty_as_asked(size, options);
  return native::uniform_(result, 0, 1, generator);
}

Tensor randn(IntArrayRef size, const Generator& generator, const TensorOptions& options) {
  Tensor result = at::detail::empty_as_asked(size, options);
  return native::normal_(result, 0, 1, generator);
}

Tensor randint(int64_t high, IntArrayRef size, const Generator& generator, const TensorOptions& options) {
  return native::randint_low(0, high, size, generator, options);
}

Tensor randint_low(int64_t low, int64_t high, IntArrayRef size, const Generator& generator,
                   const TensorOptions& options) {
  Tensor result = at::detail::empty_as_asked(size, options.dtype(options.dtype_opt.value_or(kLong)));
  return native::random_from_(result, low, high, generator);
}

Tensor randperm(int64_t n, const Generator& generator, const TensorOptions& options) {
  const Tensor result = at::detail::empty_as_asked({n}, options.dtype(options.dtype_opt.value_or(kLong)));
  if (n > 0) run_kernel(randperm_kernels, result.device(), result, generator_for(result, generator));
  return result;
}

Tensor rand_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  Tensor result = native::empty_like(self, options, memory_format);
  return native::uniform_(result, 0, 1, {});
}

Tensor randn_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  Tensor result = native::empty_like(self, options, memory_format);
  return native::normal_(result, 0, 1, {});
}

Tensor bernoulli(const Tensor& self, const Generator& generator) {
  check_floating(self, "bernoulli_tensor_cpu_p_");
  const Tensor result = at::detail::empty(self.sizes(), self.dtype(), self.device());
  if (self.numel() > 0)
    run_kernel_in_float32(bernoulli_kernels, self.device(), result, self, 0.0, generator_for(self, generator));
  return result;
}

Tensor& bernoulli_float_(Tensor& self, double p, const Generator& generator) {
  TORCH_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  assert_no_internal_overlap(self);
  if (self.numel() > 0)
    run_kernel(bernoulli_kernels, self.device(), self, Tensor(), p, generator_for(self, generator));
  return self;
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, const Generator& generator) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(self.is_floating_point(),
              "multinomial only supports floating-point dtypes for input, got: ", self.dtype());
  TORCH_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t categories = self.sizes()[self.dim() - 1];
  TORCH_CHECK(replacement || num_samples <= categories,
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  DimVector shape(self.sizes());
  shape[self.dim() - 1] = num_samples;
  const Tensor result = at::detail::empty(shape, kLong, self.device());
  if (result.numel() == 0 || self.is_meta()) return result;
  const auto [least, greatest] = at::aminmax(self);  // NaN if there is one
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool valid =
      at::logical_and(at::ge(least, Scalar(0)), at::lt(greatest, Scalar(infinity))).item<bool>();
  TORCH_CHECK(valid, "probability tensor contains either `inf`, `nan` or element < 0");
  const bool has_weight = at::all(at::gt(at::sum(self, {self.dim() - 1}, false), Scalar(0))).item<bool>();
  TORCH_CHECK(has_weight, "invalid multinomial distribution (sum of probabilities <= 0)");
  run_kernel_in_float32(multinomial_kernels, self.device(), result, self, replacement, generator_for(self, generator));
  return result;
}

}  // namespace at::native
