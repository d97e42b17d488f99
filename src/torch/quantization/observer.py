"""The old name of `torch.ao.quantization.observer`."""

from torch.ao.quantization.observer import *  # noqa: F403
from torch.ao.quantization.observer import __getattr__ as __getattr__
