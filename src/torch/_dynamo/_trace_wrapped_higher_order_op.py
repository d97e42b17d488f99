"""A mode that libraries enter around `vmap` of functions that index with tensors."""

from torch.overrides import BaseTorchFunctionMode

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(BaseTorchFunctionMode):
    """Changes nothing: batches index tensors inside `vmap` as tensors do anywhere."""
