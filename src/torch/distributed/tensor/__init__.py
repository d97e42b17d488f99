"""Where the parts of a tensor lie on a mesh of devices: placements. DTensor is on paper only (docs/distributed.md)."""

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["Partial", "Placement", "Replicate", "Shard"]

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
