"""CUDA graphs: work that is recorded once, and then done as one piece as often as one likes."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.cuda._device import init
from torch.cuda.streams import Stream, current_stream, stream as on_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

Pool = tuple[int, int]


def is_current_stream_capturing() -> bool:
    """Whether work on the current stream is being recorded."""
    return _C._cuda_is_capturing()


def graph_pool_handle() -> Pool:
    """A new pool of memory, for graphs that are never replayed at the same time."""
    init()
    number = _C._cuda_new_pool()
    _C._cuda_release_pool(number)  # graphs hold it
    return (0, number)


class CUDAGraph:
    """Recorded work, on the tensors that it was recorded with: new inputs are copied into them.

    Random numbers go on with every replay. Memory that was made while it was recorded is kept as long as the graph is.

    Args:
        keep_graph: whether `instantiate` is called by hand before the first replay.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        init()
        self._graph = _C._cuda_new_graph()
        self._keep_graph = keep_graph
        self._pool: Pool | None = None

    def capture_begin(
        self, pool: Pool | None = None, capture_error_mode: str = "global", check_input_liveness: bool = False
    ) -> None:
        """Records what goes to the current stream from now on, which must not be the default one.

        Args:
            pool: of another graph (`pool()`) or `graph_pool_handle()`, to share memory with; None is a new one.
            capture_error_mode: whose waiting for the device breaks the record: "global", "thread_local", "relaxed".
        """
        if pool is not None and (not isinstance(pool, tuple) or len(pool) != 2):
            raise TypeError("pool must be what graph_pool_handle() or CUDAGraph.pool() returns")
        chosen = graph_pool_handle() if pool is None else pool
        _C._cuda_begin_graph(self._graph, chosen[1], capture_error_mode)
        self._pool = chosen

    def capture_end(self) -> None:
        """Ends the record."""
        _C._cuda_end_graph(self._graph)
        if not self._keep_graph:
            self.instantiate()

    def instantiate(self) -> None:
        """Makes the record ready to be replayed."""
        _C._cuda_instantiate_graph(self._graph)

    def replay(self) -> None:
        """Does the recorded work, on the current stream."""
        _C._cuda_replay_graph(self._graph)

    def reset(self) -> None:
        """Forgets the record, and lets its memory go."""
        _C._cuda_reset_graph(self._graph)
        self._pool = None

    def pool(self) -> Pool:
        """The pool that the graph's memory comes from."""
        if self._pool is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._pool


class graph:
    """Records the work of a `with` block into a `CUDAGraph`, on a stream of its own.

    Args:
        cuda_graph: what to record into.
        pool, capture_error_mode: as in `CUDAGraph.capture_begin`.
        stream: where to record; None is one that all such blocks share.
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Pool | None = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream
        self.cuda_graph, self.pool, self.capture_error_mode = cuda_graph, pool, capture_error_mode
        self.capture_stream = stream
        self.stream_ctx = on_stream(stream)

    def __enter__(self) -> None:
        torch.cuda.synchronize()
        gc.collect()  # what is freed while it is recorded would be the graph's
        torch.cuda.empty_cache()
        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self.stream_ctx.__exit__(None, None, None)
            raise

    def __exit__(self, *exception: Any) -> None:
        try:
            if exception[0] is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph.reset()
        finally:
            self.stream_ctx.__exit__(*exception)


class _Recorded:
    """A callable's forward and backward passes as two graphs, and the tensors that they read and write."""

    def __init__(self, callable_: Callable[..., Any], sample: tuple[Any, ...], allow_unused_input: bool) -> None:
        from torch.utils._pytree import tree_flatten

        self.callable = callable_
        self.sample = sample
        self.inputs, self.form = tree_flatten(sample)
        if not all(isinstance(value, torch.Tensor) for value in self.inputs):
            raise TypeError("make_graphed_callables: sample_args may contain tensors only")
        is_module = isinstance(callable_, torch.nn.Module)
        self.parameters = tuple(callable_.parameters()) if is_module else ()
        self.leaves = tuple(leaf for leaf in (*self.inputs, *self.parameters) if leaf.requires_grad)
        self.allow_unused_input = allow_unused_input
        self.forward_graph = CUDAGraph()
        self.backward_graph = CUDAGraph() if self.leaves else None

    def _gradients(self, outputs: list[Tensor], given: list[Tensor]) -> tuple[Tensor | None, ...]:
        differentiable = [output for output in outputs if output.requires_grad]
        if not differentiable:
            return (None,) * len(self.leaves)
        return torch.autograd.grad(
            differentiable, self.leaves, given, only_inputs=True, allow_unused=self.allow_unused_input
        )

    def _ones_like(self, outputs: list[Tensor]) -> list[Tensor]:
        return [torch.ones_like(output) for output in outputs if output.requires_grad]

    def warm_up(self, times: int) -> None:
        """Lets libraries set themselves up, which cannot be recorded."""
        from torch.utils._pytree import tree_flatten

        for _ in range(times):
            outputs, _form = tree_flatten(self.callable(*self.sample))
            self._gradients(outputs, self._ones_like(outputs))

    def record_forward(self, pool: Pool) -> None:
        from torch.utils._pytree import tree_flatten

        with graph(self.forward_graph, pool):
            results = self.callable(*self.sample)
        self.outputs, self.output_form = tree_flatten(results)

    def record_backward(self, pool: Pool) -> None:
        self.given = self._ones_like(self.outputs)
        self.gradients: tuple[Tensor | None, ...] = ()
        if self.backward_graph is not None and self.given:
            with graph(self.backward_graph, pool):
                self.gradients = self._gradients(self.outputs, self.given)

    def make_function(self) -> Callable[..., Any]:
        """What replays the graphs, with the callable's own arguments."""
        from torch.utils._pytree import tree_flatten, tree_unflatten

        recorded = self
        count = len(self.inputs)

        class Replay(torch.autograd.Function):
            @staticmethod
            def forward(_context: Any, *arguments: Tensor) -> tuple[Tensor, ...]:
                for place, value in zip(recorded.inputs, arguments[:count], strict=True):
                    if place.data_ptr() != value.data_ptr():
                        place.detach().copy_(value)
                recorded.forward_graph.replay()
                return tuple(output.detach() for output in recorded.outputs)

            @staticmethod
            def backward(_context: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
                wanted = (
                    gradient
                    for gradient, output in zip(gradients, recorded.outputs, strict=True)
                    if output.requires_grad
                )
                for place, value in zip(recorded.given, wanted, strict=True):
                    if value is None:
                        place.zero_()
                    else:
                        place.copy_(value)
                if recorded.backward_graph is not None and recorded.given:
                    recorded.backward_graph.replay()
                found = iter(recorded.gradients or (None,) * len(recorded.leaves))
                every = (
                    next(found) if leaf.requires_grad else None for leaf in (*recorded.inputs, *recorded.parameters)
                )
                # Copies: the next replay writes to the same memory.
                return tuple(gradient if gradient is None else gradient.detach().clone() for gradient in every)

        def call(*arguments: Any) -> Any:
            values, _form = tree_flatten(arguments)
            results = Replay.apply(*values, *recorded.parameters)
            return tree_unflatten(list(results), recorded.output_form)

        return call


def _graphed(callable_: Any, recorded: _Recorded) -> Any:
    function = recorded.make_function()
    if not isinstance(callable_, torch.nn.Module):
        return function
    was_training = callable_.training
    plain = callable_.forward

    def forward(*arguments: Any, **keywords: Any) -> Any:
        # Dropout and its like were recorded as they were then.
        if callable_.training == was_training and not keywords:
            return function(*arguments)
        return plain(*arguments, **keywords)

    callable_.forward = forward  # type: ignore[method-assign]
    return callable_


def make_graphed_callables(
    callables: Any,
    sample_args: tuple[Any, ...],
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Pool | None = None,
) -> Any:
    """The functions or modules, whose passes forward and backward are replayed from graphs.

    Shapes, and which inputs require gradients, are those of the sample from then on.

    Args:
        callables: one, or a tuple of several, in the order in which they will be called.
        sample_args: the tuple of arguments of the one, or one such tuple for each.
        num_warmup_iters: how often each runs before it is recorded.
        allow_unused_input: whether inputs may have no influence on the outputs.
        pool: the memory that the graphs share; None is a new pool.

    Raises:
        RuntimeError: within autocast that caches casts, or for modules with hooks.
    """
    if torch.is_autocast_enabled() and torch.is_autocast_cache_enabled():
        raise RuntimeError(
            "make_graphed_callables does not support the autocast caching. Please set `cache_enabled=False`."
        )
    is_one = not isinstance(callables, tuple)
    functions = (callables,) if is_one else callables
    samples = (sample_args,) if is_one else sample_args
    for function in functions:
        if isinstance(function, torch.nn.Module):
            if function._forward_hooks or function._forward_pre_hooks or function._backward_hooks:
                raise RuntimeError(
                    "Modules must not have hooks registered at the time they are passed. However, registering hooks "
                    "on modules after passing them through make_graphed_callables is allowed."
                )
            if any(buffer.requires_grad for buffer in function.buffers()):
                raise RuntimeError(
                    "In any :class:`~torch.nn.Module` passed to :func:`~make_graphed_callables`, only parameters may "
                    "be trainable. All buffers must have ``requires_grad=False``."
                )
    recorded = [_Recorded(one, sample, allow_unused_input) for one, sample in zip(functions, samples, strict=True)]
    shared = graph_pool_handle() if pool is None else pool
    torch.cuda.synchronize()
    side = Stream()
    side.wait_stream(current_stream())
    with on_stream(side):
        for one in recorded:
            one.warm_up(num_warmup_iters)
    torch.cuda.synchronize()
    for one in recorded:
        one.record_forward(shared)
    for one in reversed(recorded):
        one.record_backward(shared)
    made = tuple(_graphed(function, one) for function, one in zip(functions, recorded, strict=True))
    return made[0] if is_one else made
