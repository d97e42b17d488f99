"""A batch normalisation folded into the layer before it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _check_evaluation(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a convolution that also does what the batch normalisation after it does; both in evaluation.

    >>> conv, bn = torch.nn.Conv2d(3, 4, 1).eval(), torch.nn.BatchNorm2d(4).eval()
    >>> torch.nn.utils.fuse_conv_bn_eval(conv, bn)
    Conv2d(3, 4, kernel_size=(1, 1), stride=(1, 1))
    """
    _check_evaluation(conv, bn)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion needs running statistics")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of `fuse_conv_bn_eval`. `transpose`: results' channels are dimension 1 of the weight."""
    bias = torch.zeros_like(bn_rm) if conv_b is None else conv_b
    scale = (torch.ones_like(bn_rm) if bn_w is None else bn_w) * torch.rsqrt(bn_rv + bn_eps)
    shift = torch.zeros_like(bn_rm) if bn_b is None else bn_b
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    bias = ((bias - bn_rm) * scale + shift).to(conv_w.dtype)
    return (
        Parameter(weight, conv_w.requires_grad),
        Parameter(bias, conv_w.requires_grad if conv_b is None else conv_b.requires_grad),
    )


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of a linear layer that also does what the batch normalisation after it does; both in evaluation."""
    _check_evaluation(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """The weight and bias of `fuse_linear_bn_eval`."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
