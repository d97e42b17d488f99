"""Process groups: how they are made, found and ended, and which rank is which in them."""

from __future__ import annotations

import datetime
import os
from enum import Enum
from typing import TYPE_CHECKING, Any

from torch.distributed import _engine
from torch.distributed._errors import DistStoreError
from torch.distributed._process_group import ProcessGroup
from torch.distributed._store import PrefixStore, Store
from torch.distributed._tcp_store import TCPStore
from torch.distributed.constants import default_pg_timeout
from torch.distributed.rendezvous import check_rank, rendezvous

if TYPE_CHECKING:
    from collections.abc import Sequence

BACKENDS = ("gloo", "mpi", "nccl", "ucc", "xccl")


class Backend(str):
    """A backend's name, in lower case. There are gloo, mpi and nccl; ucc and xccl are known by name."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    backend_list = ["undefined", *BACKENDS]  # noqa: RUF012

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())

    @classmethod
    def register_backend(cls, name: str, *args: Any, **kwargs: Any) -> None:
        """Refuses: backends of others are not supported."""
        raise NotImplementedError(f"backend {name}: torch.distributed has gloo, mpi and nccl, and takes no others")


class ReduceOp(Enum):
    """How the tensors of all members become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    RedOpType: Any  # the class itself, set below


ReduceOp.RedOpType = ReduceOp


class GroupMember:
    """The group of all processes, and what `new_group` gives to who is not in the new one."""

    WORLD: ProcessGroup | None = None
    NON_GROUP_MEMBER = -100


class _GroupMeta(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        return GroupMember.WORLD

    @WORLD.setter
    def WORLD(cls, value: ProcessGroup | None) -> None:
        GroupMember.WORLD = value


class group(metaclass=_GroupMeta):
    """`group.WORLD`: the group of all processes, None before `init_process_group`."""


class _Groups:
    """All groups of this process, with the global ranks of their members in order."""

    def __init__(self) -> None:
        self.ranks: dict[ProcessGroup, list[int]] = {}
        self.store: Store | None = None
        self.made = 0


_groups = _Groups()
NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."


def is_initialized() -> bool:
    """Whether `init_process_group` was called, and the group not destroyed since."""
    return GroupMember.WORLD is not None


def is_backend_available(backend: str) -> bool:
    """Whether there is a backend of that name: gloo, mpi or nccl, if its library is installed."""
    return _engine.find(backend.lower()) is not None


def find_group(given: Any = None) -> ProcessGroup:
    """The group that is meant: the given one, or that of all. ValueError where there is none."""
    if given is None:
        if GroupMember.WORLD is None:
            raise ValueError(NOT_INITIALIZED)
        return GroupMember.WORLD
    if not isinstance(given, ProcessGroup):
        raise TypeError(f"Invalid process group specified: {given!r}")
    if given not in _groups.ranks:
        raise ValueError("Invalid process group specified: it was destroyed")
    return given


def is_member(given: Any) -> bool:
    """Whether this process takes part in calls on the group; those of others do nothing, with a warning."""
    if given is not None and given == GroupMember.NON_GROUP_MEMBER:
        import warnings

        warnings.warn(
            "Running a collective on a process group that this rank is not part of; it does nothing", stacklevel=3
        )
        return False
    return True


def rank_in(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str) -> int:
    """The group's rank of `rank`, a global one, or `group_rank`. ValueError unless one is given, and is a member's."""
    if (rank is None) == (group_rank is None):
        raise ValueError(
            f"Must specify one of {name} or group_{name}"
            if rank is None
            else f"Can't specify both {name} and group_{name}"
        )
    if group_rank is not None:
        if not 0 <= group_rank < group.size():
            raise ValueError(f"group_{name} {group_rank} is not in the range 0 to {group.size() - 1}")
        return group_rank
    assert rank is not None
    return get_group_rank(group, rank)


# The kind of device whose tensors a backend takes.
DEVICES = {"gloo": "cpu", "mpi": "cpu", "nccl": "cuda"}


def _backends_of(backend: str | None) -> dict[str, str]:
    """The backend for each kind of device: "nccl", "cpu:gloo,cuda:nccl"; None is what there is.

    ValueError or RuntimeError for others. Their libraries are loaded.
    """
    if backend is None or backend == "undefined":
        return {"cpu": "gloo"} | ({"cuda": "nccl"} if _nccl_can_be_used() else {})
    found: dict[str, str] = {}
    for part in backend.lower().split(","):
        device, _, name = (word.strip() for word in part.rpartition(":"))
        if name not in BACKENDS:
            raise ValueError(f"Unknown backend type {name}; there are gloo, mpi and nccl")
        if name not in DEVICES:
            raise RuntimeError(
                f"Distributed package doesn't have {name.upper()} built in; there are gloo, mpi and nccl"
            )
        if device not in ("", DEVICES[name]):
            raise RuntimeError(f"{name} takes tensors of {DEVICES[name]}, not of {device}: say {DEVICES[name]}:{name}")
        if DEVICES[name] in found:
            raise ValueError(f"{backend!r} names two backends for {DEVICES[name]}")
        found[DEVICES[name]] = name
        _engine.load(name)
    return found


def _nccl_can_be_used() -> bool:
    import torch

    return _engine.find("nccl") is not None and torch.cuda.is_available()


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: datetime.timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Joins this process, as number `rank`, with `world_size` in all; returns when all have come.

    They find one another by `init_method` (`env://`, the default, reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT;
    `tcp://HOST:PORT`; `file:///PATH`) or by a `store`. Calls of the group take at most `timeout`. ValueError for ranks
    and sizes that do not fit; DistStoreError names the ranks that did not come in time. Processes of `mpirun` have
    found one another already: with the backend "mpi" nothing need be said.

    The backend is "gloo" (tensors of the CPU), "mpi" (those, too), "nccl" (of CUDA devices), or one for each kind of
    device: "cpu:gloo,cuda:nccl", which is what None means where there is NCCL. With `device_id` NCCL connects at once,
    and names the device of barriers and objects.
    """
    if GroupMember.WORLD is not None:
        raise ValueError("trying to initialize the default process group twice!")
    backends = _backends_of(backend)
    device = _checked_device(device_id)
    timeout = default_pg_timeout if timeout is None else timeout
    if not isinstance(timeout, datetime.timedelta) or timeout <= datetime.timedelta(0):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, above 0, got {timeout!r}")
    if store is not None and init_method is not None:
        raise ValueError("Cannot specify both init_method and store.")
    if backends.get("cpu") == "mpi":
        store, rank, world_size = _mpi_world(rank, world_size, timeout, store)
    elif store is not None:
        if world_size <= 0 or rank < 0:
            raise ValueError("world_size must be positive and rank non-negative if using store")
    else:
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size, timeout=timeout))
    check_rank(rank, world_size)
    store.set_timeout(timeout)
    _groups.store, _groups.made = store, 0
    GroupMember.WORLD = _make_group(list(range(world_size)), rank, timeout, "default_pg", backends, device)
    GroupMember.WORLD.group_desc = group_name or "default_pg"


def _checked_device(device: Any) -> Any:
    """The device that is said, with its number."""
    import torch

    if device is None:
        return None
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if device.type == "cuda" and device.index is None:
        raise ValueError(f"device_id {device} has to name one device, as cuda:0 does")
    return device if device.type == "cuda" else None


def _mpi_world(rank: int, size: int, timeout: datetime.timedelta, store: Store | None) -> tuple[Store, int, int]:
    """The store, the rank and the size of what mpirun has started; process 0 serves the store."""
    from torch.distributed._host_groups import own_address

    world = _engine.World()
    for said, known, what in ((rank, world.rank, "rank"), (size, world.size, "world_size")):
        if said not in (-1, known):
            raise ValueError(f"{what} {said} was given, but mpirun says {known}")
    if store is None:
        place = ""
        if world.rank == 0:
            host = own_address()[0] or "127.0.0.1"
            store = TCPStore(host, 0, is_master=True, timeout=timeout)
            place = f"{host} {store.port}"
        place = world.share(place, timeout.total_seconds())
        if store is None:
            host, port = place.split()
            store = TCPStore(host, int(port), timeout=timeout)
    return store, world.rank, world.size


def _make_group(
    ranks: list[int], rank: int, timeout: datetime.timedelta, name: str, backends: dict[str, str], device: Any
) -> ProcessGroup:
    assert _groups.store is not None
    store = PrefixStore(name, _groups.store)
    _join(store, ranks, rank)
    made = ProcessGroup(store, rank, len(ranks), timeout, name, backends, device)
    _groups.ranks[made] = ranks
    return made


def _join(store: Store, ranks: list[int], rank: int) -> None:
    """Says that this member is here, and waits for the others."""
    size = str(len(ranks)).encode()
    if (said := store.compare_set("world_size", "", size)) != size:
        raise ValueError(f"rank {rank} was started with world_size {size.decode()}, others with {said.decode()}")
    if store.add(f"joined/{rank}", 1) > 1:
        raise ValueError(f"rank {rank} has joined already: two processes were started with the same rank")
    names = [f"joined/{member}" for member in range(len(ranks))]
    try:
        store.wait(names)
    except DistStoreError:
        missing = [str(ranks[member]) for member, name in enumerate(names) if not store.check([name])]
        seconds = store.timeout.total_seconds()
        raise DistStoreError(
            f"rank {', '.join(missing)} of {len(ranks)} did not join within {seconds:g} seconds"
        ) from None


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Ends a group; that of all, and with it all others, if none is given."""
    if group is not None and group == GroupMember.NON_GROUP_MEMBER:
        return
    ended = find_group(group)
    every = list(_groups.ranks) if ended is GroupMember.WORLD else [ended]
    for member in every:
        member.shutdown()
        del _groups.ranks[member]
    if ended is GroupMember.WORLD:
        GroupMember.WORLD = _groups.store = None


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
) -> Any:
    """A group of these (global) ranks, None: of all. Every process calls it, with the same ranks.

    Who is not in it gets GroupMember.NON_GROUP_MEMBER. With `use_local_synchronization` only members call it.
    """
    world = find_group()
    backends = world.backends if backend is None else _backends_of(backend)
    device = world.bound_device_id if device_id is None else _checked_device(device_id)
    members = sorted(range(world.size()) if ranks is None else ranks)
    for rank in members:
        if not 0 <= rank < world.size():
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {world.size() - 1} (world_size={world.size()})"
            )
    if len(set(members)) != len(members):
        raise ValueError(f"a rank is in the group twice: {members}")
    if use_local_synchronization:
        if world.rank() not in members:
            return None
        count = sum(ranks == members for ranks in _groups.ranks.values())
        name = "group_" + "_".join(map(str, members)) + f".{count}"
    else:
        _groups.made += 1
        name = f"group_{_groups.made}"
    if world.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    made = _make_group(members, members.index(world.rank()), timeout or world.timeout, name, backends, device)
    made.group_desc = group_desc or name
    return made


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """The groups of these lists of ranks, which do not overlap: (this process's, all)."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    every = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(every)) != len(every):
        raise ValueError("Rank appears in multiple subgroups")
    groups = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc) for ranks in ranks_per_subgroup_list
    ]
    own = [made for made, ranks in zip(groups, ranks_per_subgroup_list, strict=True) if get_rank() in ranks]
    return (own[0] if own else None), groups


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: datetime.timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Groups of `group_size` neighbours each, by default those of one machine: (this process's, all)."""
    size = int(os.environ.get("LOCAL_WORLD_SIZE", get_world_size())) if group_size is None else group_size
    world = get_world_size()
    if size <= 0:
        raise ValueError(f"The arg 'group_size' ({size}) must be positive")
    if world < size or world % size:
        raise ValueError(f"The world size ({world}) must be divisible by group_size={size}")
    lists = [list(range(first, first + size)) for first in range(0, world, size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def get_rank(group: Any = None) -> int:
    """This process's number in the group, -1 if it is not in it."""
    return -1 if group is not None and group == GroupMember.NON_GROUP_MEMBER else find_group(group).rank()


def get_world_size(group: Any = None) -> int:
    """How many processes are in the group, -1 if this one is not."""
    return -1 if group is not None and group == GroupMember.NON_GROUP_MEMBER else find_group(group).size()


def get_backend(group: Any = None) -> Backend:
    """The group's backend."""
    return Backend(find_group(group).name())


def get_backend_config(group: Any = None) -> str:
    """The group's backends for kinds of devices."""
    return find_group(group).config()


def get_process_group_ranks(group: Any = None) -> list[int]:
    """The global ranks of the members, in the order of their ranks in the group."""
    return list(_groups.ranks[find_group(group)])


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The global rank of a member. ValueError if it has no such member."""
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """A process's rank in the group. ValueError if it is not in it."""
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """This process's number on its machine, from LOCAL_RANK. RuntimeError without it and without a fallback."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return fallback_rank
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work"
    )


def get_pg_count() -> int:
    """How many groups there are."""
    return len(_groups.ranks)
