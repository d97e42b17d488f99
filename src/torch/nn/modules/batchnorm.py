"""Normalisation of channels over a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch import Tensor


class _NormBase(Module):
    """What batch and instance normalisation have: a scale and a shift per channel, and running moments."""

    _version = 2  # 1 had no num_batches_tracked
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(torch.empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        tracked = track_running_stats
        self.register_buffer("running_mean", torch.zeros(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", torch.ones(num_features, device=device, dtype=dtype) if tracked else None)
        counter = torch.tensor(0, dtype=torch.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", counter)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets the batches seen: mean 0, variance 1."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forgets the batches seen; scale 1, shift 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say which inputs it takes")

    def extra_repr(self) -> str:
        """The options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        key = prefix + "num_batches_tracked"
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = torch.tensor(0, dtype=torch.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    allowed: tuple[int, ...]

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.allowed:
            words = " or ".join(f"{count}D" for count in self.allowed)
            raise ValueError(f"expected {words} input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """`input` with every channel normalised; in training the running moments move."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or self.running_mean is None
        reads_running = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if reads_running else None,
            self.running_var if reads_running else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Normalises each channel of (N, C) or (N, C, L) over the batch, then scales and shifts it.

    Options are those of `BatchNorm2d`.

    >>> torch.nn.BatchNorm1d(1, eps=0.0, affine=False)(torch.tensor([[1.0], [3.0]]))
    tensor([[-1.],
            [ 1.]])
    """

    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises each channel of (N, C, H, W) over the batch, then scales and shifts it.

    y = (x - mean) / sqrt(var + eps) * weight + bias. In training mean and (biased) variance are those of the batch, and
    `running_mean` and `running_var` (of the unbiased variance) move towards them by `momentum`; in evaluation the
    running
    ones are used. All have the shape (num_features).

    eps: what keeps a division by 0 away.
    momentum: the share of a new batch; None gives every batch the same share.
    affine: whether there are `weight` and `bias` (the latter only with `bias`).
    track_running_stats: False normalises by the batch in evaluation, too.

    ValueError for an input of other dimensions, or of one value per channel in training.

    >>> layer = torch.nn.BatchNorm2d(3)
    >>> layer(torch.randn(4, 3, 8, 8)).shape
    torch.Size([4, 3, 8, 8])
    >>> layer.num_batches_tracked
    tensor(1)
    """

    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of (N, C, D, H, W) over the batch, then scales and shifts it. Options as in
    `BatchNorm2d`.

    >>> torch.nn.BatchNorm3d(2)(torch.zeros(2, 2, 1, 2, 2)).shape
    torch.Size([2, 2, 1, 2, 2])
    """

    allowed = (5,)
