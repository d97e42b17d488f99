"""`ProcessGroup`: the members of a group, who call collectives together: each kind of device has an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    from torch import Tensor
    from torch.distributed._engine_group import EngineGroup
    from torch.distributed._store import Store
    from torch.distributed._work import Work

__all__ = ["ProcessGroup"]


def _make_engine(
    backend: str, store: Store, rank: int, size: int, timeout: datetime.timedelta, device: torch.device | None
) -> EngineGroup:
    if backend == "nccl":
        from torch.distributed._nccl import ProcessGroupNCCL

        return ProcessGroupNCCL(backend, store, rank, size, timeout, device)
    from torch.distributed._host_groups import ProcessGroupGloo, ProcessGroupMPI

    return (ProcessGroupMPI if backend == "mpi" else ProcessGroupGloo)(backend, store, rank, size, timeout)


class ProcessGroup:
    """Some processes that call collectives together. `init_process_group` and `new_group` make them.

    `backends` has an engine's name for each kind of device; `device` is that of this process, if it was said.
    """

    def __init__(
        self,
        store: Store,
        rank: int,
        size: int,
        timeout: datetime.timedelta,
        name: str,
        backends: Mapping[str, str],
        device: torch.device | None = None,
    ) -> None:
        self._rank, self._size, self._name, self._store = rank, size, name, store
        self.timeout, self.group_desc, self.backends = timeout, name, dict(backends)
        self.bound_device_id = device
        self._engines = {
            kind: _make_engine(backend, store, rank, size, timeout, device) for kind, backend in backends.items()
        }
        self._barriers = 0

    def rank(self) -> int:
        """This process's number in the group."""
        return self._rank

    def size(self) -> int:
        """How many members there are."""
        return self._size

    def name(self) -> str:
        """The backend's name; `cpu:gloo,cuda:nccl` of several."""
        names = [*self.backends.values()]
        return names[0] if len(names) == 1 else self.config()

    def config(self) -> str:
        """The backends' names for kinds of devices."""
        return ",".join(f"{kind}:{backend}" for kind, backend in self.backends.items())

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
        for engine in self._engines.values():
            engine.timeout = timeout

    def _get_backend(self, device: torch.device) -> EngineGroup:
        """The engine for tensors of a device. RuntimeError if there is none."""
        engine = self._engines.get(device.type)
        if engine is None:
            raise RuntimeError(f"No backend type associated with device type {device.type}")
        return engine

    def own_device(self) -> torch.device:
        """Where the group's own small tensors are: the CPU, if it has an engine for that."""
        if "cpu" in self._engines:
            return torch.device("cpu")
        return self.bound_device_id or torch.device("cuda", torch.cuda.current_device())

    # ------------------------------------------------------------------ collectives; tensors are checked by the caller

    def barrier(self, async_op: bool = False, device: torch.device | None = None) -> Work | None:
        """Until all members have come."""
        device = device or self.own_device()
        return self._get_backend(device).barrier(async_op, device)

    def broadcast(self, tensor: Tensor, root: int, async_op: bool = False) -> Work | None:
        """`tensor` becomes the root's."""
        return self._get_backend(tensor.device).broadcast(tensor, root, async_op)

    def reduce(self, tensor: Tensor, operation: str, root: int | None, async_op: bool = False) -> Work | None:
        """`tensor` becomes the sum (...) of all members', at the root or (None) everywhere."""
        return self._get_backend(tensor.device).reduce(tensor, operation, root, async_op)

    def gather(
        self, outputs: Sequence[Tensor], tensor: Tensor, root: int | None, async_op: bool = False
    ) -> Work | None:
        """`outputs` become the tensors of all members, at the root or (None) everywhere."""
        return self._get_backend(tensor.device).gather(outputs, tensor, root, async_op)

    def scatter(self, tensor: Tensor, inputs: Sequence[Tensor], root: int, async_op: bool = False) -> Work | None:
        """`tensor` becomes this member's of the root's `inputs`."""
        return self._get_backend(tensor.device).scatter(tensor, inputs, root, async_op)

    def reduce_scatter(self, tensor: Tensor, inputs: Tensor, operation: str, async_op: bool = False) -> Work | None:
        """`tensor` becomes the sum (...) of all members' rows for this one; `inputs` has a row for each member."""
        return self._get_backend(tensor.device).reduce_scatter(tensor, inputs, operation, async_op)

    def alltoall(
        self, output: Tensor, output_sizes: list[int], inputs: Tensor, input_sizes: list[int], async_op: bool = False
    ) -> Work | None:
        """Every member gets its part of every member's `inputs`; sizes in elements. Fails where they disagree."""
        return self._get_backend(inputs.device).alltoall(output, output_sizes, inputs, input_sizes, async_op)

    def send(self, tensor: Tensor, peer: int, tag: int) -> Work:
        """A message to one member, which goes while this process goes on."""
        return self._get_backend(tensor.device).send(tensor, peer, tag)

    def receive(self, tensor: Tensor, peer: int | None, tag: int) -> Work:
        """A message from one member, or (None) from any."""
        return self._get_backend(tensor.device).receive(tensor, peer, tag)

    def messages(self, operations: list[tuple[bool, Tensor, int, int]]) -> list[Work]:
        """Messages that go side by side: (whether it is sent, tensor, member, tag)."""
        return self._get_backend(operations[0][1].device).messages(operations)

    def abort(self) -> None:
        """Ends all calls, here and at the other members."""
        for engine in self._engines.values():
            engine.abort()

    def shutdown(self) -> None:
        """Ends the group, when what was begun is done; calls fail from now on."""
        for engine in self._engines.values():
            engine.shutdown()
