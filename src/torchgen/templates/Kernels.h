#pragma once
// Written by torchgen from native_functions.yaml, kernels.yaml and derivatives.yaml: change those instead.
// The kernel tables, and the kernels that each backend has to define.

#include <aten/Tensor.h>
#include <aten/TensorIterator.h>
#include <aten/native/Distribution.h>
#include <aten/native/GridSampling.h>
#include <aten/native/PoolGeometry.h>
#include <aten/native/Recurrence.h>
#include <aten/native/Resampling.h>
#include <aten/native/ElementMap.h>
#include <aten/native/ScalarFunctions.h>
#include <c10/core/KernelTable.h>

namespace at::native {

${tables}

namespace cpu {
${cpu_kernels}
}  // namespace cpu

namespace cuda {
${cuda_kernels}
}  // namespace cuda

}  // namespace at::native
