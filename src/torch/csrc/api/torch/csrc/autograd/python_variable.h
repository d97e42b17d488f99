#pragma once
// PyTorch's place for THPVariable_Check, THPVariable_Wrap and THPVariable_Unpack.

#include <torch/csrc/python_api.h>
