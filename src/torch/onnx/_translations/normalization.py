"""Normalizations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Var
from torch.onnx._rows import row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph


def _filled(g: Graph, given: Any, value: float, x: Var) -> Any:
    return g.constant(torch.full((x.size(1),), value, dtype=x.dtype)) if given is None else given


@row("batch_norm")
def batch_norm(
    g: Graph,
    x: Var,
    weight_or_mean: Any,
    bias_or_variance: Any,
    mean_or_weight: Any,
    variance_or_bias: Any,
    training: bool = False,
    momentum: Any = 0.1,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    weight, bias, mean, variance = weight_or_mean, bias_or_variance, mean_or_weight, variance_or_bias
    if training or mean is None:
        return _normalized(g, x, [0, *range(2, x.rank)], weight, bias, eps)
    weight, bias = _filled(g, weight, 1, x), _filled(g, bias, 0, x)
    return g.op("BatchNormalization", x, weight, bias, mean, variance, epsilon=float(eps))


def _affine(g: Graph, x: Any, rank: int, weight: Any, bias: Any) -> Any:
    for op, each in (("Mul", weight), ("Add", bias)):
        if each is not None:
            x = g.op(op, x, g.reshape(each, [-1] + [1] * (rank - 2)) if rank > 2 else each)
    return x


def _normalized(g: Graph, x: Var, axes: list[int], weight: Any, bias: Any, eps: float) -> Any:
    """With the mean and variance of these axes; `weight` and `bias` are of dimension 1."""
    deviation = g.op("Sub", x, g.reduce("ReduceMean", x, axes, True))
    variance = g.reduce("ReduceMean", Var(g.op("Mul", deviation, deviation).name, x.dtype, x.shape), axes, True)
    return _affine(g, g.op("Div", deviation, g.op("Sqrt", g.op("Add", variance, float(eps)))), x.rank, weight, bias)


@row("instance_norm")
def instance_norm(
    g: Graph, x: Var, weight: Any, bias: Any, mean: Any, variance: Any, use_input_stats: bool, momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    if not use_input_stats:
        return batch_norm(g, x, weight, bias, mean, variance, False, momentum, eps)
    if x.dtype == torch.float32:
        return g.op("InstanceNormalization", x, _filled(g, weight, 1, x), _filled(g, bias, 0, x), epsilon=float(eps))
    return _normalized(g, x, list(range(2, x.rank)), weight, bias, eps)


@row("group_norm")
def group_norm(
    g: Graph,
    x: Var,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    groups = Var(g.op("Reshape", x, [0, num_groups, -1]).name, x.dtype, ((x.shape or ())[0], num_groups, None))
    if x.dtype == torch.float32:
        ones, zeros = g.constant(torch.ones(num_groups)), g.constant(torch.zeros(num_groups))
        made = g.op("InstanceNormalization", groups, ones, zeros, epsilon=float(eps))
    else:
        made = _normalized(g, groups, [2], None, None, eps)
    return _affine(g, g.op("Reshape", made, g.sizes_of(x)), x.rank, weight, bias)


@row("layer_norm")
def layer_norm(
    g: Graph, x: Var, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any, **__: Any
) -> Any:
    shape = list(normalized_shape)
    if weight is None:
        weight = g.constant(torch.ones(shape, dtype=x.dtype))
    return g.op("LayerNormalization", x, weight, bias, axis=-len(shape), epsilon=float(eps))


@row("rms_norm")
def rms_norm(g: Graph, x: Var, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    axes = list(range(x.rank - len(normalized_shape), x.rank))
    squares = Var(g.op("Mul", x, x).name, x.dtype, x.shape)
    mean = g.reduce("ReduceMean", squares, axes, True)
    scale = g.op("Sqrt", g.op("Add", mean, torch.finfo(x.dtype).eps if eps is None else float(eps)))
    result = g.op("Div", x, scale)
    return result if weight is None else g.op("Mul", result, weight)


@row("local_response_norm")
def local_response_norm(g: Graph, x: Var, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    if size % 2 == 0:
        raise NotImplementedError("an even size, which ONNX places in another way")
    return g.op("LRN", x, size=size, alpha=float(alpha), beta=float(beta), bias=float(k))


@row("native_layer_norm")
def native_layer_norm(g: Graph, x: Var, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    axes = list(range(x.rank - len(normalized_shape), x.rank))
    mean = g.reduce("ReduceMean", x, axes, True)
    deviation = g.op("Sub", x, mean)
    variance = g.reduce("ReduceMean", Var(g.op("Mul", deviation, deviation).name, x.dtype, x.shape), axes, True)
    scale = g.op("Reciprocal", g.op("Sqrt", g.op("Add", variance, float(eps))))
    return [layer_norm(g, x, normalized_shape, weight, bias, eps), mean, scale]
