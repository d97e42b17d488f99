"""Hooks that sum up a bucket's gradients, as they are or in 16 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._groups import find_group

if TYPE_CHECKING:
    from torch import Tensor
    from torch.distributed._reducer import GradBucket
    from torch.futures import Future

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]


def _sum_of(group: Any, tensor: Tensor) -> Future[Any]:
    among = find_group(group)
    work = among.reduce(tensor.div_(among.size()), "sum", None, async_op=True)
    assert work is not None
    return work.get_future()


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The average, as without a hook."""
    return _sum_of(process_group, bucket.buffer()).then(lambda future: future.value()[0])


def _compressed(dtype: torch.dtype, group: Any, bucket: GradBucket) -> Future[Tensor]:
    buffer = bucket.buffer()
    return _sum_of(group, buffer.to(dtype)).then(lambda future: buffer.copy_(future.value()[0]))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The average, sent and summed up in float16."""
    return _compressed(torch.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """The average, sent and summed up in bfloat16."""
    return _compressed(torch.bfloat16, process_group, bucket)


def _wrapped(dtype: torch.dtype, hook: Any) -> Any:
    def run(state: Any, bucket: GradBucket) -> Future[Tensor]:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))

        def back(future: Future[Tensor]) -> Tensor:
            bucket.set_buffer(buffer)
            return buffer.copy_(future.value())

        return hook(state, bucket).then(back)

    return run


def fp16_compress_wrapper(hook: Any) -> Any:
    """The hook, with buckets of float16."""
    return _wrapped(torch.float16, hook)


def bf16_compress_wrapper(hook: Any) -> Any:
    """The hook, with buckets of bfloat16."""
    return _wrapped(torch.bfloat16, hook)
