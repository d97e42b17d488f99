"""`DeviceMesh`: ranks in several dimensions, with a process group along each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _unavailable
from torch.distributed import REASON
from torch.distributed._groups import (
    find_group,
    get_rank,
    get_world_size,
    init_process_group,
    is_initialized,
    new_group,
)

if TYPE_CHECKING:
    from torch import Tensor
    from torch.distributed._process_group import ProcessGroup

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks in the shape of `mesh` (a tensor or lists); every rank makes the same. Dimensions may have names.

    `mesh["name"]` is this rank's part along a dimension, `get_group("name")` the group of the ranks in it.
    """

    def __init__(self, device_type: str, mesh: Any, *, mesh_dim_names: tuple[str, ...] | None = None) -> None:
        if device_type not in ("cpu", "cuda"):
            raise ValueError(f"torch.distributed is for the CPU and CUDA here: device_type is {device_type!r}")
        self.device_type = device_type
        self.mesh: Tensor = torch.as_tensor(mesh, dtype=torch.int64)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        if self.mesh_dim_names and len(set(self.mesh_dim_names)) != self.mesh.dim():
            raise RuntimeError(
                f"mesh_dim_names {self.mesh_dim_names} do not name the {self.mesh.dim()} dimensions, each once"
            )
        if not is_initialized():
            init_process_group()
        ranks = self.mesh.flatten().tolist()
        if len(set(ranks)) != len(ranks) or min(ranks) < 0 or max(ranks) >= get_world_size():
            raise RuntimeError(
                f"mesh must hold different ranks of the {get_world_size()} that there are: {self.mesh.tolist()}"
            )
        places = (self.mesh == get_rank()).nonzero()
        self._coordinate = places[0].tolist() if len(places) else None
        self._groups = [self._make_groups(dim) for dim in range(self.mesh.dim())]

    def _make_groups(self, dim: int) -> Any:
        """The groups along a dimension, of which this rank's is kept; every rank makes them all, in one order."""
        own = None
        for line in self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist():
            made = find_group() if line == list(range(get_world_size())) else new_group(line)
            if get_rank() in line:
                own = made
        return own

    def _dimension(self, dim: int | str | None) -> int:
        if dim is None:
            if self.ndim > 1:
                raise RuntimeError(f"the mesh has {self.ndim} dimensions: say which one is meant")
            return 0
        if isinstance(dim, str):
            if dim not in (self.mesh_dim_names or ()):
                raise KeyError(f"Invalid mesh_dim_name {dim!r}: the mesh has {self.mesh_dim_names}")
            return (self.mesh_dim_names or ()).index(dim)
        return dim

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self.mesh.dim()

    @property
    def shape(self) -> tuple[int, ...]:
        """How many ranks there are in each."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """How many ranks there are, in all or in a dimension."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim]

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group of this rank along a dimension."""
        return self._groups[self._dimension(mesh_dim)]

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups of this rank, one for each dimension."""
        return list(self._groups)

    def get_rank(self) -> int:
        """This process's global rank."""
        return get_rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This rank's place in a dimension."""
        return get_rank(self.get_group(mesh_dim))

    def get_coordinate(self) -> list[int] | None:
        """This rank's place in the mesh, None if it is not in it."""
        return self._coordinate

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        """The part of the mesh along these dimensions in which this rank is."""
        wanted = (names,) if isinstance(names, str) else names
        dims = [self._dimension(name) for name in wanted]
        if self._coordinate is None:
            raise RuntimeError("this rank is not in the mesh")
        part = DeviceMesh.__new__(DeviceMesh)
        index = tuple(slice(None) if dim in dims else self._coordinate[dim] for dim in range(self.ndim))
        kept = sorted(dims)
        part.device_type, part.mesh_dim_names = self.device_type, tuple(wanted)
        part.mesh = self.mesh[index].permute([kept.index(dim) for dim in dims])
        part._coordinate = [self._coordinate[dim] for dim in dims]
        part._groups = [self._groups[dim] for dim in dims]
        return part

    def __repr__(self) -> str:
        names = f", mesh_dim_names={self.mesh_dim_names}" if self.mesh_dim_names else ""
        return f"DeviceMesh({self.device_type!r}, {self.mesh.tolist()}{names})"


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None
) -> DeviceMesh:
    """The mesh of all ranks in this shape, row by row; joins the processes first if they have not yet.

    Example::

        mesh = init_device_mesh("cpu", (2, 4), mesh_dim_names=("replicate", "shard"))
    """
    if mesh_dim_names is not None and len(mesh_dim_names) != len(mesh_shape):
        raise RuntimeError(f"mesh_shape {mesh_shape} and mesh_dim_names {mesh_dim_names} should have the same length")
    count = 1
    for size in mesh_shape:
        count *= size
    if not is_initialized():
        init_process_group()
    if count > get_world_size():
        raise RuntimeError(f"a mesh of {mesh_shape} takes {count} ranks, there are {get_world_size()}")
    return DeviceMesh(device_type, torch.arange(count).view(mesh_shape), mesh_dim_names=mesh_dim_names)


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
