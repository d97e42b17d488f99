"""A mode that libraries enter around `vmap` of functions that index with tensors."""

from torch.overrides import BaseTorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(BaseTorchFunctionMode):
    """Changes nothing: inside `vmap`, which is a loop here, tensors are indexed as anywhere."""
