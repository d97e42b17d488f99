// Tensors filled from distributions: bounds and dtypes; what is drawn is decided by kernels.

#include <aten/ATen.h>
#include <aten/Dispatch.h>
#include <aten/EmptyTensor.h>
#include <aten/Kernels.h>
#include <aten/NativeFunctions.h>
#include <aten/TensorIterator.h>
#include <aten/native/RunKernel.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace {

Tensor& fill_from(Tensor& self, Distribution distribution, double first, double second, const Generator& generator,
                  const char* name) {
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.dtype() != kBool, "\"", name, "\" not implemented for '",
                              self.dtype(), "'");
  assert_no_internal_overlap(self);
  if (self.numel() > 0) {
    run_kernel_in_float32(distribution_kernels, self.device(), self, distribution, first, second, generator);
  }
  return self;
}

void check_floating(const Tensor& self, const char* name) {
  TORCH_CHECK(self.is_floating_point(), name, " distribution is a continuous probability distribution. dtype must be a "
              "floating point but you specified ", self.dtype());
}

// Numbers of another distribution per element; `first` and `second` broadcast already.
Tensor draw_each(const Tensor& first, const Tensor& second, Distribution distribution, const Generator& generator) {
  const Tensor out = at::detail::empty(first.sizes(), first.dtype(), first.device());
  if (out.numel() > 0) {
    run_kernel_in_float32(elementwise_distribution_kernels, first.device(), out, first.contiguous(),
                          second.defined() ? second.contiguous() : second, distribution, generator);
  }
  return out;
}

}  // namespace

Tensor& exponential_(Tensor& self, double lambd, const Generator& generator) {
  check_floating(self, "Exponential");
  TORCH_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  return fill_from(self, Distribution::exponential, lambd, 0, generator, "exponential_");
}

Tensor& geometric_(Tensor& self, double p, const Generator& generator) {
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  return fill_from(self, Distribution::geometric, p, 0, generator, "geometric_");
}

Tensor& log_normal_(Tensor& self, double mean, double std, const Generator& generator) {
  TORCH_CHECK(self.is_floating_point(), "\"log_normal_cpu\" not implemented for '", self.dtype(), "'");
  TORCH_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  return fill_from(self, Distribution::log_normal, mean, std, generator, "log_normal_");
}

Tensor& cauchy_(Tensor& self, double median, double sigma, const Generator& generator) {
  check_floating(self, "Cauchy");
  TORCH_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  return fill_from(self, Distribution::cauchy, median, sigma, generator, "cauchy_");
}

Tensor poisson(const Tensor& self, const Generator& generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"poisson_cpu\" not implemented for '", self.dtype(), "'");
  return draw_each(self, Tensor(), Distribution::poisson, generator);
}

Tensor binomial(const Tensor& count, const Tensor& prob, const Generator& generator) {
  TORCH_CHECK_VALUE(count.is_floating_point(),
                    "binomial only supports floating-point dtypes for count, got: ", count.dtype());
  TORCH_CHECK_VALUE(prob.is_floating_point(),
                    "binomial only supports floating-point dtypes for prob, got: ", prob.dtype());
  TORCH_CHECK(count.dtype() == prob.dtype(), "Found dtype ", prob.dtype(), " but expected ", count.dtype());
  const DimVector shape = broadcast_shapes(count.sizes(), prob.sizes());
  return draw_each(count.expand(shape), prob.expand(shape), Distribution::binomial, generator);
}

namespace {

// PyTorch has these of float32 and float64 only.
void check_single_or_double(const Tensor& self, const char* name) {
  if (self.dtype() != kFloat && self.dtype() != kDouble) at::detail::throw_dtype_not_implemented(name, self.dtype());
}

void check_same_dtype(const Tensor& first, const Tensor& other) {
  TORCH_CHECK(first.dtype() == other.dtype(), "Found dtype ", other.dtype(), " but expected ", first.dtype());
}

}  // namespace

Tensor _standard_gamma(const Tensor& self, const Generator& generator) {
  check_single_or_double(self, "gamma_cpu");
  return draw_each(self, Tensor(), Distribution::gamma, generator);
}

void _standard_gamma_grad(const Tensor& self, const Tensor& output, Tensor& out) {
  check_single_or_double(self, "_standard_gamma_grad_cpu");
  check_same_dtype(self, output);
  TensorIterator::binary_op(out, self, output).run(binary_function_kernels, BinaryFunction::standard_gamma_grad);
}

// In float64, since parts of small shapes are too small for float32; no part is 0 or 1.
Tensor _sample_dirichlet(const Tensor& self, const Generator& generator) {
  check_single_or_double(self, "dirichlet");
  const Tensor numbers = draw_each(self.to(kDouble), Tensor(), Distribution::gamma, generator);
  const bool is_single = self.dtype() == kFloat;
  const double least = is_single ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  const double greatest = is_single ? std::nextafter(1.0f, 0.0f) : std::nextafter(1.0, 0.0);
  return at::div(numbers, at::sum(numbers, -1, true)).clamp_(Scalar(least), Scalar(greatest)).to(self.dtype());
}

void _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total, Tensor& out) {
  check_single_or_double(x, "_dirichlet_grad_cpu");
  check_same_dtype(x, alpha);
  check_same_dtype(x, total);
  TensorIterator::ternary_op(out, x, alpha, total).run(dirichlet_grad_kernels);
}

namespace {

void check_std(const Tensor& std) {
  TORCH_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TORCH_CHECK(std.is_meta() || std.numel() == 0 || at::min(std).item<double>() >= 0,
              "normal expects all elements of std >= 0.0");
}

}  // namespace

Tensor normal_tensor_float(const Tensor& mean, double std, const Generator& generator) {
  return at::empty_like(mean).contiguous().normal_(0, std, generator).add_(mean);
}

Tensor normal_float_tensor(double mean, const Tensor& std, const Generator& generator) {
  check_std(std);
  return at::empty_like(std).contiguous().normal_(0, 1, generator).mul_(std).add_(Scalar(mean));
}

Tensor normal_tensors(const Tensor& mean, const Tensor& std, const Generator& generator) {
  check_std(std);
  const DimVector shape = broadcast_shapes(mean.sizes(), std.sizes());
  return at::empty(shape, mean.options()).normal_(0, 1, generator).mul_(std).add_(mean);
}

Tensor normal_numbers(double mean, double std, IntArrayRef size, const Generator& generator,
                      const TensorOptions& options) {
  return at::empty(size, options).normal_(mean, std, generator);
}

Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> memory_format) {
  return at::randint_like(self, 0, high, options, memory_format);
}

Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options,
                        std::optional<MemoryFormat> memory_format) {
  return at::empty_like(self, options, memory_format).random_(low, high);
}

Tensor bernoulli_p(const Tensor& self, double p, const Generator& generator) {
  return at::empty_like(self).bernoulli_(p, generator);
}

Tensor& bernoulli_tensor_(Tensor& self, const Tensor& p, const Generator& generator) {
  const DimVector shape = broadcast_shapes(self.sizes(), p.sizes());
  TORCH_CHECK(IntArrayRef(shape) == self.sizes(), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", IntArrayRef(shape));
  const Tensor chances = p.is_floating_point() ? p : p.to(c10::get_default_dtype());
  at::detail::copy_into(self, at::bernoulli(chances.expand(shape), generator));
  return self;
}

}  // namespace at::native
