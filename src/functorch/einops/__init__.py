"""`rearrange`, as `torch.func` has it."""

from torch.func import rearrange

__all__ = ["rearrange"]
