"""`ProcessGroup`: the members of a group, and the collectives among them, on gloo or MPI.

A call is done in three steps: its signature says what all members must say alike, and it gets a number; its tensors are
laid out row by row; the library is called, in this thread or in the group's worker. The signature goes into gloo's tag,
so that calls which differ never meet: they run into the timeout, and then the members tell one another through the
store where they are. MPI has no tags for collectives: there all calls of a group are its worker's, in their order.
"""

from __future__ import annotations

import ctypes
import os
import socket
import time
import zlib
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._engine import EngineError, Mesh
from torch.distributed._errors import DistBackendError, DistError
from torch.distributed._store import PrefixStore, Store
from torch.distributed._work import Message, Work, Worker

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = ["ProcessGroup"]

# How long the members wait for one another's reports of a failure.
REPORTING_SECONDS = 1.0
FINGERPRINT_BYTES = 512


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


def dense(tensor: Tensor) -> Tensor:
    """The tensor if its elements lie row by row, else a copy; without its history."""
    if tensor.layout != torch.strided:
        raise ValueError(f"collectives take dense tensors, this one is {tensor.layout}")
    if tensor.device.type != "cpu":
        raise ValueError(f"collectives take tensors of the CPU, this one is on {tensor.device}")
    return tensor.detach().contiguous()


def copy_back(laid_out: Tensor, tensor: Tensor) -> None:
    """Gives a tensor what its dense copy holds, if that is not itself."""
    if laid_out.data_ptr() != tensor.data_ptr():
        with torch.no_grad():
            tensor.copy_(laid_out)


def dtype_name(tensor: Tensor) -> str:
    """What the library calls the type."""
    return str(tensor.dtype).removeprefix("torch.")


class ProcessGroup:
    """Some processes that call collectives together. `init_process_group` and `new_group` make them."""

    def __init__(
        self,
        store: Store,
        rank: int,
        size: int,
        timeout: datetime.timedelta,
        name: str = "",
        backend: str = "gloo",
    ) -> None:
        self._rank, self._size, self._name = rank, size, name
        self.timeout, self.group_desc = timeout, name
        self._store, self._backend = store, backend
        self._reductions: dict[tuple[str, torch.dtype], bytes] = {}
        self._calls = self._barriers = 0
        # Whether members compare what they call.
        self._detailed = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() == "DETAIL"
        self._worker = Worker()
        self._failure: str | None = None
        host, interface = own_address()
        self._mesh = Mesh(backend, PrefixStore(backend, store), rank, size, host, interface, timeout.total_seconds())

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many members there are."""
        return self._size

    def name(self) -> str:
        """The backend's name."""
        return self._backend

    @property
    def group_name(self) -> str:
        """The group's own name."""
        return self._name

    def get_group_store(self) -> Store:
        """The group's part of the store."""
        return self._store

    def set_timeout(self, timeout: datetime.timedelta) -> None:
        """How long calls may take from now on."""
        self.timeout = timeout

    # ------------------------------------------------------------------ calls

    def _start(self, signature: str, work: Callable[[int, float], Any], result: Any, async_op: bool) -> Work | None:
        """Has `work(tag, seconds)` done, at once or by the worker."""
        self._check_usable()
        number = self._calls
        self._calls += 1
        seconds = self.timeout.total_seconds()

        def run() -> None:
            try:
                if self._detailed:
                    self._compare_signatures(number, signature, seconds)
                work(tag_of(number, signature), seconds)
            except EngineError as error:
                raise self._explained(error, number, signature) from None

        if not async_op and self._backend == "gloo":
            run()
            return None
        started = Work(run, result)
        self._worker.add(started)
        if async_op:
            return started
        started.wait()
        return None

    def _check_usable(self) -> None:
        if self._failure is not None:
            raise DistBackendError(f"the process group has failed before: {self._failure}")

    def _compare_signatures(self, number: int, signature: str, seconds: float) -> None:
        """Raises RuntimeError on all members, which names two that differ."""
        mine = f"SequenceNumber={number}, {signature}"
        text = mine.encode()[:FINGERPRINT_BYTES].ljust(FINGERPRINT_BYTES)
        everybody = ctypes.create_string_buffer(FINGERPRINT_BYTES * self._size)
        source = ctypes.create_string_buffer(text, FINGERPRINT_BYTES)
        tag = tag_of(number, "fingerprint")
        self._mesh.call(
            "allgather", tag, seconds, ctypes.addressof(source), ctypes.addressof(everybody), FINGERPRINT_BYTES
        )
        for rank in range(self._size):
            theirs = everybody.raw[rank * FINGERPRINT_BYTES : (rank + 1) * FINGERPRINT_BYTES].rstrip(b" \0").decode()
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
                self._store.set(f"failure/{self._rank}", f"{number}\n{where}\n{error}")
                self._mesh.abort()
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
        while len(reports) < len(others):
            for rank in others:
                if rank not in reports and self._store.check([f"failure/{rank}"]):
                    number, where, error = self._store.get(f"failure/{rank}").decode().split("\n", 2)
                    reports[rank] = int(number), where, error
            if time.monotonic() > end:
                break
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
            elif "closed by peer" in error:
                said.append(f"rank {rank} says: {error}")
        return "; ".join(said) + "." if said else "All members were in this call."

    # ------------------------------------------------------------------ collectives; tensors are checked by the caller

    def barrier(self, async_op: bool = False) -> Work | None:
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
        what = dtype_name(tensor).encode(), self._reduction(operation, tensor.dtype)

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

    def _reduction(self, operation: str, dtype: torch.dtype) -> bytes:
        """The library's name of it, which it is asked for first: so that nobody waits for a member that cannot."""
        if (operation, dtype) in self._reductions:
            return self._reductions[operation, dtype]
        if operation == "avg" and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(f"ReduceOp.AVG takes tensors of floating or complex types, not {dtype}")
        name = b"sum" if operation == "avg" else operation.encode()
        try:
            self._mesh.combine(None, None, 0, str(dtype).removeprefix("torch.").encode(), name)
        except EngineError as error:
            raise RuntimeError(f"Invalid scalar type: {error}") from None
        self._reductions[operation, dtype] = name
        return name

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
        what = dtype_name(tensor).encode(), self._reduction(operation, tensor.dtype)

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

    def abort(self) -> None:
        """Ends all calls, here and at the other members."""
        self._failure = self._failure or "it was aborted"
        self._mesh.abort()

    def shutdown(self) -> None:
        """Ends the group's thread, when what was begun is done; calls fail from now on."""
        self._worker.stop()
        self._failure = self._failure or "it was destroyed"


def signature(name: str, tensor: Tensor, **rest: Any) -> str:
    """What all members must say alike of a call."""
    extra = "".join(f", {key}={value}" for key, value in rest.items() if value is not None)
    return f"{name}(TensorShape={list(tensor.shape)}, dtype={dtype_name(tensor)}{extra})"


def tag_of(number: int, said: str) -> int:
    """A call's number and a part of its signature's checksum, in 31 bits."""
    return (zlib.crc32(said.encode()) & 0x7FFF) << 16 | number & 0xFFFF


def slot(tensor: Tensor, tag: int) -> int:
    """Where a message is put: those of another tag, size or type are not taken for it."""
    said = f"{tensor.numel()} {tensor.dtype}"
    return 0xFF << 56 | (tag & 0xFFFFFFFF) << 24 | zlib.crc32(said.encode()) & 0xFFFFFF
