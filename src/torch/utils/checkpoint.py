"""Activations that are computed again in backward instead of being kept.

`checkpoint(function, *args)` keeps the arguments. With `use_reentrant=False` what operators save inside is replaced by
places, and the first that backward asks for runs the function again, up to the last place; any kind of backward, nested
checkpoints and keyword arguments work. With `use_reentrant=True` the whole function is one node, whose backward runs it
again and then a backward of its own.
"""

from __future__ import annotations

import traceback
import warnings
import weakref
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import _C
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._pytree import tree_leaves
from torch.utils._selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    SelectiveMode,
    create_selective_checkpoint_contexts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import Tensor

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """The second run of a function saved other tensors than the first."""


class DefaultDeviceType:
    """The kind of device whose random state is kept where the arguments tell of none."""

    _default = "cuda"

    @classmethod
    def set_device_type(cls, device: str = "cuda") -> None:
        """Sets it."""
        cls._default = device

    @classmethod
    def get_device_type(cls) -> str:
        """Its name."""
        return cls._default


_debug_enabled: bool | None = None
_early_stop = True


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """A block in which `checkpoint` notes where tensors are saved, or, with False, does not whatever it is asked."""
    global _debug_enabled
    before, _debug_enabled = _debug_enabled, enabled
    try:
        yield
    finally:
        _debug_enabled = before


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """A block whose checkpoints run their functions again up to the last tensor needed (True), or to the end."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


# ---------------------------------------------------------------------- what both kinds share


def _devices(values: Any) -> list[int]:
    """The CUDA devices of the tensors among values, nested ones, too."""
    tensors = (leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor) and leaf.is_cuda)
    return list(dict.fromkeys(tensor.get_device() for tensor in tensors))


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The CUDA devices of the tensors among the arguments, and their random states: none on the CPU."""
    devices = _devices(args)
    return devices, [torch.cuda.get_rng_state(device) for device in devices]


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """Sets the random states of CUDA devices, as `get_device_states` gave them."""
    for device, state in zip(devices, states, strict=True):
        torch.cuda.set_rng_state(state, device)


def check_backward_validity(inputs: Any) -> None:
    """Warns if no tensor among the inputs wants a gradient."""
    if not any(value.requires_grad for value in inputs if isinstance(value, torch.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, tensors without history."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple(_detached(value) for value in inputs)


def _detached(value: Any) -> Any:
    return value.detach().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing, for forward and recomputation."""
    return nullcontext(), nullcontext()


class _RandomState:
    """The random state of the CPU and those of CUDA devices, as they are now."""

    def __init__(self, devices: list[int]) -> None:
        self.devices = devices
        self.cpu, self.cuda = torch.get_rng_state(), [torch.cuda.get_rng_state(device) for device in devices]

    def restore(self) -> None:
        """Makes them so again."""
        torch.set_rng_state(self.cpu)
        set_device_states(self.devices, self.cuda)


class _State:
    """The random states and autocast as they are now, to run something with these arguments under them again."""

    def __init__(self, preserve_rng_state: bool, args: tuple[Any, ...]) -> None:
        self.random = _RandomState(_devices(args)) if preserve_rng_state else None
        self.autocasts = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in ("cpu", "cuda")
        ]
        self.keeps_casts = torch.is_autocast_cache_enabled()

    @contextmanager
    def again(self) -> Iterator[None]:
        """A block under them; the random states go on as before afterwards."""
        before = _RandomState(self.random.devices) if self.random is not None else None
        try:
            if self.random is not None:
                self.random.restore()
            with ExitStack() as blocks:
                for device, enabled, dtype in self.autocasts:
                    if enabled or torch.is_autocast_enabled(device):
                        block = torch.autocast(device, dtype=dtype, enabled=enabled, cache_enabled=self.keeps_casts)
                        blocks.enter_context(block)
                yield
        finally:
            if before is not None:
                before.restore()


# ---------------------------------------------------------------------- use_reentrant=True


class CheckpointFunction(torch.autograd.Function):
    """Runs a function without a graph, and once more with one when the gradient is wanted."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function, ctx.state = run_function, _State(preserve_rng_state, args)
        ctx.places = [number for number, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.others = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        ctx.save_for_backward(*(args[number] for number in ctx.places))
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if _C._is_selective_backward():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        args = list(ctx.others)
        for number, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[number] = tensor
        args = list(detach_variable(tuple(args)))
        with ctx.state.again(), torch.enable_grad():
            outputs = ctx.run_function(*args)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [
            (output, gradient)
            for output, gradient in zip(outputs, gradients, strict=True)
            if isinstance(output, torch.Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([output for output, _ in pairs], [gradient for _, gradient in pairs])
        return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)


# ---------------------------------------------------------------------- use_reentrant=False


class GraphExecGroup:
    """A block whose backwards, which must not use the same saved tensors, compute a checkpoint again once for all."""

    _innermost: ClassVar[list[GraphExecGroup]] = []

    def __enter__(self) -> GraphExecGroup:
        if self._innermost:
            raise RuntimeError("GraphExecGroup contexts cannot be nested")
        self._innermost.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self._innermost.pop()


def _current_backward() -> Any:
    """What backwards that share recomputed values have in common; -1 outside of one."""
    task = _C._current_graph_task_id()
    return GraphExecGroup._innermost[-1] if task != -1 and GraphExecGroup._innermost else task


class _Place:
    """What stands in a node for a tensor that it saved."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.values: dict[Any, Tensor] = {}  # by the backward that has asked


class _AllFoundError(Exception):
    """The second run has saved all that the first did: the rest of the function is not needed."""

    def __init__(self, frame: _Frame) -> None:
        self.frame = frame


class _KeepArguments(torch.autograd.Function):
    """Saves tensors as an operator would, so that an outer checkpoint recomputes them for an inner one."""

    @staticmethod
    def forward(ctx: Any, wanted: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return torch.empty(0)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nobody differentiates by what a checkpoint keeps")


def _metadata(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS: dict[str, Callable[[Tensor], Any]] = {"default": _metadata, "none": lambda tensor: None}


class _Frame:
    """One call of a checkpointed function: the places of what it saved, and how to fill them."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        state: _State,
        again: Any,
        check: Callable[[Tensor], Any],
        debug: bool,
        early_stop: bool,
    ) -> None:
        self.function, self.kwargs, self.state, self.again = function, kwargs, state, again
        self.check, self.debug, self.early_stop = check, debug, early_stop
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        self.others = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        self.is_tensor = [isinstance(arg, torch.Tensor) for arg in args]
        self.keeper = _KeepArguments.apply(torch.empty(0, requires_grad=True), *tensors).grad_fn
        self.places: list[weakref.ref[_Place]] = []
        self.checks: list[Any] = []
        self.origins: list[str] = []
        self.filled_for: set[Any] = set()

    def forward_hooks(self) -> saved_tensors_hooks:
        def pack(tensor: Tensor) -> _Place:
            place = _Place(len(self.places))
            self.places.append(weakref.ref(place))
            self.checks.append(self.check(tensor))
            if self.debug:
                self.origins.append("".join(traceback.format_stack()[:-1]))
            return place

        return saved_tensors_hooks(pack, self.value_of)

    def value_of(self, place: _Place) -> Tensor:
        task = _current_backward()
        # Outside of a backward (grad_fn._saved_self) each look computes again.
        if task not in self.filled_for or task == -1:
            self.recompute(task)
            self.filled_for.add(task)
        if task not in place.values:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If "
                "you are "
                "calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue "
                "with "
                "details on your use case."
            )
        return place.values.pop(task)

    def arguments(self) -> list[Any]:
        tensors = iter(self.keeper.saved_tensors)
        return [next(tensors) if one else other for one, other in zip(self.is_tensor, self.others, strict=True)]

    def recompute(self, task: Any) -> None:
        count = 0
        checks: list[Any] = []
        origins: list[str] = []

        def pack(tensor: Tensor) -> Any:
            nonlocal count
            if count >= len(self.places):
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                    "forward pass." + _TIP
                )
            place = self.places[count]()
            if place is not None:
                place.values[task] = tensor.detach()
            checks.append(self.check(tensor))
            if self.debug:
                origins.append("".join(traceback.format_stack()[:-1]))
            count += 1
            if self.early_stop and count == len(self.places):
                raise _AllFoundError(self)
            return tensor.detach()

        args = self.arguments()
        if isinstance(self.again, SelectiveMode):
            self.again.pack, self.again.unpack = pack, lambda tensor: tensor
        try:
            with self.state.again(), self.again, torch.enable_grad(), saved_tensors_hooks(pack, lambda tensor: tensor):
                self.function(*args, **self.kwargs)
        except _AllFoundError as found:
            if found.frame is not self:
                raise
        self.compare(checks, origins)

    def compare(self, checks: list[Any], origins: list[str]) -> None:
        if len(checks) != len(self.checks):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.checks)}\n"
                f"Number of tensors saved during recomputation: {len(checks)}." + _TIP
            )
        different = [n for n, (one, two) in enumerate(zip(self.checks, checks, strict=True)) if one != two]
        if not different:
            return
        text = "".join(
            f"tensor at position {n}:\nsaved metadata: {self.checks[n]}\nrecomputed metadata: {checks[n]}\n"
            for n in different
        )
        if self.debug:
            first = different[0]
            text += f"\nPosition {first} was saved here:\n{self.origins[first]}\nand again here:\n{origins[first]}"
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during "
            "the "
            f"forward pass.\n{text}" + ("" if self.debug else _TIP)
        )


_TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to "
    "`torch.utils.checkpoint.checkpoint(...)` or "
    "wrap the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable "
    "checkpoint-debug "
    "mode globally."
)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, of which the arguments are kept; backward runs it again with the same random state.

    `preserve_rng_state=False` does without the random state. What follows is for `use_reentrant=False`: `context_fn`
    returns contexts for the first and the second run; `determinism_check` "default" raises CheckpointError if the
    second run saves tensors of other shapes, dtypes or devices, "none" does not look; `debug` says where they were
    saved; `early_stop` ends the second run when all that was saved is found.

    >>> x = torch.ones(2, requires_grad=True)
    >>> y = torch.utils.checkpoint.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {determinism_check}")
    first, again = context_fn()
    if not torch.is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    frame = _Frame(
        function,
        args,
        kwargs,
        _State(preserve, args),
        again,
        _CHECKS[determinism_check],
        debug if _debug_enabled is None else _debug_enabled,
        early_stop and _early_stop,
    )
    hooks = frame.forward_hooks()
    if isinstance(first, SelectiveMode):
        first.pack, first.unpack = hooks.pack_hook, hooks.unpack_hook
    with hooks, first:
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """The modules of a sequence one after the other, in `segments` parts of which all but the last are checkpointed."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can "
            "pass "
            "use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps: Sequence[Any] = list(functions.children()) if isinstance(functions, torch.nn.Module) else list(functions)

    def part(start: int, end: int) -> Callable[[Any], Any]:
        def forward(value: Any) -> Any:
            for step in steps[start:end]:
                value = step(value)
            return value

        return forward

    size, start = len(steps) // segments, 0
    for _ in range(segments - 1):
        run = part(start, start + size)
        input = checkpoint(run, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += size
    return part(start, len(steps))(input)
