"""The old name of `torch.ao.quantization.qconfig`."""

from torch.ao.quantization.qconfig import *  # noqa: F403
from torch.ao.quantization.qconfig import __getattr__ as __getattr__
