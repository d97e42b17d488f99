"""Switches for the recording of gradients: context managers that work as decorators, too."""

from __future__ import annotations

from torch import _C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Switch:
    """A context manager of which an instance (or, for `@no_grad`, the class) decorates functions and generators."""

    def _again(self) -> _Switch:
        """A fresh instance with the same meaning, for one call of a decorated function."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        from functools import wraps
        from inspect import isgeneratorfunction

        if isgeneratorfunction(function):
            return _decorated_generator(self, function)

        @wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return function(*args, **kwargs)

        return decorated

    def __enter__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __enter__")

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define __exit__")


def _decorated_generator(switch: _Switch, function: Callable[..., Any]) -> Callable[..., Any]:
    """Enters the mode while the generator runs, leaves it while its caller does."""
    from functools import wraps

    @wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with switch._again():
                value = generator.send(None)
            while True:
                try:
                    answer = yield value
                except GeneratorExit:
                    with switch._again():
                        generator.close()
                    raise
                except BaseException as error:
                    with switch._again():
                        value = generator.throw(error)
                else:
                    with switch._again():
                        value = generator.send(answer)
        except StopIteration as end:
            return end.value

    return decorated


class _GradSwitch(_Switch):
    enabled: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        if function is not None:  # used as `@no_grad` without parentheses
            return cls()(function)
        return super().__new__(cls)

    def __enter__(self) -> None:
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(self.enabled)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._before)


class no_grad(_GradSwitch):
    """Results inside do not require gradients."""

    enabled = False


class enable_grad(_GradSwitch):
    """Records gradients again inside `no_grad`."""

    enabled = True


class set_grad_enabled(_Switch):
    """Switches recording on or off: at once as a function, for a block as a context manager."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"set_grad_enabled(): argument 'mode' must be bool, not {type(mode).__name__}")
        self._before = _C.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def _again(self) -> _Switch:
        return set_grad_enabled(self.mode)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _C._set_grad_enabled(self._before)  # a decorator must not change the mode where it stands
        return super().__call__(function)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_grad_enabled(self._before)


class inference_mode(_Switch):
    """Like `no_grad`; `is_inference_mode_enabled()` tells. `mode=False` ends it inside."""

    def __new__(cls, mode: Any = True) -> Any:
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def _again(self) -> _Switch:
        again: _Switch = inference_mode(self.mode)
        return again

    def __enter__(self) -> None:
        self._before = (_C._is_inference_mode_enabled(), _C.is_grad_enabled())
        _C._set_inference_mode(self.mode)
        _C._set_grad_enabled(not self.mode)

    def __exit__(self, *exception: object) -> None:
        _C._set_inference_mode(self._before[0])
        _C._set_grad_enabled(self._before[1])


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is on in this thread."""
    return _C._is_inference_mode_enabled()


class set_multithreading_enabled(_Switch):
    """Accepted: backward runs on the thread that calls it, whatever is said here."""

    def __init__(self, mode: bool) -> None:
        self._before = _multithreading[0]
        self.mode = mode
        _multithreading[0] = mode

    def _again(self) -> _Switch:
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _multithreading[0] = self._before


class enforce_grad_layout_policy(_Switch):
    """Accepted: whether a gradient must lie in memory as its parameter does, for which it is never copied here."""

    def __init__(self, enable: bool = True) -> None:
        self.enable = enable

    def _again(self) -> _Switch:
        return enforce_grad_layout_policy(self.enable)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass


_multithreading = [True]


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was told last."""
    return _multithreading[0]
