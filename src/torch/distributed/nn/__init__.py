"""Collectives with gradients (`functional`)."""

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.nn.functional import *  # noqa: F403 - what that names in its own `__all__`

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
