#pragma once
// The functions of torch._C that are no operators.

#include <torch/csrc/utils/object.h>

namespace torch::python {

extern PyMethodDef global_functions[];    // functions.cpp: modes, threads, default dtype, how it was built
extern PyMethodDef cuda_functions[];      // cuda.cpp
extern PyMethodDef dlpack_functions[];    // utils/tensor_dlpack.cpp
extern PyMethodDef shared_memory_functions[];  // shared_memory.cpp, where libshm exists
extern PyMethodDef creation_functions[];  // creation.cpp: torch.tensor and friends, and questions about dtypes

}  // namespace torch::python
