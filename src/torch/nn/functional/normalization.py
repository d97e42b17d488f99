"""Normalisation to mean 0 and variance 1, over a batch, a sample, a group of channels or an element's neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_torch = _C._VariableFunctions


def _check_values_per_channel(input: Tensor, values: int) -> None:
    if values == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel (dimension 1) normalised: `(x - mean) / sqrt(var + eps) * weight + bias`.

    In `training` mean and variance are those of the batch, and the running ones move by `momentum` towards them
    (towards
    the unbiased variance), in place; otherwise they are the running ones, which must be given. All of them have shape
    (C). ValueError when there is one value per channel to train on.

    >>> batch_norm(torch.tensor([[1.0], [3.0]]), None, None, training=True, eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    if training:
        _check_values_per_channel(input, input.numel() // max(1, input.size(1)))
    elif running_mean is None or running_var is None:
        raise ValueError("Expected running_mean and running_var to be defined when training=False")
    return _torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample normalised by its own mean and variance, or by the running ones.

    Shapes are those of `batch_norm`; the running ones, where given, move towards the mean over the samples.

    >>> instance_norm(torch.tensor([[[1.0, 3.0]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats and input.numel() == input.size(0) * input.size(1):
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    return _torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Groups of channels (dimension 1) of each sample normalised; then each channel is scaled and shifted.

    `num_groups` must divide the number of channels (RuntimeError); `weight` and `bias` have shape (C).

    >>> group_norm(torch.tensor([[1.0, 3.0, 0.0, 4.0]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    if input.dim() >= 2 and num_groups > 0 and input.size(1) % num_groups == 0:
        _check_values_per_channel(input, input.numel() // max(1, num_groups))
    return _torch.group_norm(input, num_groups, weight, bias, eps, False)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The last dimensions, which have the sizes `normalized_shape`, normalised; then each element scaled and shifted.

    `weight` and `bias` have that shape. RuntimeError where the input ends in other sizes.

    >>> layer_norm(torch.tensor([[1.0, 3.0]]), (2,), eps=0.0)
    tensor([[-1.,  1.]])
    """
    return _torch.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """The last dimensions divided by the root of their mean square (plus `eps`), then scaled by `weight`.

    `eps` defaults to the smallest step of the input's dtype.

    >>> rms_norm(torch.tensor([[3.0, 3.0]]), (2,))
    tensor([[1., 1.]])
    """
    return _torch.rms_norm(input, normalized_shape, weight, eps)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """`input` divided by its p-norm along `dim`, or by `eps` where that is larger.

    >>> normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    denominator = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / denominator if out is None else _torch.div(input, denominator, out=out)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """`input` divided by `(k + alpha * mean of squares) ** beta`, over `size` channels around each one (dimension 1).

    ValueError for less than three dimensions.

    >>> local_response_norm(torch.ones(1, 1, 1), 1, alpha=1.0, beta=1.0)
    tensor([[[0.5000]]])
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = input * input
    ends = (size // 2, (size - 1) // 2)
    if input.dim() == 3:
        padded = _C._nn.pad(squares.unsqueeze(1), (0, 0, *ends))
        means = _C._nn.avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    else:
        volume = squares.reshape(input.size(0), 1, input.size(1), input.size(2), -1)
        padded = _C._nn.pad(volume, (0, 0, 0, 0, *ends))
        means = _C._nn.avg_pool3d(padded, (size, 1, 1), stride=1).squeeze(1).reshape(input.shape)
    return input / (means * alpha + k) ** beta
