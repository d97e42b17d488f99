"""The calls of a group on NCCL, with tensors of CUDA devices.

A call is work of the group's own stream on a device: that stream waits for the current one before it, and the current
one for it when somebody calls `wait()`. The host goes on. A thread of the group looks at what is on its way: a call
that takes too long or fails ends them all, and is explained as those of gloo are.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._device_work import Communicator, DeviceWork, Flight
from torch.distributed._engine import EngineError, check, load
from torch.distributed._engine_group import EngineGroup, copy_back, dense, dtype_name, signature
from torch.distributed._errors import DistError, DistStoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch import Tensor
    from torch.distributed._store import Store
    from torch.distributed._work import Work

# How often the thread looks at what is on its way.
LOOKING_SECONDS = 0.1
# What TORCH_NCCL_ASYNC_ERROR_HANDLING says of a failure: nothing is done, calls end, or the process does (PyTorch's).
NOTHING, CLEAN_UP, TEAR_DOWN = "0", "2", "3"


class ProcessGroupNCCL(EngineGroup):
    """The members of a group on NCCL. Communicators are made with the first call from a device, or now for `device`."""

    def __init__(
        self,
        backend: str,
        store: Store,
        rank: int,
        size: int,
        timeout: timedelta,
        device: torch.device | None = None,
    ) -> None:
        super().__init__(backend, store, rank, size, timeout)
        if not torch.cuda.is_available():
            raise ValueError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")
        self._library = load("nccl")
        self._communicators: dict[Any, Communicator] = {}
        self._made: dict[tuple[int, ...], int] = {}
        self._calling, self._telling = threading.RLock(), threading.RLock()
        # What is on its way, in order, each with what has to stay where it is meanwhile.
        self._flights: dict[Flight, list[Any]] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.blocking = os.environ.get("TORCH_NCCL_BLOCKING_WAIT", "0") == "1"
        self._handling = os.environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", TEAR_DOWN)
        if device is not None:
            with self._calling:
                self._connected(device, range(size))

    def _connected(self, device: torch.device, members: Sequence[int]) -> Communicator:
        key = device, tuple(members)
        if key not in self._communicators:
            count = self._made.get(key[1], 0)
            name = "all" if len(members) == self._size else ":".join(map(str, members))
            self._communicators[key] = Communicator(
                self._library,
                self._store,
                f"{name}/{count}",
                members,
                self._rank,
                device,
                self.timeout.total_seconds(),
            )
            self._made[key[1]] = count + 1
        return self._communicators[key]

    # ------------------------------------------------------------------ calls

    def _start(
        self,
        said: str,
        tensors: Sequence[Tensor],
        run: Callable[[Communicator], None],
        result: Any,
        async_op: bool,
        *,
        kept: Sequence[Any] = (),
        peers: Sequence[int] | None = None,
        members: Sequence[int] | None = None,
        source: int = -1,
    ) -> Work | None:
        """Queues `run(communicator)`; keeps the tensors, and `kept`, until it is done."""
        if torch.cuda.is_current_stream_capturing():
            raise NotImplementedError("calls of torch.distributed cannot be recorded into a CUDA graph")
        device = tensors[0].device
        if any(tensor.device != device for tensor in tensors):
            raise ValueError(f"the tensors of a call are on one device, not {sorted({str(t.device) for t in tensors})}")
        with self._calling:
            number = self._next_call()
            if self._detailed and peers is None:
                self._compare_signatures(number, said, self.timeout.total_seconds())
            flight = Flight(number, said, peers, self.timeout.total_seconds())
            work = DeviceWork(flight, result, [*tensors, *kept], source, watch=self._watch, blocking=self.blocking)
            try:
                communicator = self._connected(device, range(self._size) if members is None else members)
                self._watch(flight, work._kept)  # from before the call on: NCCL itself may wait for others
                work._reach(communicator, lambda: run(communicator))
            except EngineError as error:
                raise self._failed(flight, error) from None
        if async_op:
            return work
        work.wait()
        return None

    def _exchange(self, text: str, number: int, seconds: float) -> list[str]:
        keys = [f"call/{number}/{rank}" for rank in range(self._size)]
        self._store.set(keys[self._rank], text)
        try:
            self._store.wait(keys, timedelta(seconds=seconds))
        except DistStoreError:
            missing = [str(rank) for rank, key in enumerate(keys) if not self._store.check([key])]
            raise EngineError(f"rank {', '.join(missing)} did not say what it calls", True) from None
        if number:  # which all have read: they are here
            self._store.delete_key(f"call/{number - 1}/{self._rank}")
        return [text.decode() for text in self._store.multi_get(keys)]

    def _reduction(self, operation: str, tensor: Tensor) -> tuple[bytes, bytes]:
        """What the library calls type and operation, asked first: so that nobody waits for a member that cannot."""
        if operation in ("band", "bor", "bxor"):
            raise ValueError(f"Cannot use ReduceOp.{operation.upper()} with NCCL")
        what = dtype_name(tensor).encode(), operation.encode()
        try:
            check(self._library, self._library.torch_distributed_nccl_takes(*what))
        except EngineError as error:
            raise TypeError(f"Input tensor data type is not supported for NCCL process group: {error}") from None
        return what

    def barrier(self, async_op: bool = False, device: torch.device | None = None) -> Work | None:
        """Until all members have come; the host waits."""
        own = torch.zeros(1, dtype=torch.uint8, device=device or "cuda")
        what = self._reduction("sum", own)
        work = self._start(
            "BARRIER()", [own], lambda among: among.call("allreduce", own.data_ptr(), 1, *what), [], True
        )
        if async_op or work is None:
            return work
        work.wait()
        torch.cuda.current_stream(own.device).synchronize()
        self._check_usable()
        return None

    def broadcast(self, tensor: Tensor, root: int, async_op: bool = False) -> Work | None:
        """`tensor` becomes the root's."""
        laid_out = dense(tensor)

        def run(among: Communicator) -> None:
            if laid_out.numel():
                among.call("broadcast", laid_out.data_ptr(), laid_out.nbytes, root)
            copy_back(laid_out, tensor)

        said = signature("BROADCAST", tensor, root=root)
        return self._start(said, [tensor], run, [tensor], async_op, kept=[laid_out])

    def reduce(self, tensor: Tensor, operation: str, root: int | None, async_op: bool = False) -> Work | None:
        """`tensor` becomes the sum (...) of all members', at the root or (None) everywhere."""
        laid_out = dense(tensor) if root is None else dense(tensor).clone()
        what = self._reduction(operation, tensor)

        def run(among: Communicator) -> None:
            place = laid_out.data_ptr(), laid_out.numel(), *what
            if laid_out.numel() and root is None:
                among.call("allreduce", *place)
            elif laid_out.numel():
                among.call("reduce", *place, root)
            if root in (None, self._rank):
                copy_back(laid_out, tensor)

        said = signature("ALLREDUCE" if root is None else "REDUCE", tensor, reduce=operation, root=root)
        return self._start(said, [tensor], run, [tensor], async_op, kept=[laid_out])

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int | None, async_op: bool = False
    ) -> Work | None:
        """`outputs` become the tensors of all members, at the root or (None) everywhere."""
        laid_out = dense(tensor)
        size, here = laid_out.nbytes, root in (None, self._rank)
        whole = len(outputs) == 1 and outputs[0].numel() == self._size * tensor.numel() and outputs[0].is_contiguous()
        rows = outputs[0].detach() if whole else tensor.new_empty((self._size, tensor.numel()) if here else (0,))

        def run(among: Communicator) -> None:
            if size and root is None:
                among.call("allgather", laid_out.data_ptr(), rows.data_ptr(), size)
            elif size:
                among.together(self._pieces(laid_out, {root: (0, size)}, rows, self._rows(size) if here else {}))
            if here and not whole:
                with torch.no_grad():
                    for row, output in zip(rows, outputs, strict=True):
                        output.copy_(row.view(tensor.shape))

        said = signature("ALLGATHER" if root is None else "GATHER", tensor, root=root)
        return self._start(said, [tensor, *outputs], run, [list(outputs)], async_op, kept=[laid_out, rows])

    def _rows(self, size: int) -> dict[int, tuple[int, int]]:
        return {rank: (rank * size, size) for rank in range(self._size)}

    def _pieces(
        self, source: Tensor, sent: dict[Any, tuple[int, int]], target: Tensor, received: dict[Any, tuple[int, int]]
    ) -> Iterable[tuple[Any, ...]]:
        """Messages to and from members: which bytes of the tensors, (begin, size)."""
        for name, tensor, places in (("send", source, sent), ("receive", target, received)):
            for peer, (begin, size) in places.items():
                if size:
                    yield name, tensor.data_ptr() + begin, size, peer

    def scatter(self, tensor: Tensor, inputs: Sequence[Tensor], root: int, async_op: bool = False) -> Work | None:
        """`tensor` becomes this member's of the root's `inputs`."""
        laid_out = dense(tensor)
        rows = torch.stack([dense(part) for part in inputs]) if inputs else tensor.new_empty(0)
        size = laid_out.nbytes

        def run(among: Communicator) -> None:
            among.together(self._pieces(rows, self._rows(size) if inputs else {}, laid_out, {root: (0, size)}))
            copy_back(laid_out, tensor)

        said = signature("SCATTER", tensor, root=root)
        return self._start(said, [tensor, *inputs], run, [tensor], async_op, kept=[laid_out, rows])

    def reduce_scatter(self, tensor: Tensor, inputs: Tensor, operation: str, async_op: bool = False) -> Work | None:
        """`tensor` becomes the sum (...) of all members' rows for this one; `inputs` has a row for each member."""
        rows, laid_out = dense(inputs), dense(tensor)
        what = self._reduction(operation, tensor)

        def run(among: Communicator) -> None:
            if laid_out.numel():
                among.call("reduce_scatter", rows.data_ptr(), laid_out.data_ptr(), laid_out.numel(), *what)
            copy_back(laid_out, tensor)

        said = signature("REDUCE_SCATTER", tensor, reduce=operation)
        return self._start(said, [tensor, inputs], run, [tensor], async_op, kept=[rows, laid_out])

    def alltoall(
        self, output: Tensor, output_sizes: list[int], inputs: Tensor, input_sizes: list[int], async_op: bool = False
    ) -> Work | None:
        """Every member gets its part of every member's `inputs`; sizes in elements."""
        source, target = dense(inputs), dense(output)

        def places(sizes: list[int]) -> dict[int, tuple[int, int]]:
            width = source.element_size()
            return {rank: (sum(sizes[:rank]) * width, size * width) for rank, size in enumerate(sizes)}

        def run(among: Communicator) -> None:
            among.together(self._pieces(source, places(input_sizes), target, places(output_sizes)))
            copy_back(target, output)

        said = f"ALLTOALL(dtype={dtype_name(inputs)})"
        return self._start(said, [output, inputs], run, [output], async_op, kept=[source, target])

    # ------------------------------------------------------------------ messages

    def send(self, tensor: Tensor, peer: int, tag: int) -> Work:
        """A message to one member. Messages between two have no tags: they go in their order."""
        return self._message([(True, tensor, peer, tag)], sorted((self._rank, peer)))

    def receive(self, tensor: Tensor, peer: int | None, tag: int) -> Work:
        """A message from one member. ValueError for None: NCCL takes none from any."""
        if peer is None:
            raise ValueError("NCCL receives from one rank, which has to be said: `src` is None")
        return self._message([(False, tensor, peer, tag)], sorted((self._rank, peer)))

    def messages(self, operations: list[tuple[bool, Tensor, int, int]]) -> list[Work]:
        """Messages that go side by side, as one work. All members call it, if it is their first call."""
        return [self._message(operations, None)]

    def _message(self, operations: list[tuple[bool, Tensor, int, int]], members: Sequence[int] | None) -> Work:
        laid_out = [dense(tensor) for _, tensor, _, _ in operations]

        def run(among: Communicator) -> None:
            ranks = range(self._size) if members is None else members
            among.together(
                ("send" if is_sent else "receive", place.data_ptr(), place.nbytes, ranks.index(peer))
                for (is_sent, _, peer, _), place in zip(operations, laid_out, strict=True)
                if place.nbytes
            )
            for (is_sent, tensor, _, _), place in zip(operations, laid_out, strict=True):
                if not is_sent:
                    copy_back(place, tensor)

        said = "; ".join(
            signature("SEND" if is_sent else "RECV", tensor, peer=peer) for is_sent, tensor, peer, _ in operations
        )
        tensors, peers = [tensor for _, tensor, _, _ in operations], sorted({peer for _, _, peer, _ in operations})
        sources = [peer for is_sent, _, peer, _ in operations if not is_sent]
        work = self._start(
            said,
            tensors,
            run,
            tensors,
            True,
            kept=laid_out,
            peers=peers,
            members=members,
            source=sources[0] if len(sources) == 1 else -1,
        )
        assert work is not None
        return work

    # ------------------------------------------------------------------ what is on its way

    def _watch(self, flight: Flight, kept: list[Any]) -> None:
        for ended in [known for known in self._flights if known.has_passed()]:
            del self._flights[ended]
        self._flights[flight] = kept
        if self._thread is None and self._handling != NOTHING:
            self._thread = threading.Thread(target=self._look, name="torch-nccl-watch", daemon=True)
            self._thread.start()
            atexit.register(self._stop)

    def _look(self) -> None:
        while not self._stopping.wait(LOOKING_SECONDS):
            for flight in list(self._flights):
                failure = flight.failure()
                if failure is not None:
                    self._give_up(flight, failure)
                    return

    def _give_up(self, flight: Flight, failure: EngineError) -> None:
        """Ends all calls; the process, too, unless somebody waits for them here, or it was asked not to."""
        with self._telling:  # nobody is told by a call while the process is about to end
            explained = self._failed(flight, failure)
            if self._handling == CLEAN_UP or self.blocking:
                return
            print(
                f"torch.distributed: {explained}\nWork of this device after that call has used what was not there, so "
                f"this process ends (TORCH_NCCL_ASYNC_ERROR_HANDLING={CLEAN_UP}: calls fail from now on, it goes on).",
                file=sys.stderr,
                flush=True,
            )
            os.kill(os.getpid(), signal.SIGABRT)

    def _failed(self, flight: Flight, error: EngineError) -> DistError:
        """The error for users, which all calls end with."""
        with self._telling:
            explained = self._explained(error, flight.number, flight.signature, flight.peers)
            for other in (flight, *list(self._flights)):
                other.error = other.error or explained
            self._failure = str(explained)
        return explained

    def _check_usable(self) -> None:
        if self._failure is not None:
            with self._telling:  # until it is known who is missing
                super()._check_usable()

    def _abort(self) -> None:
        for communicator in list(self._communicators.values()):
            communicator.end("abort")

    def _stop(self) -> None:
        self._stopping.set()
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._thread.join()
        atexit.unregister(self._stop)

    def shutdown(self) -> None:
        """Waits for what is on its way, and ends the communicators; calls fail from now on."""
        while self._failure is None and any(not (flight.has_passed() or flight.lost) for flight in list(self._flights)):
            time.sleep(0.002)
        self._stop()
        self._flights.clear()
        if self._failure is None:
            for communicator in self._communicators.values():
                communicator.end("close")
            self._failure = "it was destroyed"
