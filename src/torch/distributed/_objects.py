"""Collectives of any objects that can be pickled. What comes is unpickled: only members that are trusted may call."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._collectives import all_gather, broadcast, gather, recv, scatter, send
from torch.distributed._groups import find_group, get_global_rank, is_member, rank_in

if TYPE_CHECKING:
    from torch import Tensor
    from torch.distributed._process_group import ProcessGroup


def _pickled(value: Any, device: torch.device) -> Tensor:
    return torch.frombuffer(bytearray(pickle.dumps(value)), dtype=torch.uint8).to(device)


def _unpickled(tensor: Tensor, size: int) -> Any:
    return pickle.loads(tensor[:size].cpu().numpy().tobytes() if size else b"")


def _sizes(own: int, group: Any) -> list[int]:
    """What every member says."""
    among = find_group(group)
    mine = torch.tensor([own], device=among.own_device())
    sizes = [torch.zeros_like(mine) for _ in range(among.size())]
    all_gather(sizes, mine, group)
    return [int(size) for size in sizes]


def _device(among: ProcessGroup, device: Any) -> torch.device:
    """Where objects are sent from: where the group's own tensors are, unless it is said."""
    return among.own_device() if device is None else torch.device(device)


def _padded(tensor: Tensor, size: int) -> Tensor:
    return torch.cat([tensor, tensor.new_zeros(size - tensor.numel())])


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """`object_list` becomes the objects of all members."""
    if not is_member(group):
        return
    own = _pickled(obj, find_group(group).own_device())
    sizes = _sizes(own.numel(), group)
    if len(object_list) != len(sizes):
        raise RuntimeError(f"all_gather_object: object_list has {len(object_list)} places for {len(sizes)} members")
    parts = [own.new_empty(max(sizes)) for _ in sizes]
    all_gather(parts, _padded(own, max(sizes)), group)
    object_list[:] = [_unpickled(part, size) for part, size in zip(parts, sizes, strict=True)]


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """`object_gather_list` becomes the objects of all members, at rank `dst` (0)."""
    if not is_member(group):
        return
    among = find_group(group)
    root = rank_in(among, get_global_rank(among, 0) if dst is None and group_dst is None else dst, group_dst, "dst")
    here = among.rank() == root
    if here and (object_gather_list is None or len(object_gather_list) != among.size()):
        raise ValueError(
            "Argument ``object_gather_list`` must be specified on destination rank, with a place for each member."
        )
    if not here and object_gather_list is not None:
        raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    own = _pickled(obj, find_group(group).own_device())
    sizes = _sizes(own.numel(), group)
    parts = [own.new_empty(max(sizes)) for _ in sizes] if here else None
    gather(_padded(own, max(sizes)), parts, group=group, group_dst=root)
    if object_gather_list is not None and parts is not None:
        object_gather_list[:] = [_unpickled(part, size) for part, size in zip(parts, sizes, strict=True)]


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """`object_list` becomes that of rank `src` (0); it has one length everywhere."""
    if not is_member(group):
        return
    among = find_group(group)
    root = rank_in(among, get_global_rank(among, 0) if src is None and group_src is None else src, group_src, "src")
    here = among.rank() == root
    place = _device(among, device)
    parts = [_pickled(value, place) for value in object_list] if here else []
    sizes = torch.tensor([part.numel() for part in parts] or [0] * len(object_list), device=place)
    broadcast(sizes, group=group, group_src=root)
    flat = torch.cat(parts) if here else torch.empty(int(sizes.sum()), dtype=torch.uint8, device=place)
    broadcast(flat, group=group, group_src=root)
    if not here:
        object_list[:] = [_unpickled(part, part.numel()) for part in flat.split(sizes.tolist())]


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """The first of the output list becomes this member's of rank `src`'s (0) input list."""
    if not is_member(group):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    among = find_group(group)
    root = rank_in(among, get_global_rank(among, 0) if src is None and group_src is None else src, group_src, "src")
    here = among.rank() == root
    if here and (scatter_object_input_list is None or len(scatter_object_input_list) != among.size()):
        raise ValueError(
            "Argument ``scatter_object_input_list`` must be specified on source rank, with an object for each member."
        )
    place = among.own_device()
    parts = [_pickled(value, place) for value in scatter_object_input_list or []] if here else []
    sizes = torch.tensor([part.numel() for part in parts] or [0] * among.size(), device=place)
    broadcast(sizes, group=group, group_src=root)
    longest = int(sizes.max())
    own = torch.empty(longest, dtype=torch.uint8, device=place)
    scatter(own, [_padded(part, longest) for part in parts] if here else None, group=group, group_src=root)
    scatter_object_output_list[0] = _unpickled(own, int(sizes[among.rank()]))


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Sends objects to rank `dst`, which receives as many."""
    if not is_member(group):
        return
    place = _device(find_group(group), device)
    parts = [_pickled(value, place) for value in object_list]
    send(torch.tensor([part.numel() for part in parts], device=place), dst, group, group_dst=group_dst)
    send(torch.cat(parts), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """`object_list` becomes what rank `src` sends, or (None) any; the sender's rank."""
    if not is_member(group):
        return -1
    place = _device(find_group(group), device)
    sizes = torch.zeros(len(object_list), dtype=torch.int64, device=place)
    sender = recv(sizes, src, group, group_src=group_src)
    flat = torch.empty(int(sizes.sum()), dtype=torch.uint8, device=place)
    recv(flat, sender, group)
    object_list[:] = [_unpickled(part, part.numel()) for part in flat.split(sizes.tolist())]
    return sender
