"""`Module`: a function with parameters, buffers and submodules."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - libraries resolve the class's annotations
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import _C, Tensor
from torch.nn.modules._hooks import (
    EVERY_MODULE,
    HooksMixin,
    _WrappedHook,  # noqa: F401 - where PyTorch's pickles find it
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    run_registration_hooks,
)
from torch.nn.modules._state import StateDictMixin, _IncompatibleKeys as _IncompatibleKeys
from torch.nn.parameter import Buffer, Parameter, is_lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

T_destination = TypeVar("T_destination", bound="dict[str, Any]")
# Names that libraries import: hooks for all modules, by their numbers.
_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_global_forward_hooks, _global_forward_pre_hooks = EVERY_MODULE.forward, EVERY_MODULE.forward_pre
_global_forward_hooks_always_called = EVERY_MODULE.forward_always
_global_forward_hooks_with_kwargs = EVERY_MODULE.forward_with_kwargs
_global_backward_hooks, _global_backward_pre_hooks = EVERY_MODULE.backward, EVERY_MODULE.backward_pre
_global_parameter_registration_hooks = EVERY_MODULE.registered["parameter"]
_global_buffer_registration_hooks = EVERY_MODULE.registered["buffer"]
_global_module_registration_hooks = EVERY_MODULE.registered["module"]
_MISSING_INIT = "cannot assign {} before Module.__init__() call"


class Module(HooksMixin, StateDictMixin):
    """Base of all networks and their parts: subclass it, define `forward`, assign submodules and parameters.

    What is assigned to an attribute is found again: a `Parameter` by `parameters()`, a `Buffer` by `buffers()`, another
    module by `modules()`, and all of them by `state_dict()`, `to()` and `train()`. Call the module, not its `forward`:
    the call runs hooks, too.

    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor([2.0]))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> module = Scale()
    >>> module(torch.tensor([3.0])).item()
    6.0
    >>> [name for name, _ in module.named_parameters()]
    ['factor']
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    dump_patches = False
    call_super_init = False
    T_destination = T_destination
    _compiled_call_impl: Callable[..., Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() passes arguments on to Module.__init__(), which takes none"
            )
        # Past __setattr__, which looks these very dictionaries up.
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        self._start_hooks()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ------------------------------------------------------------------ calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if own["_forward_hooks"] or own["_forward_pre_hooks"] or own["_backward_hooks"] or own["_backward_pre_hooks"]:
            return self._call_with_hooks(args, kwargs)
        if EVERY_MODULE.any_call:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    # Names by which libraries call a module past their own __call__.
    _call_impl = _wrapped_call_impl = __call__

    # ------------------------------------------------------------------ attributes

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters = own.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError(_MISSING_INIT.format("parameters"))
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError(_MISSING_INIT.format("module"))
            self._forget(name, keep="_modules")
            own["_modules"][name] = run_registration_hooks("module", self, name, value)
        elif isinstance(value, Buffer):
            if "_buffers" not in own:
                raise AttributeError(_MISSING_INIT.format("buffer"))
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            parameters[name] = None
        elif parameters is not None and name in own["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            own["_modules"][name] = None
        elif parameters is not None and name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            own["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, keep: str) -> None:
        """Takes an attribute out of wherever it is, but not from `keep`, where it will have the same place."""
        own = self.__dict__
        own.pop(name, None)
        for store in ("_buffers", "_modules", "_parameters"):
            if store != keep:
                own[store].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __init_subclass__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init_subclass__(*args, **kwargs)
        _C._look_up_members(cls)

    # What _look_up_members() has in its place does the same, for the names that are there.
    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for store in ("_parameters", "_buffers", "_modules"):
            if store in own and name in own[store]:
                return own[store][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for store in (self._parameters, self._buffers, self._modules):
            if name in store:
                del store[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    def _check_name(self, kind: str, name: str, store: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(
                f'{kind} name can\'t contain "."'
                if kind != "module"
                else f'module name can\'t contain ".", got: {name}'
            )
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in store and self._has(name):
            raise KeyError(f"attribute '{name}' already exists")

    def _has(self, name: str) -> bool:
        """`hasattr(self, name)`; the error that says no is not made where all names are known."""
        if type(self).__getattr__ is not Module.__getattr__:
            return hasattr(self, name)
        own = self.__dict__
        stores = (own, own.get("_parameters"), own.get("_buffers"), own.get("_modules"))
        return any(store and name in store for store in stores) or hasattr(type(self), name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, or None to keep its place."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(_MISSING_INIT.format("parameter"))
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = run_registration_hooks("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is no parameter but moves with the module; `persistent`: part of the state_dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = run_registration_hooks("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule, or None to keep its place."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = run_registration_hooks("module", self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """`add_module`."""
        self.add_module(name, module)

    def _get(self, target: str, what: str) -> Any:
        owner_path, _, name = target.rpartition(".")
        owner = self.get_submodule(owner_path)
        if not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        value = getattr(owner, name)
        if name not in (owner._buffers if what == "buffer" else owner._parameters):
            raise AttributeError(f"`{name}` is not {'a' if what == 'buffer' else 'an'} {what}")
        return value

    def get_submodule(self, target: str) -> Module:
        """The submodule with this dotted path; "" is the module itself."""
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            found = getattr(module, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            module = found
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Puts `module` at a dotted path; `strict`: in the place of one. AttributeError where nothing leads there."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        owner = self.get_submodule(path)
        if strict and not hasattr(owner, name):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
        if hasattr(owner, name) and not isinstance(getattr(owner, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(owner, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with this dotted path."""
        parameter: Parameter = self._get(target, "nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with this dotted path."""
        buffer: Tensor = self._get(target, "buffer")
        return buffer

    # ------------------------------------------------------------------ walking

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it with their paths, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules with their names, each once."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, store: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in module.__dict__[store].items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their paths; `recurse`: those of submodules, too."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their paths."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn: Callable[[Module], None]) -> Any:
        """Calls `fn` on every submodule and then on the module itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------------ moving and converting

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replaces the data of every parameter, its gradient, and every buffer by `fn` of it; parameters stay the same
        objects, so that optimizers keep working."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        swaps = torch.__future__.get_swap_module_params_on_conversion()
        overwrites = torch.__future__.get_overwrite_module_params_on_conversion()
        for name, parameter in self._parameters.items():
            if parameter is not None:
                if is_lazy(parameter):
                    parameter.data = fn(parameter.data)
                    continue
                with torch.no_grad():
                    gradient = parameter.grad
                    applied = fn(parameter)  # which sees it if it is changed in place
                    new_gradient = None
                    if gradient is not None:
                        new_gradient = fn(gradient).detach().requires_grad_(gradient.requires_grad)
                    if applied is parameter:
                        pass
                    elif swaps or _C._class_dispatches(type(applied)):  # it is more than its data
                        parameter.grad = None
                        torch.utils.swap_tensors(parameter, Parameter(applied, parameter.requires_grad))
                    elif overwrites:
                        parameter = self._parameters[name] = Parameter(applied, parameter.requires_grad)
                    else:
                        parameter.data = applied
                    if new_gradient is not None:
                        parameter.grad = new_gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Moves to a device, to a floating dtype, or like a tensor, in place. Integer buffers keep their dtype.

        memory_format: of parameters and buffers of four or five dimensions.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor: Tensor) -> Tensor:
            target = dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype
            place = tensor.device if device is None else device
            if tensor.is_meta and place.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
                    "torch.nn.Module.to() when moving module from meta to a different device."
                )
            if tensor.dim() in (4, 5):
                return tensor.to(place, target, non_blocking, memory_format=memory_format)
            return tensor.to(place, target, non_blocking)

        return self._apply(convert)

    def cuda(self, device: int | torch.device | None = None) -> Any:
        """Moves to a CUDA device, in place."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def cpu(self) -> Any:
        """Moves to the CPU, in place."""
        return self._apply(lambda tensor: tensor.cpu())

    def ipu(self, device: Any = None) -> Any:
        """Moves to such a device, which this build has not: RuntimeError."""
        return self.to(torch.device("ipu", device))

    def xpu(self, device: Any = None) -> Any:
        """Moves to such a device, which this build has not: RuntimeError."""
        return self.to(torch.device("xpu", device))

    def mtia(self, device: Any = None) -> Any:
        """Moves to such a device, which this build has not: RuntimeError."""
        return self.to(torch.device("mtia", device))

    def type(self, dst_type: torch.dtype | str) -> Any:
        """Converts parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def _floating(self, dtype: torch.dtype) -> Any:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def float(self) -> Any:
        """Converts floating parameters and buffers to float32."""
        return self._floating(torch.float32)

    def double(self) -> Any:
        """Converts floating parameters and buffers to float64."""
        return self._floating(torch.float64)

    def half(self) -> Any:
        """Converts floating parameters and buffers to float16."""
        return self._floating(torch.float16)

    def bfloat16(self) -> Any:
        """Converts floating parameters and buffers to bfloat16."""
        return self._floating(torch.bfloat16)

    def train(self, mode: bool = True) -> Any:
        """Puts this module and all below it into training mode (dropout drops), or out of it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Freezes or unfreezes all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or fills them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad = parameter.grad.detach().zero_()

    def share_memory(self) -> Any:
        """Moves all parameters and buffers to shared memory."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Moves parameters and buffers to a device without their elements, which are undefined there."""
        return self._apply(lambda tensor: torch.empty_like(tensor, device=device), recurse=recurse)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Checks the options of `torch.compile`; the module runs eagerly before and after."""
        torch.compile(self.forward, *args, **kwargs)

    def _replicate_for_data_parallel(self) -> Any:
        """A copy for another device: other dictionaries, the same parameters."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        return replica

    # ------------------------------------------------------------------ printing

    def extra_repr(self) -> str:
        """What stands between the parentheses of this module's repr."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Fills what modules pickled by other versions lack."""
        Module.__init__(self)
        self.__dict__.update(state)


_C._look_up_members(Module)


def _type_name(value: object) -> str:
    if type(value) is Tensor:
        return value.type()  # torch.FloatTensor, ...
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _parse_to(
    *args: Any, **kwargs: Any
) -> tuple[torch.device | None, torch.dtype | None, bool, torch.memory_format | None]:
    """The arguments of Tensor.to: (device, dtype, non_blocking), (dtype, non_blocking) or (tensor, non_blocking)."""
    values: dict[str, Any] = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None}
    names = ["device", "dtype", "non_blocking"]
    if args and isinstance(args[0], Tensor):
        values["device"], values["dtype"] = args[0].device, args[0].dtype
        args, names = args[1:], ["non_blocking"]
    elif args and isinstance(args[0], torch.dtype):
        names = ["dtype", "non_blocking"]
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if name == "tensor":
            values["device"], values["dtype"] = value.device, value.dtype
        elif name in values:
            values[name] = value
        else:
            raise TypeError(f"to() received an argument {name!r} that it does not support")
    if len(args) > len(names):
        raise TypeError(f"to() received {len(args)} arguments, expected at most {len(names)}")
    device = None if values["device"] is None else torch.device(values["device"])
    return device, values["dtype"], bool(values["non_blocking"]), values["memory_format"]


def _addindent(s_: str, numSpaces: int) -> str:
    """The text with all lines but the first indented."""
    return s_.replace("\n", "\n" + " " * numSpaces)


# Where libraries that move modules themselves find it.
_C._nn._parse_to = _parse_to  # type: ignore[attr-defined]
