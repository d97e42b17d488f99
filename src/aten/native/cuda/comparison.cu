// Predicates of two inputs; the result is bool.

#include <aten/Kernels.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

#define DEFINE_PREDICATE(name, expression)                                        \
  namespace {                                                                     \
  template <typename T>                                                           \
  struct name##_functor {                                                         \
    __device__ bool operator()(T a, T b) const { return expression; }             \
  };                                                                              \
  }                                                                               \
  void name##_kernel(TensorIterator& iter) {                                      \
    dispatch_all_types(iter.common_dtype(), #name, [&](auto tag) {                \
      gpu_kernel(iter, name##_functor<typename decltype(tag)::type>());           \
    });                                                                           \
  }

DEFINE_PREDICATE(eq, a == b)
DEFINE_PREDICATE(ne, a != b)
DEFINE_PREDICATE(lt, a < b)
DEFINE_PREDICATE(le, a <= b)
DEFINE_PREDICATE(gt, a > b)
DEFINE_PREDICATE(ge, a >= b)
DEFINE_PREDICATE(logical_and, bool(a) && bool(b))
DEFINE_PREDICATE(logical_or, bool(a) || bool(b))
DEFINE_PREDICATE(logical_xor, bool(a) != bool(b))

}  // namespace at::native::cuda
