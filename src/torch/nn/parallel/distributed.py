"""A module in several processes, each with its share of the data."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.algorithms.join import Join, Joinable, JoinHook
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module, Joinable):
    """Runs `module`, and gives its parameters the average of all processes' gradients as backward computes them.

    Every process makes one of the same module, which takes over rank 0's parameters and buffers; from then on all
    train alike. Gradients are summed up in buckets of `bucket_cap_mb` while backward goes on. Parameters that a pass
    does not use need `find_unused_parameters` (or `static_graph`); buffers become rank 0's before each forward unless
    `broadcast_buffers` is False; with `gradient_as_bucket_view` gradients stay in the buckets, which saves a copy.

    Example::

        torch.distributed.init_process_group()      # under torchrun
        model = DistributedDataParallel(torch.nn.Linear(10, 1))
        model(inputs).sum().backward()               # the same gradients everywhere
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        from torch.distributed._groups import find_group
        from torch.distributed._reducer import Reducer

        _refuse_options(
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce,
            mixed_precision=mixed_precision,
            skip_all_reduce_unused_params=skip_all_reduce_unused_params,
            bucket_cap_mb_list=bucket_cap_mb_list,
            forward_sync_buffers=forward_sync_buffers,
        )
        Module.__init__(self)
        Joinable.__init__(self)
        self.device_ids = _checked_devices(module, device_ids, output_device)
        self.output_device = self.device_ids[0] if self.device_ids else None
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        self.process_group = find_group(process_group if device_mesh is None else device_mesh.get_group())
        left_out = getattr(module, "_ddp_params_and_buffers_to_ignore", ())
        named = [
            (name, parameter)
            for name, parameter in module.named_parameters()
            if parameter.requires_grad and name not in left_out
        ]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that "
                "requires a gradient."
            )
        self.module, self.dim = module, dim
        self.broadcast_buffers = True if broadcast_buffers is None else broadcast_buffers
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self._divide_by_initial_world_size = True
        self._buffers_left_out = frozenset(left_out)
        names, parameters = [name for name, _ in named], [parameter for _, parameter in named]
        if init_sync:
            self._check_alike(named)
            self._take_over([parameter.detach() for parameter in module.parameters()], 0)
            self._take_over(self._shared_buffers(), 0)
        megabytes = 25 if bucket_cap_mb is None else bucket_cap_mb
        self.reducer = Reducer(
            parameters, names, self.process_group, int(megabytes * (1 << 20)), views=gradient_as_bucket_view
        )
        self.reducer.allow_unused = find_unused_parameters or static_graph

    def _check_alike(self, named: list[tuple[str, Tensor]]) -> None:
        """RuntimeError unless all processes have the same parameters."""
        from torch.distributed._objects import all_gather_object

        own = [(name, list(parameter.shape), str(parameter.dtype)) for name, parameter in named]
        everybody: list[Any] = [None] * self.process_group.size()
        all_gather_object(everybody, own, self.process_group)
        rank = self.process_group.rank()
        for index, (mine, theirs) in enumerate(zip(own, everybody[0], strict=False)):
            if mine != theirs:
                raise RuntimeError(
                    f"DDP expects same model across all ranks: params[{index}] in rank {rank} is {mine[0]} with sizes "
                    f"{mine[1]} and type {mine[2]}, in rank 0 it is {theirs[0]} with sizes "
                    f"{theirs[1]} and type {theirs[2]}"
                )
        counts = [len(theirs) for theirs in everybody]
        if len(set(counts)) > 1:
            raise RuntimeError(f"DDP expects same model across all ranks, but the ranks have {counts} parameters")

    def _shared_buffers(self) -> list[Tensor]:
        return [buffer for name, buffer in self.module.named_buffers() if name not in self._buffers_left_out]

    def _take_over(self, tensors: list[Tensor], root: int) -> None:
        """The tensors become those of a member, in one message for each type and device."""
        by_type: dict[Any, list[Tensor]] = {}
        for tensor in tensors:
            by_type.setdefault((tensor.dtype, tensor.device), []).append(tensor)
        with torch.no_grad():
            for alike in by_type.values():
                flat = torch.cat([tensor.reshape(-1) for tensor in alike])
                self.process_group.broadcast(flat, root)
                for tensor, part in zip(alike, flat.split([tensor.numel() for tensor in alike]), strict=True):
                    tensor.copy_(part.view(tensor.shape))

    def will_sync_module_buffers(self) -> bool:
        """Whether the next forward makes the buffers rank 0's."""
        return self.require_backward_grad_sync and self.broadcast_buffers and bool(self._shared_buffers())

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's answer."""
        syncing = torch.is_grad_enabled() and self.require_backward_grad_sync
        if syncing:
            self.reducer.prepare()
        else:
            self.reducer.expecting = False
        sync_buffers, root = self.will_sync_module_buffers(), 0
        if self._join_config.enable:
            active = Join.notify_join_context(self)
            if active is not None and not self._divide_by_initial_world_size:
                self.reducer.divisor = int(active)
            self._most(sync_buffers + 2 * syncing)
            root = self._most(self.process_group.rank()) if sync_buffers else 0
        if sync_buffers:
            self._take_over(self._shared_buffers(), root)
        if self.device_ids:
            inputs, kwargs = _moved((inputs, kwargs), torch.device("cuda", self.device_ids[0]))
        answer = self.module(*inputs, **kwargs)
        if syncing and self.reducer.allow_unused:
            for tensor in _tensors_in(answer):
                if tensor.requires_grad:
                    tensor.register_hook(lambda _: self.reducer.start())
        return answer

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within it, gradients are summed up in this process only; forward and backward are both to be in it."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: Any, hook: Callable[[Any, Any], Any]) -> None:
        """Has `hook(state, bucket)` give a future of a bucket's averaged gradients, in place of a sum.

        torch.distributed.algorithms.ddp_comm_hooks.default_hooks has some. RuntimeError if there is one already.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self.reducer.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.reducer.hook, self.reducer.hook_state = hook, state

    def _most(self, number: int) -> int:
        """The largest number that any member says."""
        most = torch.tensor([number], device=self.reducer.parameters[0].device)
        self.process_group.reduce(most, "max", None)
        return int(most)

    def _set_static_graph(self) -> None:
        self.static_graph = self.reducer.allow_unused = True

    # ------------------------------------------------------------------ processes with less data than others

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Join:
        """Within it, processes may have different numbers of batches: who is through takes part with zeros.

        Gradients are divided by the number of all processes, or of those that still have data.
        """
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What Join calls when this process is through."""
        return _DDPJoinHook(self, divide_by_initial_world_size=kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> torch.device:
        """Where Join's own tensors are."""
        return self.reducer.parameters[0].device

    @property
    def join_process_group(self) -> Any:
        """Among whom."""
        return self.process_group


class _DDPJoinHook(JoinHook):
    def __init__(self, model: DistributedDataParallel, divide_by_initial_world_size: bool) -> None:
        self.model = model
        model._divide_by_initial_world_size = divide_by_initial_world_size

    def main_hook(self) -> None:
        """One forward and backward of the others: the calls that they make, without data."""
        steps = self.model._most(0)  # as forward says it
        if steps & 1:
            self.model._take_over(self.model._shared_buffers(), self.model._most(-1))
        if steps & 2:
            self.model.reducer.send_nothing()

    def post_hook(self, is_last_joiner: bool) -> None:
        """All have the parameters of one who was through last."""
        last = self.model._most(self.model.process_group.rank() if is_last_joiner else -1)
        state = [*(parameter.detach() for parameter in self.model.module.parameters()), *self.model._shared_buffers()]
        self.model._take_over(state, last)


def _refuse_options(**options: Any) -> None:
    """RuntimeError for what PyTorch's has and this one does not do."""
    for name, value in options.items():
        if value:
            raise RuntimeError(f"DistributedDataParallel: {name}={value!r} is not supported here; leave it out")


def _checked_devices(module: Module, device_ids: Any, output_device: Any) -> list[int] | None:
    """The one device that the module is on, by its number, if it was said. ValueError for others."""
    devices = {parameter.device for parameter in module.parameters()}
    if not device_ids and output_device is None:
        return None
    on_cuda = all(device.type == "cuda" for device in devices)
    if not on_cuda or len(devices) != 1 or (device_ids and len(device_ids) != 1):
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-"
            f"device GPU modules or CPU modules, but got device_ids {device_ids}, output_device {output_device}, and "
            f"module parameters {devices}."
        )
    (device,) = devices
    for said in (*(device_ids or ()), *(() if output_device is None else (output_device,))):
        named = torch.device("cuda", said) if isinstance(said, int) else torch.device(said)
        if named != device:
            raise ValueError(f"DistributedDataParallel: the module is on {device}, device_ids say {named}")
    return [device.index]


def _moved(value: Any, device: torch.device) -> Any:
    """A value with its tensors on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(part, device) for part in value))
    if isinstance(value, list | tuple):
        return type(value)(_moved(part, device) for part in value)
    if isinstance(value, dict):
        return type(value)((key, _moved(part, device)) for key, part in value.items())
    return value


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors_in(part)
