"""`torch.autograd.Function`: an operation and its derivative, written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


class FunctionCtx:
    """What a `Function`'s methods get as `ctx`, for annotations: every context is an instance."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for backward, where `ctx.saved_tensors` gives them back unless they were changed in place."""
        self._save(tensors)  # type: ignore[attr-defined]

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for `jvp`, where `ctx.saved_tensors` gives them."""
        self._save_for_forward(tensors)  # type: ignore[attr-defined]

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declares arguments that forward changed in place; they must be returned, too."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declares results that have no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True, the default) or None for results that nothing used."""
        self._materialize_grads = value


class Function(_C._FunctionBase, FunctionCtx):
    """Subclass it with the static methods `forward(ctx, *args)` and `backward(ctx, *grad_outputs)`; call `apply`.

    Or, as in newer programs, `forward(*args)`, `setup_context(ctx, inputs, output)` and `backward`.
    `backward` returns one gradient (or None) per argument of `forward`.
    """

    _non_differentiable: tuple[Tensor, ...] = ()
    _dirty: tuple[Tensor, ...] = ()
    _materialize_grads: bool = True
    # Whether `torch.func.vmap` may run the methods below on batches.
    generate_vmap_rule: bool = False

    # To be defined by the subclass ----------------------------------------------------------------

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """`forward(ctx, *arguments)`: computes the results; gradients are not recorded inside."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Fills `ctx` after a `forward` that takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """`backward(ctx, *grad_outputs)`: gradients of the arguments from the gradients of the results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """`jvp(ctx, *tangents)`: tangents of the results from those of the arguments, for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """What it is of a batch, for `torch.func.vmap`: (results, where their elements lie).

        `info` has `batch_size` and `randomness`, `in_dims` says where the arguments' elements lie (None: nowhere).
        """
        raise NotImplementedError("the vmap staticmethod of this autograd.Function is not implemented")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Computes `forward` of the arguments, and records it."""
        if _C._is_torch_function_mode_enabled():
            from torch._functorch import _levels

            level = _levels.peek_interpreter_stack()
            if level is not None:
                return level.apply(cls, args)
        return super().apply(*args)

    # Called by the compiled core ------------------------------------------------------------------

    @classmethod
    def _call_forward(cls, ctx: Any, *args: Any) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args)
        output = cls.forward(*args)
        cls.setup_context(ctx, args, output)
        return output

    @classmethod
    def _call_backward(cls, ctx: Any, *grad_outputs: Any) -> Any:
        vjp: Callable[..., Any] | None = getattr(cls, "vjp", None)
        if vjp is not None:
            if cls.backward is not Function.backward:
                raise RuntimeError(
                    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. "
                    "You should only implement one of them."
                )
            return vjp(ctx, *grad_outputs)
        return cls.backward(ctx, *grad_outputs)


class _RefuseToDifferentiate(Function):
    """Results that look as if they had a history, and raise when it is asked for."""

    @staticmethod
    def forward(ctx: Any, wanted: Tensor, *results: Any) -> Any:
        return tuple(result.view_as(result) if hasattr(result, "view_as") else result for result in results)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a backward that uses operations whose own gradients would be wrong: none are recorded in it."""
    from functools import wraps

    import torch

    @wraps(function)
    def decorated(ctx: Any, *args: Any) -> Any:
        with torch.no_grad():
            results = function(ctx, *args)
        if not torch.is_grad_enabled() or not any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
            return results
        refused = _RefuseToDifferentiate.apply(
            torch.empty(0, requires_grad=True), *(results if isinstance(results, tuple) else (results,))
        )
        return refused if isinstance(results, tuple) else refused[0]

    return decorated


class InplaceFunction(Function):
    """A Function with a flag: whether it writes over its argument."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """A Function, for programs that name the class; its results are a tensor or a tuple of them, as of any other."""
