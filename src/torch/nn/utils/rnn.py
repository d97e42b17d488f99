"""Sequences of different lengths as one tensor: padded, or packed step by step for recurrent networks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The four tensors of a `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences sorted by length and laid one step after the other: what recurrent networks take and give.

    data: (sum of lengths, *), all sequences' first elements, then the second ones of those that have one, and so on.
    batch_sizes: how many sequences have each step (int64, on the CPU). sorted_indices, unsorted_indices: the
    permutation from the caller's order, and back; None where the caller's order was that of the lengths. Make it with
    `pack_padded_sequence` or `pack_sequence`.

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        return super().__new__(cls, *_parts(data, batch_sizes, sorted_indices, unsorted_indices))

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """This with `data.to(...)`; `batch_sizes` stays on the CPU."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        elsewhere = {name: value for name, value in kwargs.items() if name not in ("device", "dtype")}
        sorted_indices, unsorted_indices = (
            None if indices is None else indices.to(data.device, **elsewhere)
            for indices in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, sorted_indices, unsorted_indices)

    def pin_memory(self) -> Any:
        """This with all tensors in pinned memory."""
        return type(self)(*(None if part is None else part.pin_memory() for part in self))  # type: ignore[arg-type]

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """This on a CUDA device."""
        return self.to(*args, **{"device": "cuda", **kwargs}) if not args else self.to(*args, **kwargs)

    def cpu(self, *args: Any, **kwargs: Any) -> Any:
        """This on the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def double(self) -> Any:
        """This with float64 data."""
        return self.to(dtype=torch.double)

    def float(self) -> Any:
        """This with float32 data."""
        return self.to(dtype=torch.float)

    def half(self) -> Any:
        """This with float16 data."""
        return self.to(dtype=torch.half)

    def long(self) -> Any:
        """This with int64 data."""
        return self.to(dtype=torch.long)

    def int(self) -> Any:
        """This with int32 data."""
        return self.to(dtype=torch.int)

    def short(self) -> Any:
        """This with int16 data."""
        return self.to(dtype=torch.short)

    def char(self) -> Any:
        """This with int8 data."""
        return self.to(dtype=torch.int8)

    def byte(self) -> Any:
        """This with uint8 data."""
        return self.to(dtype=torch.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return bool(self.data.is_pinned())


def _parts(
    data: Any, batch_sizes: Tensor | None, sorted_indices: Tensor | None, unsorted_indices: Tensor | None
) -> tuple[Any, ...]:
    if batch_sizes is None:  # older programs: PackedSequence((data, batch_sizes))
        if not isinstance(data, (list, tuple)) or len(data) != 2:
            raise AssertionError("PackedSequence takes data and batch_sizes")
        return (*data, sorted_indices, unsorted_indices)
    if batch_sizes.device.type != "cpu":
        raise ValueError(
            "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They "
            "should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
            "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
        )
    if unsorted_indices is None:
        unsorted_indices = invert_permutation(sorted_indices)
    return data, batch_sizes, sorted_indices, unsorted_indices


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation (n) that undoes `permutation` (n); None of None.

    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = torch.arange(permutation.numel(), device=permutation.device)
    return torch.empty_like(permutation).scatter_(0, permutation, places.to(permutation.dtype))


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (time, batch, *), or (batch, time, *) with `batch_first`, as a `PackedSequence`.

    `lengths`: one for each sequence, on the CPU; the longest first unless `enforce_sorted` is False. RuntimeError for a
    length of 0, lengths out of order, or another number of them.

    >>> padded = torch.tensor([[1, 2], [3, 0]])
    >>> torch.nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    if not isinstance(lengths, torch.Tensor):
        lengths = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")
    elif lengths.device.type != "cpu":
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D {lengths.device} {lengths.dtype} tensor"
        )
    else:
        lengths = lengths.to(torch.int64)
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = _pack(input.transpose(0, 1) if batch_first else input, lengths.tolist())
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def _pack(input: Tensor, lengths: list[int]) -> tuple[Tensor, Tensor]:
    """The steps of (time, batch, *) that sequences have, one after the other, and how many each step is of."""
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(lengths) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={input.size(1)})"
        )
    if lengths[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(later > earlier for earlier, later in pairwise(lengths)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do"
            " not need ONNX exportability."
        )
    if lengths[0] > input.size(0):
        raise RuntimeError(f"start (0) + length ({lengths[0]}) exceeds dimension size ({input.size(0)}).")
    sizes, parts, start = [], [], 0
    for count in range(len(lengths), 0, -1):  # runs of steps that the same number of sequences have
        end = lengths[count - 1]
        if end > start:
            parts.append(input[start:end, :count].reshape(-1, *input.shape[2:]))
            sizes += [count] * (end - start)
            start = end
    return torch.cat(parts), torch.tensor(sizes, dtype=torch.int64)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """A `PackedSequence` as padded sequences (time, batch, *), or (batch, time, *), and their lengths (int64).

    `total_length`: how long to pad to, at least the longest (ValueError).

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    data, sizes = sequence.data, sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                f"Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    rows = data.new_full((longest * sizes[0], *data.shape[1:]), padding_value)
    places = torch.cat([torch.arange(size) + step * sizes[0] for step, size in enumerate(sizes)]).to(data.device)
    padded = rows.index_put((places,), data).reshape(longest, sizes[0], *data.shape[1:])
    lengths = torch.tensor([sum(size > number for size in sizes) for number in range(sizes[0])], dtype=torch.int64)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences (length, *) padded to the longest: (time, batch, *), or (batch, time, *) with `batch_first`.

    `padding_side`: "right" or "left".

    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, torch.Tensor) and not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    items = list(sequences.unbind(0) if isinstance(sequences, torch.Tensor) else sequences)
    if not items:
        raise RuntimeError("received an empty list of sequences")
    longest = max(item.size(0) for item in items)
    if longest == 0:
        padded = items[0].new_full((len(items), 0, *items[0].shape[1:]), padding_value)
    else:
        rows = []
        for item in items:
            missing = longest - item.size(0)
            filler = item.new_full((missing, *items[0].shape[1:]), padding_value)
            pair = (filler, item) if padding_side == "left" else (item, filler)
            rows.append(torch.cat(pair) if missing else item)
        padded = torch.stack(rows)
    return padded if batch_first else padded.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each of its length.

    >>> torch.nn.utils.rnn.unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows.unbind(0), lengths, strict=True)]


def pack_sequence(sequences: Iterable[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, *) as a `PackedSequence`; the longest first unless `enforce_sorted` is False.

    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1]), torch.tensor([2, 3])], enforce_sorted=False).data
    tensor([2, 1, 3])
    """
    items = list(sequences)
    lengths = torch.as_tensor([item.size(0) for item in items])
    return pack_padded_sequence(pad_sequence(items), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a `PackedSequence`, in the caller's order.

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> torch.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
