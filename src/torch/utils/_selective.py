"""Checkpoints that keep the results of some operators, and compute the others again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode, redispatch_function
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


class CheckpointPolicy(Enum):
    """What becomes of an operator's result: kept, kept in the CPU's memory, or computed again.

    A compiler may decide otherwise on what begins with PREFER; there is none here.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_OFFLOADED = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)
_KEPT = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, *_OFFLOADED)

# Operators that compute nothing.
_IGNORED = (
    "detach dim is_contiguous is_non_overlapping_and_dense is_strides_like_format numel size storage_offset stride "
    "sym_numel sym_size sym_storage_offset sym_stride"
)
SAC_IGNORED_OPS = {getattr(torch.ops.aten, name).default for name in _IGNORED.split()}


class SelectiveCheckpointContext:
    """What a policy is told beside the operator and its arguments: the result, `op_output`."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


def _operator_of(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The operator that does the work of a function of torch, as PyTorch names it below autograd."""
    name = getattr(function, "__name__", "")
    if isinstance(function, torch._ops.OpOverload):
        return function
    if name == "linear":
        name = "addmm" if len(args) > 2 and args[2] is not None else "mm"
    elif name in ("matmul", "__matmul__", "__rmatmul__"):
        one, two = args[0].dim(), args[1].dim()
        name = {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm"}.get((one, two), "mm" if two == 2 else "bmm")
    elif name in ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"):
        name = "convolution"
    elif name == "scaled_dot_product_attention":
        name = "_scaled_dot_product_flash_attention_for_cpu"
    elif name.startswith("__"):
        name = {"getitem": "index", "truediv": "div", "rtruediv": "div"}.get(name.strip("_"), name.strip("_"))
    return getattr(torch.ops.aten, name).default


def _same(one: Tensor, two: Any) -> bool:
    return isinstance(two, torch.Tensor) and (one.data_ptr(), one.shape, one.stride(), one.dtype) == (
        two.data_ptr(),
        two.shape,
        two.stride(),
        two.dtype,
    )


@dataclass
class _Kept:
    """The results of one call, and what its node saved: ("argument" or "result", number), or a tensor of its own."""

    values: list[Any]
    versions: list[int | None]
    devices: list[Any]
    wants_grad: list[bool]
    structure: Any
    saved: list[tuple[str, Any]]


class _Result(torch.autograd.Function):
    """A kept result with a history, so that what is computed from it is recorded again."""

    @staticmethod
    def forward(ctx: Any, wanted: Tensor, holder: list[Tensor]) -> Tensor:
        return holder[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nobody differentiates through a recomputation")


class SelectiveMode(TorchFunctionMode):
    """The first or the second run of a checkpoint; `pack` and `unpack` are those of the checkpoint's own hooks."""

    pack: Callable[[Tensor], Any]
    unpack: Callable[[Any], Tensor]

    def __init__(self, policy: Callable[..., Any], kept: list[tuple[Any, _Kept | None]], allows_mutation: bool) -> None:
        super().__init__()
        self.policy, self.kept, self.allows_mutation = policy, kept, allows_mutation

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        written_in_python = hasattr(func, "__wrapped__") or type(func).__name__ == "function"
        if written_in_python:
            with self:
                return redispatch_function(func, types, args, kwargs)
        in_place = (name.endswith("_") and not name.endswith("__")) or name.startswith(("__i", "__set"))
        if in_place or name == "__get__" or "out" in kwargs:
            return func(*args, **kwargs)
        operator = _operator_of(func, args)
        return func(*args, **kwargs) if operator in SAC_IGNORED_OPS else self.call(func, operator, args, kwargs)

    def call(self, func: Callable[..., Any], operator: Any, args: Any, kwargs: Any) -> Any:
        raise NotImplementedError


class FirstRun(SelectiveMode):
    """Asks the policy about each call, and keeps results."""

    def call(self, func: Callable[..., Any], operator: Any, args: Any, kwargs: Any) -> Any:
        saved: list[Tensor] = []

        def pack(tensor: Tensor) -> Any:
            saved.append(tensor)
            return self.pack(tensor)

        with saved_tensors_hooks(pack, self.unpack):
            output = func(*args, **kwargs)
        context = SelectiveCheckpointContext(is_recompute=False, op_output=output)
        policy = self.policy(context, operator, *args, **kwargs)
        if isinstance(policy, bool):
            policy = CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        if policy not in _KEPT:
            self.kept.append((operator, None))
            return output
        arguments = pytree.tree_leaves((args, kwargs))
        values, structure = pytree.tree_flatten(output)
        sources: list[tuple[str, Any]] = []
        for tensor in saved:
            places = [("argument", n) for n, each in enumerate(arguments) if _same(tensor, each)]
            places += [("result", n) for n, each in enumerate(values) if _same(tensor, each)]
            sources.append(places[0] if places else ("", tensor.detach()))
        tensors = [value if isinstance(value, torch.Tensor) else None for value in values]
        copies = [value if tensor is None else tensor.detach() for value, tensor in zip(values, tensors, strict=True)]
        if policy in _OFFLOADED:
            copies = [copy if tensor is None else copy.cpu() for copy, tensor in zip(copies, tensors, strict=True)]
        self.kept.append(
            (
                operator,
                _Kept(
                    copies,
                    [None if tensor is None else copy._version for copy, tensor in zip(copies, tensors, strict=True)],
                    [None if tensor is None else tensor.device for tensor in tensors],
                    [tensor is not None and tensor.requires_grad for tensor in tensors],
                    structure,
                    sources,
                ),
            )
        )
        return output


class SecondRun(SelectiveMode):
    """Gives what was kept in place of calls."""

    def __enter__(self) -> Any:
        if not hasattr(self, "_depth") or self._depth == 0:
            self._depth, self._place = 0, 0
        self._depth += 1
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        self._depth -= 1
        super().__exit__(*exception)

    def call(self, func: Callable[..., Any], operator: Any, args: Any, kwargs: Any) -> Any:
        if self._place >= len(self.kept) or self.kept[self._place][0] is not operator:
            raise RuntimeError(
                f"{operator} encountered during backward, but not found in storage: the function calls other operators "
                "when it runs again"
            )
        _, kept = self.kept[self._place]
        self._place += 1
        if kept is None:
            return func(*args, **kwargs)
        for value, version in zip(kept.values, kept.versions, strict=True):
            if version is not None and value._version != version and not self.allows_mutation:
                raise RuntimeError(
                    "Tensor cached during selective activation checkpoint has been mutated; "
                    "allow_cache_entry_mutation=True takes it as it is"
                )
        values = [
            value if device is None else value.to(device).detach()
            for value, device in zip(kept.values, kept.devices, strict=True)
        ]
        arguments = pytree.tree_leaves((args, kwargs))
        for source, which in kept.saved:
            self.pack({"argument": arguments, "result": values}[source][which] if source else which)
        anchor = torch.empty(0, requires_grad=True)
        results = [
            _Result.apply(anchor, [value]) if wants else value
            for value, wants in zip(values, kept.wants_grad, strict=True)
        ]
        return pytree.tree_unflatten(results, kept.structure)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[SelectiveMode, SelectiveMode]:
    """For `checkpoint(context_fn=...)`: contexts in which the results of some operators are kept.

    `policy(context, operator, *args, **kwargs)` returns a `CheckpointPolicy` for each call; a list of operators stands
    for keeping theirs. RuntimeError in backward if a kept result was written in place since, unless that is allowed.

    >>> from functools import partial
    >>> contexts = partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> y = torch.utils.checkpoint.checkpoint(lambda x: (x @ x).exp(), x, use_reentrant=False, context_fn=contexts)
    """
    if isinstance(policy_fn_or_list, list):
        for operator in policy_fn_or_list:
            if not isinstance(operator, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {operator} of type {type(operator)}."
                )
        # Of functions it is known which operator they are, but not which overload.
        listed = [getattr(operator, "overloadpacket", operator) for operator in policy_fn_or_list]

        def policy(context: SelectiveCheckpointContext, operator: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            kept = operator.overloadpacket in listed
            return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kept: list[tuple[Any, _Kept | None]] = []
    return (
        FirstRun(policy, kept, allow_cache_entry_mutation),
        SecondRun(policy, kept, allow_cache_entry_mutation),
    )
