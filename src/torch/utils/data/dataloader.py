"""`DataLoader`: batches of a dataset, made in this process or by workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import torch
from torch.utils.data import _workers
from torch.utils.data._utils.collate import default_collate, default_convert
from torch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from torch.utils.data._utils.pin_memory import pin_ahead, pin_memory as pinned
from torch.utils.data._workers import get_worker_info as get_worker_info
from torch.utils.data.dataset import Dataset, Item, IterableDataset
from torch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Generator

# Names that libraries annotate with.
_worker_init_fn_t: TypeAlias = Callable[[int], None]
_collate_fn_t: TypeAlias = Callable[[list[Any]], Any]


class _DatasetKind:
    """The kinds of datasets, and what fetches batches from each."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        """A fetcher for a dataset of `kind`."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler:
    """None, for ever: the indices of a stream."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class _BaseDataLoaderIter:
    """What PyTorch's iterators are instances of, for programs that ask; those of this file are generators."""


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """The same, without workers."""


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """The same, with workers."""


class DataLoader(Generic[Item]):
    """Iterates over batches of a dataset. With `batch_size=None` single items come out as they are.

    `num_workers` processes load ahead, `prefetch_factor` (2) batches each; 0 loads in this process. `timeout` (seconds)
    limits the wait for a batch. With `pin_memory`, batches are in memory that CUDA devices copy from beside other work
    (`batch.cuda(non_blocking=True)`); without a device it warns and changes nothing.
    Batches always come in the order of the sampler; `in_order=False` and `pin_memory_device` are accepted.
    """

    def __init__(
        self,
        dataset: Dataset[Item],
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
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if pin_memory and not torch.cuda.is_available():
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=2,
            )
        self.dataset: Any = dataset  # most have a length, and items by index; a stream has neither
        self._stream = isinstance(dataset, IterableDataset)
        self._check_workers(num_workers, timeout, multiprocessing_context, prefetch_factor, persistent_workers)
        self._check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None and not self._stream:
            sampler = RandomSampler(self.dataset, generator=generator) if shuffle else SequentialSampler(self.dataset)
        if batch_size is not None and batch_sampler is None and not self._stream:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self._batched = batch_size is not None or batch_sampler is not None
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers = persistent_workers
        self.collate_fn = collate_fn or (default_collate if self._batched else default_convert)
        self._pool: Any = None  # persistent workers

    @staticmethod
    def _check_workers(
        num_workers: int, timeout: float, context: Any, prefetch_factor: int | None, persistent_workers: bool
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0:
            if prefetch_factor is not None:
                raise ValueError(
                    "prefetch_factor option could only be specified in multiprocessing."
                    "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
                )
            if persistent_workers:
                raise ValueError("persistent_workers option needs num_workers > 0")
            if context is not None:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0)"
                )
        elif prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError("prefetch_factor option should be positive")

    def _check_sampling(
        self, batch_size: int | None, shuffle: bool | None, sampler: object, batch_sampler: object, drop_last: bool
    ) -> None:
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
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws this number whenever an iteration starts, even without workers, whose seeds it gives.
        base_seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator).item())
        if self._stream:
            fetch = partial(_workers.fetch_stream, self.collate_fn, self.batch_size, self.drop_last)
        else:
            fetch = partial(_workers.fetch_items, self.collate_fn, self._batched)
        batches = self._from_workers(fetch, base_seed) if self.num_workers else self._from_here(fetch)
        if not self.pin_memory or not torch.cuda.is_available():
            return batches
        return pin_ahead(batches) if self.num_workers else map(pinned, batches)

    def _indices(self) -> Iterator[Any] | None:
        """What to fetch for each batch; None for a stream."""
        if self._stream:
            return None
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]

    def _from_here(self, fetch: Callable[[Any, Any], Any]) -> Iterator[Any]:
        indices = self._indices()
        if indices is not None:
            for batch in indices:
                yield fetch(self.dataset, batch)
            return
        stream = iter(self.dataset)
        while (batch := fetch(stream, None)) is not _workers._End:
            yield batch

    def _from_workers(self, fetch: Callable[[Any, Any], Any], base_seed: int) -> Iterator[Any]:
        pool = self._pool
        if pool is None:
            pool = _workers.WorkerPool(
                self.dataset,
                fetch,
                base_seed,
                count=self.num_workers,
                timeout=self.timeout,
                prefetch=self.prefetch_factor,
                prepare=self.worker_init_fn,
                context=self.multiprocessing_context,
            )
        else:
            pool.restart()
        self._pool = None
        finished = False
        try:
            yield from pool.batches(self._indices())
            finished = True
        finally:
            # Workers of an iteration that was left half way may still be busy with its batches.
            if self.persistent_workers and finished:
                self._pool = pool
            else:
                pool.close()

    def __del__(self) -> None:
        pool = self.__dict__.get("_pool")
        if pool is not None:
            pool.close()

    def __len__(self) -> int:
        if self._stream:
            count = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
