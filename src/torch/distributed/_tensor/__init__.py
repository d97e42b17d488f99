"""torch.distributed.tensor under its former name."""

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.tensor import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
