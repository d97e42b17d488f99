"""The collectives and messages, as programs call them: arguments are checked here, on every member alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._errors import DistBackendError, DistStoreError
from torch.distributed._groups import ReduceOp, find_group, get_global_rank, is_member, rank_in

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from torch.distributed._process_group import ProcessGroup
    from torch.distributed._work import Work


def _check_tensor(value: Any, name: str) -> None:
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(value)} instead."
        )


def _check_tensors(values: Any, name: str) -> None:
    if not isinstance(values, list | tuple) or not all(isinstance(value, torch.Tensor) for value in values):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(values)} instead."
        )


def _check_rows(rows: Sequence[Tensor], tensor: Tensor, group: ProcessGroup, name: str) -> None:
    """One tensor for each member, like `tensor`."""
    if len(rows) != group.size():
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: invalid tensor list at index 0 "
            f"(expected length {group.size()}, got {len(rows)})"
        )
    for index, row in enumerate(rows):
        if row.dtype != tensor.dtype:
            raise ValueError(f"Invalid usage of tensors with different dtypes: found {row.dtype} and {tensor.dtype}")
        if row.shape != tensor.shape:
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid tensor size at index {index} "
                f"(expected {tuple(tensor.shape)}, got {tuple(row.shape)})"
            )


def _operation(op: Any) -> str:
    if not isinstance(op, ReduceOp):
        raise TypeError(f"op must be a ReduceOp, not {op!r}")
    if op is ReduceOp.PREMUL_SUM:
        raise RuntimeError("Cannot use ReduceOp.PREMUL_SUM with Gloo")
    return op.name.lower()


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """`tensor` becomes that of rank `src`, everywhere."""
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    return among.broadcast(tensor, rank_in(among, src, group_src, "src"), async_op)


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """`tensor` becomes the sum (`op`) of all members' tensors, everywhere."""
    _check_tensor(tensor, "tensor")
    return find_group(group).reduce(tensor, _operation(op), None, async_op) if is_member(group) else None


def all_reduce_coalesced(
    tensors: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Each of `tensors`, which have one type, becomes the sum (`op`) of all members', in one go."""
    _check_tensors(tensors, "tensors")
    if not is_member(group) or not tensors:
        return None
    flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])

    def finish() -> None:
        with torch.no_grad():
            for part, tensor in zip(flat.split([tensor.numel() for tensor in tensors]), tensors, strict=True):
                tensor.copy_(part.view(tensor.shape))

    return _then(find_group(group).reduce(flat, _operation(op), None, async_op), finish)


def _then(work: Work | None, finish: Callable[[], None]) -> Work | None:
    """Work that ends with `finish()`; at once if it is done."""
    from torch.distributed._work import Message

    if work is None:
        finish()
        return None
    if hasattr(work, "then"):  # on a device, whose work this becomes
        return work.then(finish)

    def run() -> None:
        work.wait()
        finish()

    return Message(run, work._result)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`tensor` becomes the sum (`op`) of all members' tensors, at rank `dst`."""
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    return among.reduce(tensor, _operation(op), rank_in(among, dst, group_dst, "dst"), async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """`tensor_list` becomes the tensors of all members, everywhere; they are alike."""
    _check_tensors(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    _check_rows(tensor_list, tensor, among, "allgather")
    return among.gather(tensor_list, tensor, None, async_op)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """`output_tensor` becomes the tensors of all members, one behind the other or stacked."""
    _check_tensor(output_tensor, "output_tensor")
    _check_tensor(input_tensor, "input_tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    if output_tensor.dtype != input_tensor.dtype:
        raise ValueError(
            f"Invalid usage of tensors with different dtypes: found {output_tensor.dtype} and {input_tensor.dtype}"
        )
    if output_tensor.numel() != input_tensor.numel() * among.size():
        raise ValueError(
            f"output tensor size must be equal to world_size times input tensor size: {tuple(output_tensor.shape)} "
            f"for {among.size()} of {tuple(input_tensor.shape)}"
        )
    if output_tensor.is_contiguous():
        return among.gather([output_tensor], input_tensor, None, async_op)
    rows = output_tensor.new_empty((among.size(), *input_tensor.shape))
    work = among.gather([rows], input_tensor, None, async_op)

    def finish() -> None:
        output_tensor.detach().copy_(rows.view(output_tensor.shape))

    return _then(work, finish)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """`gather_list` becomes the tensors of all members, at rank `dst` (0); others give none."""
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    root = rank_in(among, get_global_rank(among, 0) if dst is None and group_dst is None else dst, group_dst, "dst")
    if among.rank() == root:
        if not gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        _check_tensors(gather_list, "gather_list")
        _check_rows(gather_list, tensor, among, "gather")
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    return among.gather(gather_list or [], tensor, root, async_op)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """`tensor` becomes this member's of the `scatter_list` of rank `src` (0); others give none."""
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    root = rank_in(among, get_global_rank(among, 0) if src is None and group_src is None else src, group_src, "src")
    if among.rank() == root:
        if not scatter_list:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        _check_tensors(scatter_list, "scatter_list")
        _check_rows(scatter_list, tensor, among, "scatter")
    elif scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    return among.scatter(tensor, scatter_list or [], root, async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """`output` becomes the sum (`op`) of what all members' `input_list` has for this one."""
    _check_tensor(output, "output")
    _check_tensors(input_list, "input_list")
    if not is_member(group):
        return None
    among = find_group(group)
    _check_rows(input_list, output, among, "reduce_scatter")
    return among.reduce_scatter(output, torch.stack([part.detach() for part in input_list]), _operation(op), async_op)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """`output` becomes the sum (`op`) of this member's part of all `input`s."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if not is_member(group):
        return None
    among = find_group(group)
    if output.dtype != input.dtype:
        raise ValueError(f"Invalid usage of tensors with different dtypes: found {output.dtype} and {input.dtype}")
    if input.numel() != output.numel() * among.size():
        raise RuntimeError(
            f"input tensor must be the same size as output size times world size: {tuple(input.shape)} for "
            f"{among.size()} of {tuple(output.shape)}"
        )
    return among.reduce_scatter(output, input, _operation(op), async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Rows of `input` go to the members in turn, rows of `output` come from them.

    They are equally many for each member, or as many as the split sizes say.
    """
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    if not is_member(group):
        return None
    among = find_group(group)
    if output.dtype != input.dtype:
        raise ValueError(f"Invalid usage of tensors with different dtypes: found {output.dtype} and {input.dtype}")
    outputs = _elements(output, output_split_sizes, among.size())
    return among.alltoall(output, outputs, input, _elements(input, input_split_sizes, among.size()), async_op)


def _elements(tensor: Tensor, rows: list[int] | None, members: int) -> list[int]:
    """How many elements of a tensor are each member's."""
    count = tensor.shape[0] if tensor.dim() else 1
    if not rows:
        if count % members:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [tensor.numel() // members] * members
    if len(rows) != members:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(rows) != count or min(rows) < 0:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [size * (tensor.numel() // count if count else 0) for size in rows]


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Tensor i of the inputs goes to member i, tensor i of the outputs comes from it."""
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")
    if not is_member(group):
        return None
    among = find_group(group)
    for tensors, name in ((output_tensor_list, "output"), (input_tensor_list, "input")):
        if len(tensors) != among.size():
            raise RuntimeError(f"all_to_all: {among.size()} {name} tensors are expected, got {len(tensors)}")
    types = {tensor.dtype for tensor in [*output_tensor_list, *input_tensor_list]}
    if len(types) != 1:
        raise ValueError(
            f"Invalid usage of tensors with different dtypes: found {' and '.join(sorted(map(str, types)))}"
        )
    sizes = [tensor.numel() for tensor in output_tensor_list]
    inputs = torch.cat([tensor.detach().reshape(-1) for tensor in input_tensor_list])
    output = inputs.new_empty(sum(sizes))

    def finish() -> None:
        with torch.no_grad():
            for part, tensor in zip(output.split(sizes), output_tensor_list, strict=True):
                tensor.copy_(part.view(tensor.shape))

    return _then(
        among.alltoall(output, sizes, inputs, [tensor.numel() for tensor in input_tensor_list], async_op), finish
    )


def barrier(group: Any = None, async_op: bool = False, device_ids: list[int] | None = None) -> Work | None:
    """Until all members have come to it; `device_ids` has the number of the device to do it from, with NCCL."""
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError(f"Invalid function argument: device_ids type should be List[int], not {type(device_ids)}")
    device = torch.device("cuda", device_ids[0]) if device_ids else None
    return find_group(group).barrier(async_op, device) if is_member(group) else None


def monitored_barrier(
    group: Any = None, timeout: datetime.timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Until all members have come to it. RuntimeError that names those who have not, within `timeout`.

    They meet in the store, so that the group goes on to work after a failure.
    """
    if not is_member(group):
        return
    among = find_group(group)
    limit = timeout or among.timeout
    number = among._barriers
    among._barriers += 1
    store = among.get_group_store()
    names = [f"monitored/{number}/{rank}" for rank in range(among.size())]
    store.set(names[among.rank()], b"1")
    try:
        store.wait(names, limit)
    except DistStoreError:
        missing = [str(get_global_rank(among, rank)) for rank, name in enumerate(names) if not store.check([name])]
        raise DistBackendError(
            f"[Rank {among.rank()}]: Rank{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            f"failed to pass monitoredBarrier in {round(limit.total_seconds() * 1000)} ms"
        ) from None


# ---------------------------------------------------------------------- messages


def _peer(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str) -> int:
    peer = rank_in(group, rank, group_rank, name)
    if peer == group.rank():
        long = {"dst": "destination", "src": "source"}[name]
        raise ValueError(f"Invalid {long} rank: {long} rank should not be the same as the rank of the current process.")
    return peer


def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Starts to send a tensor to rank `dst`, which receives one of its size and type, with the same tag."""
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    return among.send(tensor, _peer(among, dst, group_dst, "dst"), tag)


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Starts to receive a tensor from rank `src`, or (None) from any."""
    _check_tensor(tensor, "tensor")
    if not is_member(group):
        return None
    among = find_group(group)
    anybody = src is None and group_src is None
    return among.receive(tensor, None if anybody else _peer(among, src, group_src, "src"), tag)


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Sends a tensor to rank `dst`; waits until it is on its way."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receives a tensor from rank `src`, or (None) from any; the sender's rank, -1 outside of the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    return get_global_rank(find_group(group), work.source_rank())


class P2POp:
    """A message for `batch_isend_irecv`: `isend` or `irecv`, a tensor and a rank."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        _check_tensor(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        among = find_group(group)
        self.group_peer = rank_in(among, peer, group_peer, "peer")
        self.peer = get_global_rank(among, self.group_peer)


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts all these messages; one work for each, with NCCL one for all."""
    if not isinstance(p2p_op_list, list) or not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    if any(op.group is not p2p_op_list[0].group for op in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    if not is_member(p2p_op_list[0].group):
        return []
    among = find_group(p2p_op_list[0].group)
    operations = []
    for op in p2p_op_list:
        peer = _peer(among, None, op.group_peer, "dst" if op.op is isend else "src")
        operations.append((op.op is isend, op.tensor, peer, op.tag))
    return among.messages(operations)
