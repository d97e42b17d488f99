"""Normalisation of the channels of each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.batchnorm import _LazyNormBase, _NormBase

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class _InstanceNorm(_NormBase):
    dimensions: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (self.dimensions + 1, self.dimensions + 2):
            raise ValueError(
                f"expected {self.dimensions + 1}D or {self.dimensions + 2}D input (got {input.dim()}D input)"
            )

    def forward(self, input: Tensor) -> Tensor:
        """`input` with every channel of every sample normalised."""
        self._check_input_dim(input)
        channels = input.size(-self.dimensions - 1)
        if self.affine and channels != self.num_features:
            raise ValueError(f"expected input's size at dim={input.dim() - self.dimensions - 1} to match num_features "
                             f"({self.num_features}), but got: {channels}.")  # fmt: skip
        single = input.dim() == self.dimensions + 1
        result = functional.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return result.squeeze(0) if single else result


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, L) or (C, L).

    y = (x - mean) / sqrt(var + eps), and `* weight + bias` with `affine`. With `track_running_stats` evaluation uses
    running moments, which training moves by `momentum`.

    >>> torch.nn.InstanceNorm1d(1, eps=0.0)(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.,  1.]]])
    """

    dimensions = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, H, W) or (C, H, W). Options as in `InstanceNorm1d`.

    >>> torch.nn.InstanceNorm2d(3)(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 3, 4, 4])
    """

    dimensions = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, D, H, W) or (C, D, H, W). Options as in `InstanceNorm1d`.

    >>> torch.nn.InstanceNorm3d(3)(torch.zeros(1, 3, 2, 4, 4)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    dimensions = 3


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm1d` whose `num_features` are the channels of its first input.

    >>> torch.nn.LazyInstanceNorm1d()(torch.zeros(1, 3, 4)).shape
    torch.Size([1, 3, 4])
    """

    cls_to_become = InstanceNorm1d
    dimensions = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm2d` whose `num_features` are the channels of its first input.

    >>> torch.nn.LazyInstanceNorm2d()(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d
    dimensions = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An `InstanceNorm3d` whose `num_features` are the channels of its first input.

    >>> torch.nn.LazyInstanceNorm3d()(torch.zeros(1, 3, 2, 4, 4)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    cls_to_become = InstanceNorm3d
    dimensions = 3
