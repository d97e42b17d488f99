#pragma once
// PyTorch's name for all of the C++ interface.

#include <torch/torch.h>
