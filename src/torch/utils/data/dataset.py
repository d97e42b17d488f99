"""Datasets: what can be indexed, or iterated over."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torch import Generator, Tensor

Item = TypeVar("Item")


class Dataset(Generic[Item]):
    """Base of datasets: define `__getitem__(index)` and `__len__()`."""

    def __getitem__(self, index: Any) -> Item:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Item]) -> ConcatDataset[Item]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Item]):
    """Base of datasets that are a stream: define `__iter__()`."""

    def __iter__(self) -> Iterator[Item]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Item]) -> ChainDataset[Item]:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[Any]):
    """Tuples of rows of tensors that have the same first dimension."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class ConcatDataset(Dataset[Item]):
    """Datasets one after the other."""

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each of the datasets ends."""
        return list(accumulate(map(len, sequence)))

    def __init__(self, datasets: Iterable[Dataset[Item]]) -> None:
        self.datasets: list[Any] = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Item:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        number = bisect_right(self.cumulative_sizes, index)
        item: Item = self.datasets[number][index - (self.cumulative_sizes[number - 1] if number else 0)]
        return item


class ChainDataset(IterableDataset[Item]):
    """Streams one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Item]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)  # type: ignore[arg-type]


class StackDataset(Dataset[Any]):
    """Datasets of equal length side by side: items are tuples, or dicts if the datasets have names."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset takes datasets either by position or by name, and at least one")
        self.datasets: Any = kwargs or args
        lengths = {len(dataset) for dataset in (kwargs.values() if kwargs else args)}
        if len(lengths) != 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths.pop()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """The items at `indices`, by the datasets' own `__getitems__` where they have it."""
        if isinstance(self.datasets, dict):
            columns = [_items_of(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*(_items_of(dataset, indices) for dataset in self.datasets), strict=True))

    def __len__(self) -> int:
        return self._length


def _items_of(dataset: Any, indices: Sequence[int]) -> Sequence[Any]:
    fetch = getattr(dataset, "__getitems__", None)
    if fetch is None:
        return [dataset[index] for index in indices]
    items: Sequence[Any] = fetch(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class Subset(Dataset[Item]):
    """The items of a dataset at `indices`."""

    def __init__(self, dataset: Dataset[Item], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[number] for number in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[Item], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Item]]:
    """Splits a dataset at random into parts of `lengths` items, or fractions of them that add up to 1."""
    total = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = []
        for number, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"Fraction at index {number} is not between 0 and 1")
            sizes.append(math.floor(total * fraction))
        for number in range(total - sum(sizes)):
            sizes[number % len(sizes)] += 1
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = torch.randperm(total, generator=generator).tolist()
    ends = list(accumulate(sizes))
    return [Subset(dataset, indices[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
