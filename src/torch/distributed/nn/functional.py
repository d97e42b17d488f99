"""Collectives with gradients: results are new tensors, and backward is a collective, too, that all members call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.autograd import Function
from torch.distributed import REASON, _collectives as collectives
from torch.distributed._groups import ReduceOp, find_group, get_group_rank

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Tensor) -> Tensor:
        ctx.root, ctx.group = src, group
        answer = tensor.clone()
        collectives.broadcast(answer, src, group)
        return answer

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        total = _Reduce.apply(ctx.root, ReduceOp.SUM, ctx.group, grad)
        return None, None, total if _is_root(ctx.root, ctx.group) else torch.zeros_like(total)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: ReduceOp, group: Any, tensor: Tensor) -> Tensor:
        ctx.root, ctx.group = dst, group
        answer = tensor.clone()
        collectives.reduce(answer, dst, op, group)
        return answer

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return None, None, None, _Broadcast.apply(ctx.root, ctx.group, grad)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: ReduceOp, group: Any, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        answer = tensor.clone()
        collectives.all_reduce(answer, op, group)
        return answer

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        answer = [torch.empty_like(tensor) for _ in range(find_group(group).size())]
        collectives.all_gather(answer, tensor, group)
        return tuple(answer)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        total = torch.empty_like(grads[0])
        collectives.reduce_scatter(total, list(grads), ReduceOp.SUM, ctx.group)
        return None, total


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: ReduceOp, group: Any, answer: Tensor, *tensors: Tensor) -> Tensor:
        ctx.group = group
        answer = torch.empty_like(answer)
        collectives.reduce_scatter(answer, list(tensors), op, group)
        return answer

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return None, None, None, *_AllGather.apply(ctx.group, grad.contiguous())


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.root, ctx.group = dst, group
        parts = [torch.zeros_like(tensor) for _ in range(find_group(group).size())]
        collectives.gather(tensor, parts if _is_root(dst, group) else None, dst, group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        return None, None, _Scatter.apply(ctx.root, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Tensor) -> Tensor:
        ctx.root, ctx.group = src, group
        answer = torch.zeros_like(tensors[0])
        collectives.scatter(answer, list(tensors) if _is_root(src, group) else None, src, group)
        return answer

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        return None, None, *_Gather.apply(ctx.root, ctx.group, grad)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, outputs: list[Tensor], *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.group, ctx.shapes = group, [tensor.shape for tensor in tensors]
        answer = [torch.empty_like(output) for output in outputs]
        collectives.all_to_all(answer, list(tensors), group)
        return tuple(answer)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        places = [grads[0].new_empty(shape) for shape in ctx.shapes]
        return None, None, *_AllToAll.apply(ctx.group, places, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Tensor, outputs: Any, inputs: Any, tensor: Tensor) -> Tensor:
        ctx.group, ctx.splits, ctx.shape = group, (outputs, inputs), tensor.shape
        answer = torch.empty_like(output)
        collectives.all_to_all_single(answer, tensor, outputs, inputs, group)
        return answer

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        outputs, inputs = ctx.splits
        back = _AllToAllSingle.apply(ctx.group, grad.new_empty(ctx.shape), inputs, outputs, grad.contiguous())
        return None, None, None, None, back


def _is_root(rank: int, group: Any) -> bool:
    among = find_group(group)
    return get_group_rank(among, rank) == among.rank()


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """Rank `src`'s tensor; its gradient is the sum of all members'."""
    answer: Tensor = _Broadcast.apply(src, group, tensor)
    return answer


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum (`op`) of all tensors, at rank `dst`, whose gradient goes to all."""
    answer: Tensor = _Reduce.apply(dst, op, group, tensor)
    return answer


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum (`op`) of all tensors; gradients are reduced in the same way."""
    answer: Tensor = _AllReduce.apply(op, group, tensor)
    return answer


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """All members' tensors."""
    answer: tuple[Tensor, ...] = _AllGather.apply(group, tensor)
    return answer


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """All members' tensors at rank `dst`, zeros elsewhere."""
    answer: tuple[Tensor, ...] = _Gather.apply(dst, group, tensor)
    return answer


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """This member's of rank `src`'s tensors; others give tensors of the same shape."""
    answer: Tensor = _Scatter.apply(src, group, *tensors)
    return answer


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The sum (`op`) of what all members have for this one; `output` says the shape."""
    answer: Tensor = _ReduceScatter.apply(op, group, output, *input_list)
    return answer


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """What the members have for this one; `output_tensor_list` says the shapes."""
    answer: tuple[Tensor, ...] = _AllToAll.apply(group, output_tensor_list, *input_tensor_list)
    return answer


def all_to_all_single(
    output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None
) -> Tensor:
    """The rows that the members have for this one; `output` says the shape."""
    answer: Tensor = _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)
    return answer


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
