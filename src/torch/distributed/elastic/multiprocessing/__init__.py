"""Processes under torchrun."""

from torch import _unavailable
from torch.distributed import REASON

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
