"""torch.distributed.tensor.placement_types under its former name."""

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _StridedShard

__all__ = ["Partial", "Placement", "Replicate", "Shard", "_StridedShard"]

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
