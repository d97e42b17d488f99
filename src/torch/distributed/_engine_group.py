"""`EngineGroup`: a group's members on one engine. Calls get numbers and signatures, and their failures explanations.

Each engine has a class below it with the calls: gloo and MPI in `_host_groups`, NCCL in `_nccl`.
"""

from __future__ import annotations

import functools
import os
import time
import zlib
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._errors import DistBackendError, DistError
from torch.distributed._store import PrefixStore, Store

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from torch.distributed._engine import EngineError
    from torch.distributed._work import Work

# How long the members wait for one another's reports of a failure.
REPORTING_SECONDS = 1.0
# Of a call's signature, when members compare what they call.
FINGERPRINT_BYTES = 512


def dense(tensor: Tensor) -> Tensor:
    """The tensor if its elements lie row by row, else a copy; without its history."""
    if tensor.layout != torch.strided:
        raise ValueError(f"collectives take dense tensors, this one is {tensor.layout}")
    return tensor.detach().contiguous()


def copy_back(laid_out: Tensor, tensor: Tensor) -> None:
    """Gives a tensor what its dense copy holds, if that is not itself."""
    if laid_out.data_ptr() != tensor.data_ptr():
        with torch.no_grad():
            tensor.copy_(laid_out)


def dtype_name(tensor: Tensor) -> str:
    """What the library calls the type."""
    return str(tensor.dtype).removeprefix("torch.")


class EngineGroup:
    """Some processes that call collectives of one engine together, on tensors of one kind of device."""

    def __init__(self, backend: str, store: Store, rank: int, size: int, timeout: datetime.timedelta) -> None:
        self._backend, self._rank, self._size, self.timeout = backend, rank, size, timeout
        self._store = PrefixStore(backend, store)
        self._calls = 0
        # Whether members compare what they call.
        self._detailed = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() == "DETAIL"
        self._failure: str | None = None

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many members there are."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return self._backend

    def _abort(self) -> None:
        """Ends all that is on its way."""
        raise NotImplementedError

    def _exchange(self, text: str, number: int, seconds: float) -> list[str]:
        """What each member says of a call, in at most FINGERPRINT_BYTES."""
        raise NotImplementedError

    def _next_call(self) -> int:
        """A call's number. DistBackendError if the group is of no use any more."""
        self._check_usable()
        self._calls += 1
        return self._calls - 1

    def _check_usable(self) -> None:
        if self._failure is not None:
            raise DistBackendError(f"the process group has failed before: {self._failure}")

    def _compare_signatures(self, number: int, signature: str, seconds: float) -> None:
        """Raises RuntimeError on all members, which names two that differ."""
        mine = f"SequenceNumber={number}, {signature}"[:FINGERPRINT_BYTES]
        for rank, theirs in enumerate(self._exchange(mine, number, seconds)):
            if theirs != mine:
                raise RuntimeError(
                    f"Detected mismatch between collectives on ranks. Rank {self._rank} is running collective: "
                    f"CollectiveFingerPrint({mine}), but Rank {rank} is running collective: "
                    f"CollectiveFingerPrint({theirs})."
                )

    def _explained(
        self, error: EngineError, number: int, signature: str, peers: Sequence[int] | None = None
    ) -> DistBackendError:
        """The error for users: what was called, what the engine says, and what the other members have to say about it.

        `peers` are those that it takes (None: all).

        The group is of no use any more. Whoever still waits for this member is told so by the end of its connections.
        """
        where = f"call {number}, {signature}"
        first = self._failure is None
        if first:
            self._failure = f"{where}: {error}"
        try:
            if first:
                try:
                    self._store.set(f"failure/{self._rank}", f"{number}\n{where}\n{error}")
                finally:
                    self._abort()
            reports = self._reports()
        except DistError as gone:
            reports, said = {}, f"The other members cannot be asked: {gone}."
        else:
            said = self._compared(reports, number, signature, range(self._size) if peers is None else peers)
        kind = "timed out" if error.timed_out else "failed"
        text = f"{signature.partition('(')[0]} {kind} on rank {self._rank} ({where}): {error}. {said}"
        return DistBackendError(text)

    def _reports(self) -> dict[int, tuple[int, str, str]]:
        """What members have said about their failure, by rank: the number of the call, the call, the error."""
        end = time.monotonic() + REPORTING_SECONDS
        others = [rank for rank in range(self._size) if rank != self._rank]
        reports: dict[int, tuple[int, str, str]] = {}
        while len(reports) < len(others) and time.monotonic() < end:
            try:
                for rank in others:
                    if rank not in reports and self._store.check([f"failure/{rank}"]):
                        number, where, error = self._store.get(f"failure/{rank}").decode().split("\n", 2)
                        reports[rank] = int(number), where, error
            except DistError:
                if not reports:
                    raise
                break  # the member with the store has ended: what was said until then is what there is
            time.sleep(0.02)
        return reports

    def _compared(
        self, reports: dict[int, tuple[int, str, str]], number: int, signature: str, peers: Sequence[int]
    ) -> str:
        absent = [rank for rank in peers if rank != self._rank and rank not in reports]
        said = []
        if absent:
            ranks = ", ".join(map(str, absent))
            said.append(
                f"Rank {ranks} did not come to this call" if len(absent) == 1 else f"Ranks {ranks} did not come to it"
            )
        for rank, (_, where, error) in sorted(reports.items()):
            if where != f"call {number}, {signature}":
                said.append(f"rank {rank} was in {where}")
            elif "closed by peer" in error or "remote process exited" in error:
                said.append(f"rank {rank} says: {error}")
        return "; ".join(said) + "." if said else "All members were in this call."

    # What each engine has, as ProcessGroup describes it.
    barrier: Callable[..., Work | None]
    broadcast: Callable[..., Work | None]
    reduce: Callable[..., Work | None]
    gather: Callable[..., Work | None]
    scatter: Callable[..., Work | None]
    reduce_scatter: Callable[..., Work | None]
    alltoall: Callable[..., Work | None]
    send: Callable[..., Work]
    receive: Callable[..., Work]

    def messages(self, operations: list[tuple[bool, Tensor, int, int]]) -> list[Work]:
        """Messages that go side by side: (whether it is sent, tensor, member, tag)."""
        return [
            self.send(tensor, peer, tag) if is_sent else self.receive(tensor, peer, tag)
            for is_sent, tensor, peer, tag in operations
        ]

    def shutdown(self) -> None:
        """Ends what the group has, when what was begun is done; calls fail from now on."""
        raise NotImplementedError

    def abort(self) -> None:
        """Ends all calls, here and at the other members."""
        self._failure = self._failure or "it was aborted"
        self._abort()


def signature(name: str, tensor: Tensor, **rest: Any) -> str:
    """What all members must say alike of a call."""
    return _said(name, tensor.shape, tensor.dtype, tuple(rest.items()))


# Programs make the same few calls again and again; on a busy machine whatever is computed for a small one is its price.
@functools.lru_cache(maxsize=1024)
def _said(name: str, shape: torch.Size, dtype: torch.dtype, rest: tuple[tuple[str, Any], ...]) -> str:
    extra = "".join(f", {key}={value}" for key, value in rest if value is not None)
    return f"{name}(TensorShape={list(shape)}, dtype={str(dtype).removeprefix('torch.')}{extra})"


@functools.lru_cache(maxsize=1024)
def _checksum(said: str) -> int:
    return zlib.crc32(said.encode())


def tag_of(number: int, said: str) -> int:
    """A call's number and a part of its signature's checksum, in 31 bits."""
    return (_checksum(said) & 0x7FFF) << 16 | number & 0xFFFF
