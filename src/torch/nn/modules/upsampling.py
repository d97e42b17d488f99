"""Layers that change the size of signals, images and volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """(N, C, L), (N, C, H, W) or (N, C, D, H, W) in another `size`, or its size times `scale_factor`.

    Options are those of `torch.nn.functional.interpolate`.

    >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[1., 1., 3., 3.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`input` in its new size."""
        return functional.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Modules pickled long ago had no recompute_scale_factor, and True was the rule."""
        state.setdefault("recompute_scale_factor", True)
        super().__setstate__(state)

    def extra_repr(self) -> str:
        wanted = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{wanted}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images (N, C, H, W) in another size, of the nearest elements.

    >>> torch.nn.UpsamplingNearest2d(scale_factor=2)(torch.tensor([[[[1.0, 3.0]]]]))
    tensor([[[[1., 1., 3., 3.],
              [1., 1., 3., 3.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images (N, C, H, W) in another size, bilinearly, with the corners kept in their places.

    >>> torch.nn.UpsamplingBilinear2d(size=(1, 3))(torch.tensor([[[[1.0, 3.0]]]]))
    tensor([[[[1., 2., 3.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
