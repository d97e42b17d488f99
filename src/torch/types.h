#pragma once
// PyTorch's name for tensors and operators without the rest; here they are one header.

#include <torch/torch.h>
