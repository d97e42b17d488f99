"""Loads libtorch by way of the bindings, as torch does."""

from torch._C import answer as answer
from torch.version import __version__ as __version__
