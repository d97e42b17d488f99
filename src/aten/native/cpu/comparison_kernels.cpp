// Comparisons and logic: inputs of one dtype, results bool.

#include <aten/Dispatch.h>
#include <aten/Kernels.h>
#include <aten/native/cpu/ElementBits.h>
#include <aten/native/cpu/ExportKernel.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/native/cpu/comparison_kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <aten/native/cpu/Loops-inl.h>

HWY_BEFORE_NAMESPACE();
namespace at::native::cpu {
namespace HWY_NAMESPACE {

// `meant`: the type that is compared as.
#define TORCH_COMPARISON_AS(meant, Name, name, expression)                        \
  template <typename T>                                                           \
  struct Name {                                                                   \
    TORCH_SIMD bool operator()(T a, T b) const { return expression; }             \
  };                                                                              \
  void Name##Impl(TensorIterator& iter) {                                         \
    dispatch_numbers_and_bool(meant(iter.common_dtype()), #name, [&](auto type) { \
      using T = SameBits<typename decltype(type)::type>;                          \
      run_binary<bool, T>(iter, Name<T>());                                       \
    });                                                                           \
  }
#define TORCH_COMPARISON(Name, name, expression) TORCH_COMPARISON_AS(, Name, name, expression)
TORCH_COMPARISON_AS(c10::same_bits_type, Equal, eq, a == b)
TORCH_COMPARISON_AS(c10::same_bits_type, NotEqual, ne, a != b)
TORCH_COMPARISON(LogicalAnd, logical_and, (a != T(0)) & (b != T(0)))
TORCH_COMPARISON(LogicalOr, logical_or, (a != T(0)) | (b != T(0)))
TORCH_COMPARISON(LogicalXor, logical_xor, (a != T(0)) != (b != T(0)))
#undef TORCH_COMPARISON
#undef TORCH_COMPARISON_AS

// Each serves the opposite order, too; `name` is what was called.
#define TORCH_ORDER(Name, expression)                                     \
  template <typename T>                                                   \
  struct Name {                                                           \
    TORCH_SIMD bool operator()(T a, T b) const { return expression; }     \
  };                                                                      \
  void Name##Impl(TensorIterator& iter, const char* name) {               \
    dispatch_numbers_and_bool(iter.common_dtype(), name, [&](auto type) { \
      using T = typename decltype(type)::type;                            \
      run_binary<bool, T>(iter, Name<T>());                               \
    });                                                                   \
  }
TORCH_ORDER(Less, a < b)
TORCH_ORDER(LessEqual, a <= b)
#undef TORCH_ORDER

template <typename T>
struct LogicalNot {
  TORCH_SIMD bool operator()(T a) const { return a == T(0); }
};
void LogicalNotImpl(TensorIterator& iter) {
  dispatch_numbers_and_bool(iter.common_dtype(), "logical_not", [&](auto type) {
    using T = SameBits<typename decltype(type)::type>;
    run_unary<bool, T>(iter, LogicalNot<T>());
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace at::native::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace at::native::cpu {

TORCH_EXPORT_KERNEL_AND_COMPLEX(Equal, eq)
TORCH_EXPORT_KERNEL_AND_COMPLEX(NotEqual, ne)
TORCH_EXPORT_KERNEL_AND_COMPLEX(LogicalAnd, logical_and)
TORCH_EXPORT_KERNEL_AND_COMPLEX(LogicalOr, logical_or)
TORCH_EXPORT_KERNEL_AND_COMPLEX(LogicalXor, logical_xor)
TORCH_EXPORT_KERNEL_AND_COMPLEX(LogicalNot, logical_not)

HWY_EXPORT(LessImpl);
HWY_EXPORT(LessEqualImpl);
void lt_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(LessImpl)(iter, "lt"); }
void le_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(LessEqualImpl)(iter, "le"); }
void gt_kernel(TensorIterator& iter) {
  iter.swap_inputs();
  HWY_DYNAMIC_DISPATCH(LessImpl)(iter, "gt");
}
void ge_kernel(TensorIterator& iter) {
  iter.swap_inputs();
  HWY_DYNAMIC_DISPATCH(LessEqualImpl)(iter, "ge");
}

}  // namespace at::native::cpu
#endif  // HWY_ONCE
