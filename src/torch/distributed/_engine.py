"""The libraries that carry collectives, of gloo, MPI and NCCL: where they are, and how they are called.

The first two have the functions of torch/lib/libtorch_distributed/torch_distributed.h, the third those of nccl.cpp
beside it. ctypes lets other threads run Python while one of them waits.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
from pathlib import Path
from typing import Any

from torch.distributed._errors import DistBackendError

TIMED_OUT = 2
# By backend: the library, and the package that has it.
LIBRARIES = {
    "gloo": ("libtorch_distributed.so", "libtorch-distributed"),
    "mpi": ("libtorch_distributed_mpi.so", "libtorch-distributed-mpi"),
    "nccl": ("libtorch_distributed_nccl.so", "libtorch-distributed-nccl"),
}
UNIQUE_ID_BYTES = 128

Pointer, Size, Number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
Text, Long = ctypes.c_char_p, ctypes.c_int64
StoreSet = ctypes.CFUNCTYPE(Number, Text, Pointer, Size)
StoreGet = ctypes.CFUNCTYPE(Number, Text, Pointer)


class Call(ctypes.Structure):
    """What all members say alike about one call."""

    _fields_ = [("tag", ctypes.c_uint32), ("timeout", Long)]


COLLECTIVES: dict[str, list[Any]] = {
    "barrier": [],
    "broadcast": [Pointer, Size, Number],
    "allreduce": [Pointer, Size, Text, Text],
    "reduce": [Pointer, Size, Text, Text, Number],
    "allgather": [Pointer, Pointer, Size],
    "gather": [Pointer, Pointer, Size, Number],
    "scatter": [Pointer, Pointer, Size, Number],
    "alltoall": [Pointer, ctypes.POINTER(Long), Pointer, ctypes.POINTER(Long)],
}
OTHERS: dict[str, list[Any]] = {
    "connect": [Number, Number, Text, Text, Long, StoreSet, StoreGet, ctypes.POINTER(Pointer)],
    "combine": [Pointer, Pointer, Size, Text, Text],
    "send": [Pointer, Pointer, Size, Number, ctypes.c_uint64, ctypes.POINTER(Pointer)],
    "receive_from": [
        Pointer,
        Pointer,
        Size,
        ctypes.POINTER(Number),
        Size,
        ctypes.c_uint64,
        ctypes.POINTER(Pointer),
    ],
    "wait": [Pointer, Long, ctypes.POINTER(Number)],
}
# Of a communicator, on a stream.
ON_A_STREAM: dict[str, list[Any]] = {
    "broadcast": [Pointer, Size, Number],
    "allreduce": [Pointer, Size, Text, Text],
    "reduce": [Pointer, Size, Text, Text, Number],
    "reduce_scatter": [Pointer, Pointer, Size, Text, Text],
    "allgather": [Pointer, Pointer, Size],
    "send": [Pointer, Size, Number],
    "receive": [Pointer, Size, Number],
}
OTHERS_OF_NCCL: dict[str, list[Any]] = {
    "version": [ctypes.POINTER(Number)],
    "takes": [Text, Text],
    "unique_id": [Pointer],
    "connect": [Pointer, Number, Number, ctypes.POINTER(Pointer)],
    "state": [Pointer],
    "abort": [Pointer],
    "close": [Pointer],
    "begin": [],
    "end": [],
}
WITHOUT_STATUS = {"receive": [Pointer, Text, Size], "abort": [Pointer], "close": [Pointer], "release": [Pointer]}


class EngineError(DistBackendError):
    """What gloo, MPI or NCCL says; `timed_out` if it has waited too long."""

    def __init__(self, text: str, timed_out: bool) -> None:
        super().__init__(text)
        self.timed_out = timed_out


def find(backend: str) -> Path | None:
    """A backend's library: in torch/lib, the prefix that torch is installed in, or a folder of TORCH_BACKEND_PATH."""
    if backend not in LIBRARIES:
        return None
    package = Path(__file__).parent.parent  # links stay as they are: an environment may consist of them
    given = [Path(place) for place in os.environ.get("TORCH_BACKEND_PATH", "").split(":") if place]
    places = [package / "lib", *package.parents[2:3], *given]
    name, _ = LIBRARIES[backend]
    return next((place / name for place in places if (place / name).is_file()), None)


@functools.cache
def load(backend: str) -> Any:
    """A backend's library. DistBackendError if it is not there, or of another version."""
    from torch.version import __version__

    path, (file, needed) = find(backend), LIBRARIES[backend]
    if path is None:
        raise DistBackendError(
            f"Distributed package doesn't have {backend.upper()} built in: {file} is not installed, the package "
            f"{needed}"
        )
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise DistBackendError(f"{path} cannot be loaded: {error}") from None
    library.torch_distributed_version.restype = Text
    theirs, ours = library.torch_distributed_version().decode(), __version__
    if theirs.partition("+")[0] != ours.partition("+")[0]:
        raise DistBackendError(f"{path} is of torch {theirs}, this is torch {ours}: install the same version of both")
    library.torch_distributed_error.restype = Text
    if backend == "nccl":
        calls = {name: [Pointer, Pointer, *arguments] for name, arguments in ON_A_STREAM.items()}
        for name, arguments in (calls | OTHERS_OF_NCCL).items():
            getattr(library, f"torch_distributed_nccl_{name}").argtypes = arguments
        return library
    for name, arguments in COLLECTIVES.items():
        getattr(library, f"torch_distributed_{name}").argtypes = [Pointer, Call, *arguments]
    for name, arguments in (OTHERS | WITHOUT_STATUS).items():
        getattr(library, f"torch_distributed_{name}").argtypes = arguments
    for name in WITHOUT_STATUS:
        getattr(library, f"torch_distributed_{name}").restype = None
    return library


def check(library: Any, status: int) -> None:
    """Raises what the last call of this thread has said, unless it went well."""
    if status:
        text = library.torch_distributed_error().decode(errors="replace")
        raise EngineError(text, status == TIMED_OUT)


class World:
    """All processes that mpirun has started."""

    SHARED_BYTES = 1024

    def __init__(self) -> None:
        self.library = load("mpi")
        rank, size = Number(), Number()
        check(self.library, self.library.torch_distributed_world(ctypes.byref(rank), ctypes.byref(size)))
        self.rank, self.size = rank.value, size.value
        atexit.register(self.finalize)

    def share(self, text: str, seconds: float) -> str:
        """What process 0 says."""
        buffer = ctypes.create_string_buffer(text.encode(), self.SHARED_BYTES)
        milliseconds = Long(max(1, round(seconds * 1000)))
        check(self.library, self.library.torch_distributed_share(buffer, Size(self.SHARED_BYTES), milliseconds))
        return buffer.value.decode()

    def finalize(self) -> None:
        """Waits for the others, unless this process ends by an error: then mpirun ends them."""
        if not hasattr(sys, "last_type"):
            self.library.torch_distributed_finalize()


class Mesh:
    """Processes that are connected with one another."""

    def __init__(
        self, backend: str, store: Any, rank: int, size: int, host: str, interface: str, seconds: float
    ) -> None:
        library, failed = load(backend), []

        def guarded(action: Any) -> int:
            try:
                action()
            except BaseException as error:
                failed.append(error)
                return 1
            return 0

        @StoreSet
        def store_set(key: bytes, data: int, length: int) -> int:
            return guarded(lambda: store.set(key.decode(), ctypes.string_at(data, length)))

        @StoreGet
        def store_get(key: bytes, sink: int) -> int:
            def answer() -> None:
                value = store.get(key.decode())
                library.torch_distributed_receive(sink, value, len(value))

            return guarded(answer)

        pointer = Pointer()
        milliseconds = max(1, round(seconds * 1000))
        status = library.torch_distributed_connect(
            rank, size, host.encode(), interface.encode(), milliseconds, store_set, store_get, ctypes.byref(pointer)
        )
        if failed:
            raise failed[0]
        check(library, status)
        self.pointer, self.library, self.process = pointer, library, os.getpid()
        self.functions = {name: getattr(library, f"torch_distributed_{name}") for name in COLLECTIVES}

    def call(self, name: str, tag: int, seconds: float, *arguments: Any) -> None:
        """Runs a collective and waits for its end. EngineError."""
        status = self.functions[name](self.pointer, Call(tag, max(1, round(seconds * 1000))), *arguments)
        if status:
            check(self.library, status)

    def combine(self, data: int | None, other: int | None, elements: int, dtype: bytes, operation: bytes) -> None:
        """Reduces `data` with `other`, in this process. EngineError for a type that does not have the operation."""
        check(self.library, self.library.torch_distributed_combine(data, other, elements, dtype, operation))

    def send(self, data: int, size: int, peer: int, slot: int) -> Transfer:
        """Starts to send bytes, which must stay where they are until the transfer has ended."""
        pointer = Pointer()
        status = self.library.torch_distributed_send(self.pointer, data, size, peer, slot, ctypes.byref(pointer))
        check(self.library, status)
        return Transfer(self, pointer)

    def receive(self, data: int, size: int, peers: list[int], slot: int) -> Transfer:
        """Starts to receive bytes from the first of the peers that sends some."""
        pointer, ranks = Pointer(), (Number * len(peers))(*peers)
        status = self.library.torch_distributed_receive_from(
            self.pointer, data, size, ranks, len(peers), slot, ctypes.byref(pointer)
        )
        check(self.library, status)
        return Transfer(self, pointer)

    def abort(self) -> None:
        """Ends all that is on its way, here and at the others."""
        self.library.torch_distributed_abort(self.pointer)

    def __del__(self) -> None:
        if getattr(self, "process", None) == os.getpid():  # a forked process has none of its threads
            self.library.torch_distributed_close(self.pointer)


class Transfer:
    """A message on its way."""

    def __init__(self, mesh: Mesh, pointer: Any) -> None:
        self.mesh, self.pointer = mesh, pointer

    def wait(self, seconds: float) -> int:
        """Waits until it has arrived; the rank at the other end. EngineError."""
        peer = Number(-1)
        milliseconds = max(1, round(seconds * 1000))
        library = self.mesh.library
        check(library, library.torch_distributed_wait(self.pointer, milliseconds, ctypes.byref(peer)))
        return peer.value

    def __del__(self) -> None:
        self.mesh.library.torch_distributed_release(self.pointer)
