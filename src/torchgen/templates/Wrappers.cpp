// Written by torchgen from native_functions.yaml and derivatives.yaml: change those instead.
// The functions of namespace at: record for backward where a gradient is asked for, then call the native function.

#include <aten/Functions.h>
#include <aten/NativeFunctions.h>
#include <aten/WrappedScalar.h>
#include <aten/native/Sparse.h>
#include <torch/csrc/autograd/dispatch.h>
#include <torch/csrc/autograd/generated/Nodes.h>
#include <torch/csrc/autograd/wrapper_tools.h>

namespace at {

using namespace torch::autograd;

${definitions}

}  // namespace at
