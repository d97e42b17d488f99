"""The old name of `torch.distributed.tensor`."""

from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor

__all__ = ["DTensor", "Replicate", "Shard", "distribute_module", "distribute_tensor"]
