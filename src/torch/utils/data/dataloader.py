"""`DataLoader`: batches of a dataset, made in this process or by workers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import torch
from torch.utils.data import _workers
from torch.utils.data._utils.collate import default_collate, default_convert
from torch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from torch.utils.data._utils.pin_memory import pin_ahead, pin_memory as pinned
from torch.utils.data._utils.worker import get_worker_info as get_worker_info
from torch.utils.data.dataset import Dataset, Item, IterableDataset
from torch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

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
    """One iteration over a loader. Subclasses say in `_next_data` where the next batch comes from.

    The attributes have PyTorch's names: other libraries' loaders have iterators of this class.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._shared_seed: int | None = None
        self._pg: Any = None
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        self._pin_memory = loader.pin_memory and torch.cuda.is_available()
        self._pin_memory_device = loader.pin_memory_device or None
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        # PyTorch draws this number whenever an iteration starts, even without workers, whose seeds it gives.
        self._base_seed = int(torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item())
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0
        self._profile_name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        """Begins anew."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        promised = self._IterableDataset_len_called
        if self._dataset_kind == _DatasetKind.Iterable and promised is not None and self._num_yielded > promised:
            warnings.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {promised} (when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched. With several workers, each "
                "should give a part of the stream only: torch.utils.data.get_worker_info() tells it which.",
                stacklevel=2,
            )
        return data

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Without workers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        data = self._dataset_fetcher.fetch(self._next_index())
        return pinned(data) if self._pin_memory else data


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """With workers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        stream = self._dataset_kind == _DatasetKind.Iterable
        batches = loader._from_workers(self._base_seed, None if stream else self._sampler_iter)
        self._batches = pin_ahead(batches) if self._pin_memory else batches

    def _next_data(self) -> Any:
        return next(self._batches)


# What a DataLoader has made its samplers of.
_FIXED = frozenset({"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"})


class DataLoader(Generic[Item]):
    """Iterates over batches of a dataset. With `batch_size=None` single items come out as they are.

    `num_workers` processes load ahead, `prefetch_factor` (2) batches each; 0 loads in this process. `timeout` (seconds)
    limits the wait for a batch. With `pin_memory`, batches are in memory that CUDA devices copy from beside other work
    (`batch.cuda(non_blocking=True)`); without a device it warns and changes nothing.
    Batches always come in the order of the sampler; `in_order=False` and `pin_memory_device` are accepted.
    """

    _is_ready = False

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
        stream = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if stream else _DatasetKind.Map
        self._IterableDataset_len_called: int | None = None
        self._check_workers(num_workers, timeout, multiprocessing_context, prefetch_factor, persistent_workers)
        self._check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if stream:
            sampler = _InfiniteConstantSampler()
        elif sampler is None:
            sampler = RandomSampler(self.dataset, generator=generator) if shuffle else SequentialSampler(self.dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers = persistent_workers
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self._pool: Any = None  # persistent workers
        self.check_worker_number_rationality()
        self._is_ready = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_ready and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

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
        if self._dataset_kind == _DatasetKind.Iterable:
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

    def check_worker_number_rationality(self) -> None:
        """Warns of more workers than there are processors for this process."""
        if not self.num_workers or not hasattr(os, "sched_getaffinity"):
            return
        available = len(os.sched_getaffinity(0))
        if self.num_workers > available:
            warnings.warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                f"of worker in current system is {available}: more of them wait for each other.",
                stacklevel=3,
            )

    @property
    def _auto_collation(self) -> bool:
        """Whether items are put together in batches."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """What gives the indices of each batch, or of each item."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        return self._get_iterator()

    def _get_iterator(self) -> _BaseDataLoaderIter:
        return _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)

    def _from_workers(self, base_seed: int, indices: Iterator[Any] | None) -> Iterator[Any]:
        """The batches with these indices, or of a stream, which has none."""
        if indices is None:
            fetch = partial(_workers.fetch_stream, self.collate_fn, self.batch_size, self.drop_last)
        else:
            fetch = partial(_workers.fetch_items, self.collate_fn, self._auto_collation)
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
            yield from pool.batches(indices)
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
        if self._dataset_kind == _DatasetKind.Iterable:
            count = self._IterableDataset_len_called = len(self.dataset)
            if self.batch_size is None:
                return count
            return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
        return len(self._index_sampler)


def _sharding_worker_init_fn(
    worker_init_fn: Callable[[int], None] | None, world_size: int, rank_id: int, worker_id: int
) -> None:
    """What prepares a worker of a pipe: pipes of this torch are not split among workers."""
    if worker_init_fn is not None:
        worker_init_fn(worker_id)
