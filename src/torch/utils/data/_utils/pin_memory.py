"""Batches in memory that CUDA devices copy from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


def pin_memory(data: Any, device: Any = None) -> Any:
    """The batch, pinned where there is a CUDA device; as it is elsewhere."""
    if not torch.cuda.is_available():
        return data
    from torch.utils._pytree import tree_map

    return tree_map(lambda value: value.pin_memory() if hasattr(value, "pin_memory") else value, data)


def pin_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches, pinned. The next one is fetched and pinned by a thread while this one is used.

    The first one is fetched by the caller's: workers start then, and a fork beside a thread that works is not safe.
    """
    from concurrent.futures import ThreadPoolExecutor

    end = object()

    def pinned(batch: Any) -> Any:
        return batch if batch is end else pin_memory(batch)

    with ThreadPoolExecutor(1, "pin_memory") as thread:
        try:
            coming = thread.submit(pinned, next(batches, end))
            while (batch := coming.result()) is not end:
                coming = thread.submit(lambda: pinned(next(batches, end)))
                yield batch
        finally:
            thread.shutdown()  # the iterator cannot be closed while the thread is in it
            batches.close()  # type: ignore[attr-defined]
