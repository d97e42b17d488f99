"""The old name of `torch.ao.quantization`."""

from torch.ao.quantization import *  # noqa: F403
from torch.ao.quantization import __getattr__ as __getattr__
from torch.quantization import fake_quantize, observer, qconfig

__all__ = ["fake_quantize", "observer", "qconfig"]
