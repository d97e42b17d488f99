"""What PyTorch optimizes models with: `torch.ao.quantization`."""

from torch.ao import quantization as quantization
