"""Normalisation of channels over a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter, is_lazy

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
            own = self.num_batches_tracked
            known = own is not None and not own.is_meta
            state_dict[key] = own if known else torch.tensor(0, dtype=torch.int64)
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
        factor = self._count_batch()
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

    def _count_batch(self) -> float:
        """How far the running moments move for this batch."""
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches
                factor = 1.0 / float(self.num_batches_tracked)
        return factor


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


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm` of (N, C, *) over the batches of all processes; with one process, and in evaluation, over its own.

    In training every process of `process_group` (None: of all) calls it, and its backward, on the CPU, too.
    `convert_sync_batchnorm` puts it in the place of all BatchNorm layers of a network.

    >>> torch.nn.SyncBatchNorm(3)
    SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """`input` with every channel normalised by the moments of all processes' inputs."""
        group = self._members()
        if group is None:
            return super().forward(input)
        from torch.distributed.nn.functional import all_reduce

        self._check_input_dim(input)
        factor = self._count_batch()
        wide = input.float() if input.dtype in (torch.float16, torch.bfloat16) else input
        dims, channels = [0, *range(2, input.dim())], (1, -1, *[1] * (input.dim() - 2))
        count = wide.new_full((1,), input.numel() // input.shape[1])
        total = all_reduce(torch.cat([wide.sum(dims), count]), group=group)
        count = total[-1].detach()
        mean = total[:-1] / count
        centered = wide - mean.view(channels)
        variance = all_reduce((centered * centered).sum(dims), group=group) / count
        if self.track_running_stats and self.running_mean is not None and self.running_var is not None:
            with torch.no_grad():
                self.running_mean.lerp_(mean.to(self.running_mean.dtype), factor)
                unbiased = variance * (count / (count - 1).clamp(min=1))
                self.running_var.lerp_(unbiased.to(self.running_var.dtype), factor)
        result = centered * (variance + self.eps).rsqrt().view(channels)
        if self.weight is not None:
            result = result * self.weight.view(channels)
        if self.bias is not None:
            result = result + self.bias.view(channels)
        return result.to(input.dtype)

    def _members(self) -> Any:
        """The group whose moments are taken, None where they are this process's own."""
        from torch import distributed

        if not (self.training and distributed.is_initialized()):
            return None
        group = distributed.group.WORLD if self.process_group is None else self.process_group
        return group if distributed.get_world_size(group) > 1 else None

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """`module` with SyncBatchNorm in the place of all BatchNorm layers, which keep their weights and moments."""
        result = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            if module.affine:
                with torch.no_grad():
                    result.weight, result.bias = module.weight, module.bias
            result.running_mean, result.running_var = module.running_mean, module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNormBase(LazyModuleMixin, _NormBase):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__(0, eps, momentum, False, False, **made, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = torch.tensor(0, dtype=torch.int64, device=device)

    def reset_parameters(self) -> None:
        """Forgets the batches seen; scale 1, shift 0: once they have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Takes the channels of the input for `num_features`."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        if self.affine:
            for value in (self.weight, self.bias):
                if is_lazy(value):
                    value.materialize((self.num_features,))  # type: ignore[union-attr]
        if self.track_running_stats:
            self.running_mean.materialize((self.num_features,))  # type: ignore[union-attr]
            self.running_var.materialize((self.num_features,))  # type: ignore[union-attr]
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm1d` whose `num_features` are the channels of its first input.

    >>> torch.nn.LazyBatchNorm1d()(torch.zeros(1, 3, 4)).shape
    torch.Size([1, 3, 4])
    """

    cls_to_become = BatchNorm1d
    allowed = (2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm2d` whose `num_features` are the channels of its first input.

    >>> torch.nn.LazyBatchNorm2d()(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d
    allowed = (4,)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm3d` whose `num_features` are the channels of its first input.

    >>> torch.nn.LazyBatchNorm3d()(torch.zeros(1, 3, 2, 4, 4)).shape
    torch.Size([1, 3, 2, 4, 4])
    """

    cls_to_become = BatchNorm3d
    allowed = (5,)
