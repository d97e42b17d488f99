#pragma once
// The C++ interface: tensors and operators (`at`, also as `torch`), and automatic differentiation.

#include <aten/ATen.h>
#include <aten/Context.h>
#include <torch/csrc/autograd/autograd.h>

namespace torch {
using namespace at;  // NOLINT: torch::zeros is at::zeros, as in PyTorch
using c10::kCPU;
using c10::kCUDA;
using c10::kFloat16;
using c10::kFloat32;
using c10::kFloat64;
using c10::kInt16;
using c10::kInt32;
using c10::kInt64;
using c10::kInt8;
using c10::kMeta;
#define TORCH_USING(cpp_type, name, ...) using c10::k##name;
C10_FORALL_SCALAR_TYPES(TORCH_USING)
#undef TORCH_USING
using c10::kUInt8;
using c10::AutoGradMode;
using c10::GradMode;
using c10::NoGradGuard;
using c10::device;
using c10::dtype;
using c10::get_default_dtype;
using c10::set_default_dtype;
}  // namespace torch
