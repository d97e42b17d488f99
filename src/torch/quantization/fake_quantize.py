"""The old name of `torch.ao.quantization.fake_quantize`."""

from torch.ao.quantization.fake_quantize import *  # noqa: F403
from torch.ao.quantization.fake_quantize import __getattr__ as __getattr__
