#pragma once
// Everything that C++ code needs to compute with tensors.

#include <aten/Functions.h>
#include <aten/Tensor.h>
#include <aten/TensorOperators.h>
