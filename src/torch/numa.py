"""Processes bound to parts of the memory: names that programs mention. The operating system places them here."""

from torch import _unavailable

__getattr__ = _unavailable.define(__name__, "torch.numa is not supported: use numactl")
