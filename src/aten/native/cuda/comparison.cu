// Predicates of two inputs; the result is bool.

#include <aten/Kernels.h>
#include <aten/native/cuda/ComplexKernels.h>
#include <aten/native/cuda/Loops.cuh>

namespace at::native::cuda {

#define DEFINE_PREDICATE_FUNCTOR(name, expression)                                \
  namespace {                                                                     \
  template <typename T>                                                           \
  struct name##_functor {                                                         \
    __device__ bool operator()(T a, T b) const { return expression; }             \
  };                                                                              \
  }
#define RUN_PREDICATE(name, dtype) \
  dispatch_all_types(dtype, #name, [&](auto tag) { gpu_kernel(iter, name##_functor<typename decltype(tag)::type>()); });
#define DEFINE_PREDICATE(name, expression)   \
  DEFINE_PREDICATE_FUNCTOR(name, expression) \
  void name##_kernel(TensorIterator& iter) { RUN_PREDICATE(name, iter.common_dtype()) }
#define DEFINE_PREDICATE_AND_COMPLEX(name, expression)                              \
  DEFINE_PREDICATE_FUNCTOR(name, expression)                                        \
  void name##_kernel(TensorIterator& iter) {                                        \
    if (c10::is_complex_type(iter.common_dtype())) return complex_##name(iter);     \
    RUN_PREDICATE(name, c10::same_bits_type(iter.common_dtype()))                   \
  }

DEFINE_PREDICATE_AND_COMPLEX(eq, a == b)
DEFINE_PREDICATE_AND_COMPLEX(ne, a != b)
DEFINE_PREDICATE(lt, a < b)
DEFINE_PREDICATE(le, a <= b)
DEFINE_PREDICATE(gt, a > b)
DEFINE_PREDICATE(ge, a >= b)
DEFINE_PREDICATE_AND_COMPLEX(logical_and, bool(a) && bool(b))
DEFINE_PREDICATE_AND_COMPLEX(logical_or, bool(a) || bool(b))
DEFINE_PREDICATE_AND_COMPLEX(logical_xor, bool(a) != bool(b))

}  // namespace at::native::cuda
