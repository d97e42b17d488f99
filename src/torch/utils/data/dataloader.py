"""`DataLoader`: batches of a dataset, made in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data.dataset import IterableDataset
from torch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch import Generator


def default_collate(batch: Sequence[Any]) -> Any:
    """Items as one batch: tensors and arrays are stacked, numbers become tensors, containers are gone through.

    Raises TypeError for other types, RuntimeError for items of different lengths.
    """
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(list(batch), 0)
    if type(first).__module__ == "numpy" and hasattr(first, "dtype"):
        if getattr(first, "shape", ()) == ():
            return torch.as_tensor(batch)
        return default_collate([torch.as_tensor(item) for item in batch])
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        collated = {key: default_collate([item[key] for item in batch]) for key in first}
        return type(first)(collated) if type(first) is not dict else collated  # type: ignore[call-arg]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(samples) for samples in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(samples) for samples in zip(*batch, strict=True)]
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found " + str(type(first))
    )


def _identity(item: Any) -> Any:
    return item


class DataLoader:
    """Iterates over batches of a dataset. With `batch_size=None` single items come out as they are."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Sequence[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        self._refuse_workers(
            num_workers=num_workers,
            pin_memory=pin_memory,
            timeout=timeout,
            worker_init_fn=worker_init_fn,
            multiprocessing_context=multiprocessing_context,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
        )
        self._stream = isinstance(dataset, IterableDataset)
        if self._stream:
            for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not self._stream:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and not self._stream:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self._batched = batch_size is not None or batch_sampler is not None
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.pin_memory = num_workers, pin_memory
        self.collate_fn = collate_fn or (default_collate if self._batched else _identity)

    @staticmethod
    def _refuse_workers(**options: Any) -> None:
        for name, value in options.items():
            if value:
                raise NotImplementedError(
                    f"DataLoader({name}={value!r}) is not supported: it loads in this process (num_workers=0)"
                )

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws one number for its workers' seeds whenever an iteration starts, even without workers.
        torch.empty((), dtype=torch.int64).random_(generator=self.generator)
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if self._stream:
            items = iter(self.dataset)
            if self.batch_size is None:
                yield from map(self.collate_fn, items)
                return
            while batch := list(islice(items, self.batch_size)):
                if len(batch) == self.batch_size or not self.drop_last:
                    yield self.collate_fn(batch)
            return
        if self.batch_sampler is not None:
            fetch_all = getattr(self.dataset, "__getitems__", None)
            for indices in self.batch_sampler:
                items = fetch_all(indices) if fetch_all else [self.dataset[index] for index in indices]
                yield self.collate_fn(items)
            return
        assert self.sampler is not None
        for index in self.sampler:
            yield self.collate_fn(self.dataset[index])

    def __len__(self) -> int:
        if self._stream:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
