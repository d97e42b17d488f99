"""Programs over graphs."""

from torch.fx.passes import shape_prop

__all__ = ["shape_prop"]
