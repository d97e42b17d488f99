// Activations of torch.nn that are more than one arithmetic step, and their derivatives.

#include <aten/Kernels.h>
#include <aten/native/cuda/ComplexKernels.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

namespace {

template <typename T>
__device__ T sigmoid(T x) {
  return T{1} / (T{1} + ::exp(-x));
}
// tanh(log(1 + e^x)); from 20 on it is 1.
template <typename T>
__device__ T tanh_of_softplus(T x) {
  const T power = ::exp(x < T{20} ? x : T{20});
  const T n = power * (power + T{2});
  return x == x ? n / (n + T{2}) : x;
}
template <typename T>
__device__ T held(T x, T low, T high) {
  return x < low ? low : (x > high ? high : x);
}

}  // namespace

// The kernels NAME_kernel and NAME_backward_kernel from expressions over `x` and `grad`;
// `Numbers` are the functor's fields.
#define DEFINE_ACTIVATION(name, fields, parameters, numbers, forward, backward)                   \
  namespace {                                                                                     \
  template <typename T>                                                                           \
  struct name##_functor {                                                                         \
    fields __device__ T operator()(T x) const { return forward; }                                 \
  };                                                                                              \
  template <typename T>                                                                           \
  struct name##_backward_functor {                                                                \
    fields __device__ T operator()(T grad, T x) const { return backward; }                        \
  };                                                                                              \
  }                                                                                               \
  void name##_kernel(TensorIterator& iter parameters) {                                           \
    dispatch_floating_types(iter.common_dtype(), #name, [&](auto tag) {                           \
      using T = typename decltype(tag)::type;                                                     \
      gpu_kernel(iter, name##_functor<T>{numbers});                                               \
    });                                                                                           \
  }                                                                                               \
  void name##_backward_kernel(TensorIterator& iter parameters) {                                  \
    dispatch_floating_types(iter.common_dtype(), #name "_backward", [&](auto tag) {               \
      using T = typename decltype(tag)::type;                                                     \
      gpu_kernel(iter, name##_backward_functor<T>{numbers});                                      \
    });                                                                                           \
  }
#define NOTHING
#define LIST(...) __VA_ARGS__
#define AND(...) , __VA_ARGS__
DEFINE_ACTIVATION(real_silu, NOTHING, NOTHING, NOTHING, x * sigmoid(x),
                  grad * sigmoid(x) * (T{1} + x * (T{1} - sigmoid(x))))
void silu_kernel(TensorIterator& iter) {
  c10::is_complex_type(iter.common_dtype()) ? complex_silu(iter) : real_silu_kernel(iter);
}
void silu_backward_kernel(TensorIterator& iter) {
  c10::is_complex_type(iter.common_dtype()) ? complex_silu_backward(iter) : real_silu_backward_kernel(iter);
}
DEFINE_ACTIVATION(mish, NOTHING, NOTHING, NOTHING, x * tanh_of_softplus(x),
                  grad * (tanh_of_softplus(x) + x * sigmoid(x) * (T{1} - tanh_of_softplus(x) * tanh_of_softplus(x))))
DEFINE_ACTIVATION(log_sigmoid, NOTHING, NOTHING, NOTHING, (x < T{0} ? x : T{0} * x) - ::log1p(::exp(-::fabs(x))),
                  grad * sigmoid(-x))
DEFINE_ACTIVATION(hardsigmoid, NOTHING, NOTHING, NOTHING, held(x + T{3}, T{0}, T{6}) / T{6},
                  x > T{-3} && x < T{3} ? grad / T{6} : T{0})
DEFINE_ACTIVATION(hardswish, NOTHING, NOTHING, NOTHING, x * held(x + T{3}, T{0}, T{6}) / T{6},
                  x <= T{-3} ? T{0} : (x < T{3} ? grad * (x / T{3} + T(0.5)) : grad))
DEFINE_ACTIVATION(leaky_relu, T slope;, AND(double slope), static_cast<T>(slope), x > T{0} ? x : x * slope,
                  x > T{0} ? grad : grad * slope)
DEFINE_ACTIVATION(softplus, LIST(T beta; T threshold;), AND(double beta, double threshold),
                  LIST(static_cast<T>(beta), static_cast<T>(threshold)),
                  x * beta > threshold ? x : ::log1p(::exp(x * beta)) / beta,
                  x * beta > threshold ? grad : grad * sigmoid(x * beta))
namespace {
template <typename T>
struct glu_gate_backward_functor {
  __device__ T operator()(T grad, T a, T b) const {
    const T small = ::exp(-::fabs(b));
    return grad * a * (small / ((T{1} + small) * (T{1} + small)));
  }
};
}  // namespace
void glu_gate_backward_kernel(TensorIterator& iter) {
  dispatch_floating_types(iter.common_dtype(), "glu_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    gpu_kernel(iter, glu_gate_backward_functor<T>());
  });
}
DEFINE_ACTIVATION(elu, LIST(T alpha; T scale; T input_scale;), AND(double alpha, double scale, double input_scale),
                  LIST(static_cast<T>(alpha), static_cast<T>(scale), static_cast<T>(input_scale)),
                  x > T{0} ? x * scale : ::expm1(x * input_scale) * (alpha * scale),
                  x > T{0} ? grad * scale : grad * ::exp(x * input_scale) * (alpha * scale * input_scale))
#undef AND
#undef LIST
#undef NOTHING
#undef DEFINE_ACTIVATION

}  // namespace at::native::cuda
