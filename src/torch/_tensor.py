"""`torch.Tensor`: the compiled `TensorBase` with what is better said in Python."""

from __future__ import annotations

from torch import _C
from torch._overridable import overridable
from torch.autograd import backward as _backward

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    import numpy

    from torch.storage import TypedStorage


class Tensor(_C.TensorBase):
    """A strided array of one dtype on one device, which remembers how it was computed if a gradient is wanted."""

    __module__ = "torch"  # where programs and pickles find it
    __array_priority__ = 1000  # numpy_array + tensor calls the tensor's __radd__
    __rdiv__ = _C.TensorBase.__rtruediv__
    __idiv__ = _C.TensorBase.__itruediv__
    _make_subclass = staticmethod(_C._make_subclass)
    __torch_dispatch__ = _C._disabled_torch_dispatch_impl

    @staticmethod
    def _make_wrapper_subclass(cls: type[Tensor], size: Sequence[int], *args: Any, **options: Any) -> Any:
        """A tensor of a class with `__torch_dispatch__` that has a shape, a dtype and a device, but no memory."""
        from torch import _utils

        return _utils.make_wrapper_subclass(cls, size, *args, **options)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Calls a function of torch for a subclass: its results are of the subclass, too.

        NotImplemented if another class of `types` is no superclass of this one.
        """
        if not all(issubclass(cls, kind) for kind in types):
            return NotImplemented
        result = _C._disabled_torch_function_impl(func, types, args, kwargs)
        if type(result) is Tensor or isinstance(result, (tuple, list)):
            from torch.overrides import get_default_nowrap_functions

            if func not in get_default_nowrap_functions():
                return _convert(result, cls)
        return result

    @overridable
    def __repr__(self) -> str:
        from torch import _tensor_str

        return _tensor_str.tensor_text(self)

    @overridable
    def __format__(self, format_spec: str) -> str:
        if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
            return format(self.item(), format_spec)
        return object.__format__(self, format_spec)

    # ------------------------------------------------------------------ as a sequence, as an array

    def __complex__(self) -> complex:
        return complex(self.item())

    def __lshift__(self, other: Any) -> Tensor:
        return self.bitwise_left_shift(other)

    def __rshift__(self, other: Any) -> Tensor:
        return self.bitwise_right_shift(other)

    def __rlshift__(self, other: Any) -> Tensor:
        return _C._VariableFunctions.bitwise_left_shift(other, self)

    def __rrshift__(self, other: Any) -> Tensor:
        return _C._VariableFunctions.bitwise_right_shift(other, self)

    def __ilshift__(self, other: Any) -> Tensor:
        return self.bitwise_left_shift_(other)

    def __irshift__(self, other: Any) -> Tensor:
        return self.bitwise_right_shift_(other)

    def __iter__(self) -> Iterator[Tensor]:
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    @overridable
    def __reversed__(self) -> Tensor:
        return self if self.dim() == 0 else self.flip(0)

    @overridable
    def __contains__(self, element: object) -> bool:
        if isinstance(element, (Tensor, int, float, complex)):
            return bool((self == element).any())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    @overridable
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        """The NumPy array that shares this tensor's memory, or a copy if `dtype` or `copy` ask for one."""
        array: numpy.ndarray[Any, Any] = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a {self.dtype} tensor cannot become an array of {dtype} without a copy")
            converted: numpy.ndarray[Any, Any] = array.astype(dtype)
            return converted
        return array.copy() if copy else array

    @overridable
    def __dlpack__(
        self,
        *,
        stream: int | None = -1,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of this memory, for other libraries; the options are the array API's.

        Raises:
            BufferError: a tensor that requires a gradient, is sparse, or has no memory.
            ValueError: `copy=False`, and `dl_device` is another device.
        """
        from torch.utils.dlpack import _export

        return _export(self, stream, max_version, dl_device, copy)

    @overridable
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's numbers of the device: its type (1 the CPU, 2 CUDA) and index."""
        from torch.utils.dlpack import _numbers_of

        return _numbers_of(self.device)

    @overridable
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
        import torch

        return torch.from_numpy(array) if array.ndim else torch.tensor(array.item(), dtype=self.dtype)

    # ------------------------------------------------------------------ autograd

    @overridable
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Adds the gradient of this tensor with respect to the graph's leaves (or `inputs`) to their `.grad`."""
        _backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    @overridable
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Any:
        """Calls `hook(grad)` whenever a gradient of this tensor was computed; what it returns replaces it.

        Returns a handle whose `remove()` takes the hook away.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return self._hook_handle(hook, post_accumulate=False)

    @overridable
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Calls `hook(tensor)` after `.grad` of this leaf was written."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return self._hook_handle(hook, post_accumulate=True)

    def _hook_handle(self, hook: Callable[[Tensor], Tensor | None], post_accumulate: bool) -> Any:
        from torch.utils.hooks import TensorHookHandle

        return TensorHookHandle(self, self._add_grad_hook(hook, post_accumulate=post_accumulate))

    # ------------------------------------------------------------------ memory, copies, pickles

    def new(self, *arguments: Any, device: Any = None) -> Tensor:
        """A tensor of this one's dtype and device: of these sizes (not set), or of a sequence's values."""
        made: Tensor = _C._legacy_tensor(self.dtype, *arguments, device=self.device if device is None else device)
        return made

    @overridable
    def storage_type(self) -> type[TypedStorage]:
        """The class of `storage()`."""
        from torch.storage import typed_storage_class

        return typed_storage_class(self.dtype)

    @overridable
    def storage(self) -> TypedStorage:
        """The memory under this tensor with its dtype."""
        from torch.storage import TypedStorage

        return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)

    @overridable
    def is_shared(self) -> bool:
        """Whether other processes can map this memory. CUDA memory always counts as shared."""
        return self.is_cuda or _C._is_shared(self.untyped_storage())

    @overridable
    def share_memory_(self) -> Tensor:
        """Moves the memory into shared memory, in place; CUDA tensors stay as they are."""
        if not self.is_cuda:
            _C._share_memory(self.untyped_storage())
        return self

    @overridable
    def record_stream(self, s: Any) -> None:
        """Says that a CUDA tensor is used on the stream `s`, too: its memory is used again only after that."""
        _C._cuda_record_stream(self.untyped_storage().data_ptr(), s.cuda_stream)

    @overridable
    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        from torch import _utils

        return _utils.deepcopy_tensor(self, memo)

    @overridable
    def __reduce_ex__(self, protocol: Any) -> Any:
        from torch import _utils

        return _utils.reduce_tensor(self)

    @overridable
    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update(state)
            return
        raise NotImplementedError(
            "this pickle holds a tensor in the form of PyTorch before 0.4; load and save it with a newer PyTorch"
        )

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *_C.TensorBase.__dict__}.difference(_UNIMPLEMENTED))

    # ------------------------------------------------------------------ operators with a richer face

    @overridable
    def norm(  # type: ignore[override]
        self,
        p: float | str | None = "fro",
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        dtype: _C.dtype | None = None,
    ) -> Tensor:
        """See :func:`torch.norm`."""
        from torch import functional

        return functional.norm(self, p, dim, keepdim, dtype=dtype)

    @overridable
    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """See :func:`torch.unique`."""
        from torch import functional

        return functional.unique(self, sorted, return_inverse, return_counts, dim)

    @overridable
    def nonzero(self, *, as_tuple: bool = False) -> Any:  # type: ignore[override]
        """See :func:`torch.nonzero`."""
        return _C._VariableFunctions.where(self) if as_tuple else _C.TensorBase.nonzero(self)

    @overridable
    def unique_consecutive(  # type: ignore[override]
        self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
    ) -> Any:
        """See :func:`torch.unique_consecutive`."""
        from torch import functional

        return functional.unique_consecutive(self, return_inverse, return_counts, dim)

    @overridable
    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        """A view in which dimension `dim` is spread over `sizes`; one of them may be -1."""
        dim = dim + self.dim() if dim < 0 else dim
        return self.view(*self.shape[:dim], *sizes, *self.shape[dim + 1 :])

    @overridable
    def stft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Tensor | None = None,
        center: bool = True,
        pad_mode: str = "reflect",
        normalized: bool = False,
        onesided: bool | None = None,
        return_complex: bool | None = None,
        align_to_window: bool | None = None,
    ) -> Tensor:
        """See :func:`torch.stft`."""
        from torch import functional

        return functional.stft(
            self,
            n_fft,
            hop_length,
            win_length,
            window,
            center,
            pad_mode,
            normalized,
            onesided,
            return_complex,
            align_to_window,
        )

    @overridable
    def where(self, condition: Tensor, other: Any) -> Tensor:
        """This tensor's elements where `condition`, those of `other` elsewhere."""
        return _C._VariableFunctions.where(condition, self, other)

    @overridable
    def chalf(self, *, memory_format: Any = None) -> Tensor:
        """`to(torch.complex32)`, of which there are no tensors here: NotImplementedError."""
        return self.to(_C._named_dtypes.complex32)

    @overridable
    def dim_order(self, *, ambiguity_check: bool | list[_C.memory_format] = False) -> tuple[int, ...]:
        """The dimensions as memory has them, the one with the longest steps first.

        RuntimeError with `ambiguity_check` where other orders would do, too.
        """
        from torch import _rare_methods

        return _rare_methods.dim_order(self, ambiguity_check)

    @overridable
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replaces each element of a tensor on the CPU by what `callable` makes of it. Slow: it is called for each."""
        from torch import _rare_methods

        return _rare_methods.map_elements(self, "apply_", callable)

    @overridable
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
        """Replaces each element by what `callable` makes of it and of that of `tensor`. Slow: it is called for each."""
        from torch import _rare_methods

        return _rare_methods.map_elements(self, "map_", callable, tensor)

    @overridable
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
        """Replaces each element by what `callable` makes of it and of those of `x` and `y`."""
        from torch import _rare_methods

        return _rare_methods.map_elements(self, "map2_", callable, x, y)

    @overridable
    def module_load(self, other: Tensor, assign: bool = False) -> Tensor:
        """What `load_state_dict` puts in this tensor's place: `other`, or this one with its values, without history."""
        if assign:
            return other.detach()
        return self.copy_(other).detach()

    @overridable
    def pin_memory(self, device: Any = None) -> Tensor:
        """Itself if it is pinned, else a copy in memory that CUDA devices read directly, beside other work.

        Raises:
            RuntimeError: without a CUDA device, or for a tensor that is not on the CPU.
        """
        return _C._pin_memory(self)

    @overridable
    def is_pinned(self, device: Any = None) -> bool:
        """Whether it is in memory that CUDA devices read directly."""
        return _C._is_pinned(self)

    @overridable
    def reinforce(self, reward: Any) -> Any:
        """Raises RuntimeError: use torch.distributions."""
        from torch import _rare_methods

        _rare_methods.reinforce(reward)

    const_data_ptr = _C.TensorBase.data_ptr

    @property
    def name(self) -> None:
        """None: tensors have no names."""

    @property
    def volatile(self) -> bool:
        """False; a flag of PyTorch before 0.4, whose successor is `torch.no_grad()`."""
        import warnings

        warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
        return False

    @overridable
    def resize(self, *sizes: Any) -> Tensor:
        """This tensor in another shape of as many elements; an old name of `reshape`, with a warning."""
        from torch import _rare_methods

        return _rare_methods.resize(self, *sizes)

    @overridable
    def resize_as(self, tensor: Tensor) -> Tensor:
        """This tensor in the shape of another one; an old name of `reshape_as`, with a warning."""
        return self.resize(tensor.size())

    @overridable
    def lu(self, pivot: bool = True, get_infos: bool = False) -> Any:
        """See :func:`torch.lu`."""
        from torch import functional

        return functional.lu(self, pivot, get_infos)


def _add_missing(name: str, home: str, what: str, *arguments: str) -> None:
    """A method that raises the error of a function of another module, which is imported when it is called."""

    def method(self: Tensor, *_arguments: Any, **_options: Any) -> Any:
        from importlib import import_module

        getattr(import_module(home), what)(*arguments)

    method.__name__ = name
    setattr(Tensor, name, method)


for _name in ("eig", "lstsq", "solve", "symeig"):
    _add_missing(_name, "torch._linalg_utils", _name)
for _name in ("ipu", "mtia", "xpu"):
    _add_missing(_name, "torch._rare_methods", "move_to_missing", _name)


class _Unimplemented:
    """A name of PyTorch's that is looked up in vain, as one that no class has is, but for what the error says.

    A `__getattr__` of the class would say it for all of them; it makes each call of a method slower, since Python then
    asks it, and makes an object of the method.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Tensor | None, owner: type[Tensor]) -> Any:
        from torch._missing import missing_name

        raise missing_name("torch.Tensor", self.name)


_UNIMPLEMENTED = [
    "dequantize",
    "grad_dtype",
    "index",
    "int_repr",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "qscheme",
    "to_mkldnn",
    "to_padded_tensor",
    "to_sparse_bsc",
    "to_sparse_bsr",
]
for _name in _UNIMPLEMENTED:
    _descriptor = _Unimplemented()
    _descriptor.__set_name__(Tensor, _name)
    setattr(Tensor, _name, _descriptor)


def _convert(result: Any, kind: type[Tensor]) -> Any:
    """Plain tensors, also those in tuples and lists, as instances of a subclass."""
    if kind is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, kind) else result.as_subclass(kind)
    if isinstance(result, (tuple, list)):
        # A torch.return_types.max is made of one sequence.
        return type(result)([_convert(item, kind) for item in result])
    return result
