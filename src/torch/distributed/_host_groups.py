"""The calls of a group on gloo or MPI, with tensors of the CPU.

A call is done in three steps: its signature says what all members must say alike, and it gets a number; its tensors are
laid out row by row; the library is called, in this thread or in the group's worker. The signature goes into gloo's tag,
so that calls which differ never meet: they run into the timeout, and then the members tell one another through the
store where they are. MPI has no tags for collectives: there all calls of a group are its worker's, in their order.
"""

from __future__ import annotations

import ctypes
import os
import socket
import zlib
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._engine import EngineError, Mesh
from torch.distributed._engine_group import (
    FINGERPRINT_BYTES,
    EngineGroup,
    copy_back,
    dense,
    dtype_name,
    signature,
    tag_of,
)
from torch.distributed._work import Message, Work, Worker

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from torch.distributed._store import Store


def own_address() -> tuple[str, str]:
    """The host name or the interface (GLOO_SOCKET_IFNAME) that others reach this process at."""
    interface = os.environ.get("GLOO_SOCKET_IFNAME", "").partition(",")[0]
    if interface:
        return "", interface
    try:
        address = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)[0]
        with socket.socket(address[0], socket.SOCK_STREAM) as probe:
            probe.bind(address[4][:2] if address[0] == socket.AF_INET else address[4])
        return str(address[4][0]), ""
    except OSError:
        return "127.0.0.1", ""


class HostGroup(EngineGroup):
    """The members, connected by gloo or MPI."""

    def __init__(self, backend: str, store: Store, rank: int, size: int, timeout: datetime.timedelta) -> None:
        super().__init__(backend, store, rank, size, timeout)
        self._reductions: dict[tuple[str, torch.dtype], tuple[bytes, bytes]] = {}
        self._worker = Worker()
        host, interface = own_address()
        self._mesh = Mesh(backend, self._store, rank, size, host, interface, timeout.total_seconds())

    def _start(self, signature: str, work: Callable[[int, float], Any], result: Any, async_op: bool) -> Work | None:
        """Has `work(tag, seconds)` done, at once or by the worker."""
        number = self._next_call()
        if not async_op and self._backend == "gloo":
            self._run(number, signature, work)
            return None
        started = Work(lambda: self._run(number, signature, work), result)
        self._worker.add(started)
        if async_op:
            return started
        started.wait()
        return None

    def _run(self, number: int, signature: str, work: Callable[[int, float], Any]) -> None:
        seconds = self.timeout.total_seconds()
        try:
            if self._detailed:
                self._compare_signatures(number, signature, seconds)
            work(tag_of(number, signature), seconds)
        except EngineError as error:
            raise self._explained(error, number, signature) from None

    def _exchange(self, text: str, number: int, seconds: float) -> list[str]:
        everybody = ctypes.create_string_buffer(FINGERPRINT_BYTES * self._size)
        source = ctypes.create_string_buffer(text.encode(), FINGERPRINT_BYTES)
        places = ctypes.addressof(source), ctypes.addressof(everybody), FINGERPRINT_BYTES
        self._mesh.call("allgather", tag_of(number, "fingerprint"), seconds, *places)
        ends = range(0, len(everybody.raw), FINGERPRINT_BYTES)
        return [everybody.raw[at : at + FINGERPRINT_BYTES].rstrip(b"\0").decode() for at in ends]

    def _abort(self) -> None:
        self._mesh.abort()

    # ------------------------------------------------------------------ collectives; tensors are checked by the caller

    def barrier(self, async_op: bool = False, device: torch.device | None = None) -> Work | None:
        """Until all members have come."""
        return self._start("BARRIER", lambda tag, seconds: self._mesh.call("barrier", tag, seconds), [], async_op)

    def broadcast(self, tensor: Tensor, root: int, async_op: bool = False) -> Work | None:
        """`tensor` becomes the root's."""
        laid_out = dense(tensor)

        def work(tag: int, seconds: float) -> None:
            size = laid_out.numel() * laid_out.element_size()
            if size:
                self._mesh.call("broadcast", tag, seconds, laid_out.data_ptr(), size, root)
            copy_back(laid_out, tensor)

        return self._start(signature("BROADCAST", tensor, root=root), work, [tensor], async_op)

    def reduce(self, tensor: Tensor, operation: str, root: int | None, async_op: bool = False) -> Work | None:
        """`tensor` becomes the sum (...) of all members', at the root or (None) everywhere."""
        laid_out = dense(tensor) if root is None else dense(tensor).clone()
        name = "ALLREDUCE" if root is None else "REDUCE"
        what = self._reduction(operation, tensor.dtype)

        def work(tag: int, seconds: float) -> None:
            place = laid_out.data_ptr(), laid_out.numel(), *what
            if laid_out.numel() and root is None:
                self._mesh.call("allreduce", tag, seconds, *place)
            elif laid_out.numel():
                self._mesh.call("reduce", tag, seconds, *place, root)
            if operation == "avg":
                laid_out.div_(self._size)
            if root in (None, self._rank):
                copy_back(laid_out, tensor)

        return self._start(signature(name, tensor, reduce=operation, root=root), work, [tensor], async_op)

    def _reduction(self, operation: str, dtype: torch.dtype) -> tuple[bytes, bytes]:
        """The library's names of both. It is asked first, so that nobody waits for a member that cannot."""
        if (operation, dtype) in self._reductions:
            return self._reductions[operation, dtype]
        if operation == "avg" and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(f"ReduceOp.AVG takes tensors of floating or complex types, not {dtype}")
        names = str(dtype).removeprefix("torch.").encode(), b"sum" if operation == "avg" else operation.encode()
        try:
            self._mesh.combine(None, None, 0, *names)
        except EngineError as error:
            raise RuntimeError(f"Invalid scalar type: {error}") from None
        self._reductions[operation, dtype] = names
        return names

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int | None, async_op: bool = False
    ) -> Work | None:
        """`outputs` become the tensors of all members, at the root or (None) everywhere."""
        laid_out = dense(tensor)
        here = root in (None, self._rank)
        # One tensor of all rows, as gloo fills it: the output itself, if there is only that.
        whole = len(outputs) == 1 and outputs[0].numel() == self._size * tensor.numel() and outputs[0].is_contiguous()
        rows = outputs[0].detach() if whole else tensor.new_empty((self._size, tensor.numel()) if here else (0,))

        def work(tag: int, seconds: float) -> None:
            size = laid_out.numel() * laid_out.element_size()
            places = laid_out.data_ptr(), rows.data_ptr(), size
            if size and root is None:
                self._mesh.call("allgather", tag, seconds, *places)
            elif size:
                self._mesh.call("gather", tag, seconds, *places, root)
            if here and not whole:
                with torch.no_grad():
                    for row, output in zip(rows, outputs, strict=True):
                        output.copy_(row.view(tensor.shape))

        name = "ALLGATHER" if root is None else "GATHER"
        return self._start(signature(name, tensor, root=root), work, [list(outputs)], async_op)

    def scatter(self, tensor: Tensor, inputs: Sequence[Tensor], root: int, async_op: bool = False) -> Work | None:
        """`tensor` becomes this member's of the root's `inputs`."""
        laid_out = dense(tensor)
        rows = torch.stack([dense(part) for part in inputs]) if inputs else tensor.new_empty(0)

        def work(tag: int, seconds: float) -> None:
            size = laid_out.numel() * laid_out.element_size()
            if size:
                self._mesh.call("scatter", tag, seconds, rows.data_ptr(), laid_out.data_ptr(), size, root)
            copy_back(laid_out, tensor)

        return self._start(signature("SCATTER", tensor, root=root), work, [tensor], async_op)

    def reduce_scatter(self, tensor: Tensor, inputs: Tensor, operation: str, async_op: bool = False) -> Work | None:
        """`tensor` becomes the sum (...) of all members' rows for this one; `inputs` has a row for each member."""
        rows = dense(inputs)
        received = torch.empty_like(rows)
        what = self._reduction(operation, tensor.dtype)

        def work(tag: int, seconds: float) -> None:
            count, width = tensor.numel(), tensor.element_size()
            if count:
                sizes = (ctypes.c_int64 * self._size)(*[count * width] * self._size)
                self._mesh.call("alltoall", tag, seconds, rows.data_ptr(), sizes, received.data_ptr(), sizes)
            first = received.data_ptr()
            for member in range(1, self._size):
                self._mesh.combine(first, first + member * count * width, count, *what)
            with torch.no_grad():
                total = received.view(-1)[:count].view(tensor.shape)
                tensor.copy_(total / self._size if operation == "avg" else total)

        return self._start(signature("REDUCE_SCATTER", tensor, reduce=operation), work, [tensor], async_op)

    def alltoall(
        self, output: Tensor, output_sizes: list[int], inputs: Tensor, input_sizes: list[int], async_op: bool = False
    ) -> Work | None:
        """Every member gets its part of every member's `inputs`; sizes in elements. Fails where they disagree."""
        source, target = dense(inputs), dense(output)
        width = source.element_size()

        def work(tag: int, seconds: float) -> None:
            sent = (ctypes.c_int64 * self._size)(*[size * width for size in input_sizes])
            expected = (ctypes.c_int64 * self._size)(*[size * width for size in output_sizes])
            coming, each = (ctypes.c_int64 * self._size)(), (ctypes.c_int64 * self._size)(*[8] * self._size)
            # The members' sizes first: gloo ends a process that gets more than it has room for.
            self._mesh.call(
                "alltoall", tag ^ 1 << 31, seconds, ctypes.addressof(sent), each, ctypes.addressof(coming), each
            )
            for member in range(self._size):
                if coming[member] != expected[member]:
                    raise EngineError(
                        f"rank {member} sends {coming[member] // width} elements to rank {self._rank}, "
                        f"which expects {expected[member] // width}",
                        timed_out=False,
                    )
            self._mesh.call("alltoall", tag, seconds, source.data_ptr(), sent, target.data_ptr(), expected)
            copy_back(target, output)

        return self._start(f"ALLTOALL(dtype={dtype_name(inputs)})", work, [output], async_op)

    # ------------------------------------------------------------------ messages

    def send(self, tensor: Tensor, peer: int, tag: int) -> Work:
        """A message to one member, which goes while this process goes on."""
        laid_out = dense(tensor)
        size = laid_out.numel() * laid_out.element_size()
        return self._message(
            "SEND",
            tensor,
            [peer],
            lambda: self._mesh.send(laid_out.data_ptr(), size, peer, slot(tensor, tag)),
            laid_out,
        )

    def receive(self, tensor: Tensor, peer: int | None, tag: int) -> Work:
        """A message from one member, or (None) from any."""
        laid_out = dense(tensor)
        size = laid_out.numel() * laid_out.element_size()
        peers = [rank for rank in range(self._size) if rank != self._rank] if peer is None else [peer]
        return self._message(
            "RECV",
            tensor,
            peers,
            lambda: self._mesh.receive(laid_out.data_ptr(), size, peers, slot(tensor, tag)),
            laid_out,
        )

    def _message(self, name: str, tensor: Tensor, peers: list[int], start: Callable[[], Any], laid_out: Tensor) -> Work:
        self._check_usable()
        said, seconds = (
            signature(name, tensor, peer=peers[0] if len(peers) == 1 else None),
            self.timeout.total_seconds(),
        )
        try:
            transfer = start()
        except EngineError as error:
            raise self._explained(error, self._calls, said, peers) from None

        def run() -> int:
            try:
                peer: int = transfer.wait(seconds)
            except EngineError as error:
                raise self._explained(error, self._calls, said, peers) from None
            if name == "RECV":
                copy_back(laid_out, tensor)
            return peer

        return Message(run, [tensor])

    def shutdown(self) -> None:
        """Ends the group's thread, when what was begun is done; calls fail from now on."""
        self._worker.stop()
        self._failure = self._failure or "it was destroyed"


class ProcessGroupGloo(HostGroup):
    """The members of a group on gloo."""


class ProcessGroupMPI(HostGroup):
    """The members of a group on MPI."""


def slot(tensor: Tensor, tag: int) -> int:
    """Where a message is put: those of another tag, size or type are not taken for it."""
    said = f"{tensor.numel()} {tensor.dtype}"
    return 0xFF << 56 | (tag & 0xFFFFFFFF) << 24 | zlib.crc32(said.encode()) & 0xFFFFFF
