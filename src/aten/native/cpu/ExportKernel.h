#pragma once
// A kernel's public function, NAME_kernel, which calls the NameImpl of the instruction set that this machine has. For
// the part of a file that is compiled once (HWY_ONCE), after Highway.

#include <aten/native/cpu/ComplexKernels.h>

#define TORCH_EXPORT_KERNEL(Name, name) \
  HWY_EXPORT(Name##Impl);               \
  void name##_kernel(TensorIterator& iter) { HWY_DYNAMIC_DISPATCH(Name##Impl)(iter); }

// ... and complex_NAME where the common dtype is complex.
#define TORCH_EXPORT_KERNEL_AND_COMPLEX(Name, name)                             \
  HWY_EXPORT(Name##Impl);                                                       \
  void name##_kernel(TensorIterator& iter) {                                    \
    if (c10::is_complex_type(iter.common_dtype())) return complex_##name(iter); \
    HWY_DYNAMIC_DISPATCH(Name##Impl)(iter);                                     \
  }
