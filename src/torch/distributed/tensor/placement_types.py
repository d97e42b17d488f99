"""How a tensor lies along one dimension of a mesh: in parts, whole on each member, or as terms of a sum.

Placements are values that programs make and compare, also where nothing is distributed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import _unavailable
from torch.distributed import REASON

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """What all placements are."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each member has a part, of dimension `dim` if that is given."""
        return False

    def is_replicate(self) -> bool:
        """Whether each member has the whole."""
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each member has a term, of a reduction by `reduce_op` if that is given."""
        return False


@dataclass(frozen=True)
class Shard(Placement):
    """Each member has a part of dimension `dim`."""

    dim: int

    def __post_init__(self) -> None:
        if not hasattr(self.dim, "__index__"):
            raise TypeError(f"Shard takes the number of a dimension, not {self.dim!r}")

    def is_shard(self, dim: int | None = None) -> bool:
        return dim is None or dim == self.dim

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """The size of a member's part, and where it begins: of equal parts rounded up, the last ones are smaller."""
        full = -(-curr_local_size // num_chunks)
        begin = min(full * rank, curr_local_size)
        return min(full, curr_local_size - begin), begin

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class _StridedShard(Shard):
    """A part of each of `split_factor` pieces."""

    split_factor: int

    def is_shard(self, dim: int | None = None) -> bool:
        return False

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Each member has the whole."""

    def is_replicate(self) -> bool:
        return True

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """Each member has a term; `reduce_op` makes the whole of them."""

    LINEAR_REDUCE_OPS: ClassVar[tuple[str, ...]] = ("sum", "avg")
    ALL_REDUCE_OPS: ClassVar[tuple[str, ...]] = (*LINEAR_REDUCE_OPS, "min", "max", "product")

    reduce_op: str = "sum"

    def is_partial(self, reduce_op: str | None = None) -> bool:
        return reduce_op is None or reduce_op == self.reduce_op

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
