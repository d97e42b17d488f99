"""A pickle reader that runs no code of the file: the reader of `torch.load(weights_only=True)`.

It knows the opcodes that state dicts are written with, and calls only functions and classes of a fixed table, or those
that the user declared safe. Anything else is an UnpicklingError that says what the file wanted.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import torch
from torch import _utils, storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_user_globals: dict[str, Any] = {}


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Lets weights_only loads use these classes and functions, or (object, "module.name") pairs."""
    for item in safe_globals:
        value, name = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
        _user_globals[name] = value


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` declared."""
    return list(_user_globals.values())


def clear_safe_globals() -> None:
    """Forgets what `add_safe_globals` declared."""
    _user_globals.clear()


@contextmanager
def safe_globals(safe_globals: Iterable[Any]) -> Iterator[None]:
    """A block in which `add_safe_globals` holds for some."""
    before = dict(_user_globals)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _user_globals.clear()
        _user_globals.update(before)


def unsafe_globals(data: bytes) -> list[str]:
    """The names in a pickle that are neither known nor declared, in the order in which they come."""
    import pickletools

    known = {**_known_globals(), **_user_globals}
    found: dict[str, None] = {}
    texts: list[str] = []  # the last ones on the stack, or in the memo
    memo: dict[Any, str] = {}
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            found[str(argument).replace(" ", ".")] = None
        elif opcode.name == "STACK_GLOBAL":
            found[".".join(texts[-2:])] = None
        elif isinstance(argument, str):
            texts.append(argument)
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = texts[-1] if texts else ""
        elif opcode.name in ("BINPUT", "LONG_BINPUT"):
            memo[argument] = texts[-1] if texts else ""
        elif opcode.name in ("BINGET", "LONG_BINGET"):
            texts.append(memo.get(argument, ""))
    return [name for name in found if name not in known]


def _known_globals() -> dict[str, Any]:
    known: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "builtins.set": set,
        "builtins.frozenset": frozenset,
        "builtins.bytearray": bytearray,
        "builtins.complex": complex,
        "__builtin__.set": set,
        "__builtin__.bytearray": bytearray,
        "_codecs.encode": _encode,
        "torch.Size": torch.Size,
        "torch.device": torch.device,
        "torch.Tensor": torch.Tensor,
        "torch.nn.parameter.Parameter": torch.nn.Parameter,
    }
    for name in (
        "_rebuild_tensor",
        "_rebuild_tensor_v2",
        "_rebuild_tensor_v3",
        "_rebuild_meta_tensor_no_storage",
        "_rebuild_parameter",
        "_rebuild_from_type_v2",
        "_rebuild_sparse_tensor",
    ):
        known[f"torch._utils.{name}"] = getattr(_utils, name)
    known["torch.serialization._get_layout"] = _utils._get_layout
    known["torch._tensor._rebuild_from_type_v2"] = _utils._rebuild_from_type_v2
    for storage_class in storage.STORAGE_CLASSES:
        known[f"torch.{storage_class.__name__}"] = storage_class
        known[str(storage_class.dtype)] = storage_class.dtype
    known["torch.storage.UntypedStorage"] = torch.UntypedStorage
    return known


def _encode(text: str, encoding: str) -> bytes:
    """`_codecs.encode` as old pickles use it for bytes."""
    if encoding not in ("latin1", "latin-1"):
        raise UnpicklingError(f"weights_only: the codec {encoding!r} is not allowed")
    return text.encode("latin1")


# Only these may be called; the other names of the table may be mentioned (a dtype, a storage's class).
def _callables(known: dict[str, Any]) -> list[Any]:
    return [
        value
        for name, value in known.items()
        if callable(value)
        and value not in (torch.UntypedStorage, torch.Tensor)
        and value not in storage.STORAGE_CLASSES
        and name != "torch.nn.parameter.Parameter"
    ]


# What names the element type of a tensor -> the type, of those that this torch has not.
_MISSING_TYPES = {
    "torch.complex32": "ComplexHalf",
    **{f"torch.{kind}Storage": kind for kind in ("QInt8", "QUInt8", "QInt32")},
}
_MARK = object()
_LINE = 1 << 16  # a name is shorter
# opcode -> struct format of a fixed-width argument whose value is pushed
_NUMBERS = {b"J"[0]: "<i", b"K"[0]: "<B", b"M"[0]: "<H", b"G"[0]: ">d"}
_STRINGS = {b"X"[0]: "<I", b"\x8c"[0]: "<B", b"\x8d"[0]: "<Q"}
_BYTES = {b"B"[0]: "<I", b"C"[0]: "<B", b"\x8e"[0]: "<Q"}
_CONSTANTS: dict[int, Callable[[], Any]] = {
    b"N"[0]: lambda: None,
    b"\x88"[0]: lambda: True,
    b"\x89"[0]: lambda: False,
    b"]"[0]: list,
    b"}"[0]: dict,
    b")"[0]: tuple,
    b"\x8f"[0]: set,
    b"("[0]: lambda: _MARK,
}
_TUPLES = {b"\x85"[0]: 1, b"\x86"[0]: 2, b"\x87"[0]: 3}
_ADVICE = (
    "If you trust the file's author, declare the name with torch.serialization.add_safe_globals([...]), "
    "or load with weights_only=False, which runs whatever code the file holds."
)


class Unpickler:
    """Reads one pickle from `data`; `persistent_load` answers its persistent ids (storages)."""

    def __init__(self, data: bytes | memoryview, persistent_load: Callable[[Any], Any]) -> None:
        self._data = data
        self._position = 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._persistent_load = persistent_load
        self._known = _known_globals()
        self._callables = _callables(self._known) + list(_user_globals.values())
        self._known.update(_user_globals)

    @property
    def position(self) -> int:
        """How many bytes are read."""
        return self._position

    def load(self) -> Any:
        """The pickled object. Raises UnpicklingError for anything forbidden, truncated or malformed."""
        try:
            return self._run()
        except UnpicklingError:
            raise
        except (IndexError, struct.error) as error:
            raise UnpicklingError(f"the pickle is truncated or malformed at byte {self._position}") from error
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise UnpicklingError(f"the pickle is malformed at byte {self._position}: {error}") from error

    # ------------------------------------------------------------------ reading

    def _take(self, count: int) -> bytes:
        end = self._position + count
        if end > len(self._data):
            raise UnpicklingError(
                f"the pickle is truncated: {count} bytes wanted at byte {self._position}, "
                f"{len(self._data) - self._position} left"
            )
        chunk = bytes(self._data[self._position : end])
        self._position = end
        return chunk

    def _number(self, format: str) -> Any:
        return struct.unpack(format, self._take(struct.calcsize(format)))[0]

    def _line(self) -> str:
        line = bytes(self._data[self._position : self._position + _LINE]).partition(b"\n")[0]
        end = self._position + len(line)
        if end >= len(self._data) or len(line) == _LINE:
            raise UnpicklingError(f"the pickle is truncated in a line at byte {self._position}")
        self._position = end + 1
        return line.decode("utf-8")

    def _after_mark(self) -> list[Any]:
        for start in range(len(self._stack) - 1, -1, -1):
            if self._stack[start] is _MARK:
                items = self._stack[start + 1 :]
                del self._stack[start:]
                return items
        raise UnpicklingError(f"the pickle is malformed: no mark before byte {self._position}")

    # ------------------------------------------------------------------ opcodes

    def _run(self) -> Any:
        stack, push = self._stack, self._stack.append
        while True:
            opcode = self._take(1)[0]
            if opcode in _CONSTANTS:
                push(_CONSTANTS[opcode]())
            elif opcode in _NUMBERS:
                push(self._number(_NUMBERS[opcode]))
            elif opcode in _STRINGS:
                push(self._take(self._number(_STRINGS[opcode])).decode("utf-8", "surrogatepass"))
            elif opcode in _BYTES:
                push(self._take(self._number(_BYTES[opcode])))
            elif opcode in _TUPLES:
                items = tuple(stack[-_TUPLES[opcode] :])
                del stack[-_TUPLES[opcode] :]
                push(items)
            elif opcode == b"t"[0]:
                push(tuple(self._after_mark()))
            elif opcode == b"q"[0]:
                self._memo[self._number("<B")] = stack[-1]
            elif opcode == b"r"[0]:
                self._memo[self._number("<I")] = stack[-1]
            elif opcode == b"\x94"[0]:
                self._memo[len(self._memo)] = stack[-1]
            elif opcode == b"h"[0]:
                push(self._memo[self._number("<B")])
            elif opcode == b"j"[0]:
                push(self._memo[self._number("<I")])
            elif opcode == b"\x8a"[0]:
                push(int.from_bytes(self._take(self._number("<B")), "little", signed=True))
            elif opcode == b"Q"[0]:
                push(self._persistent_load(stack.pop()))
            elif opcode == b"c"[0]:
                module, name = self._line(), self._line()
                push(self._global(f"{module}.{name}"))
            elif opcode == b"\x93"[0]:
                name, module = stack.pop(), stack.pop()
                push(self._global(f"{module}.{name}"))
            elif opcode in b"R\x81":
                arguments, function = stack.pop(), stack.pop()
                push(self._call(function, arguments, makes=opcode == b"\x81"[0]))
            elif opcode == b"b"[0]:
                state = stack.pop()
                self._build(stack[-1], state)
            elif opcode == b"a"[0]:
                value = stack.pop()
                self._container(list).append(value)
            elif opcode == b"e"[0]:
                values = self._after_mark()
                self._container(list).extend(values)
            elif opcode == b"s"[0]:
                value, key = stack.pop(), stack.pop()
                self._container(dict)[key] = value
            elif opcode == b"u"[0]:
                values = self._after_mark()
                self._container(dict).update(zip(values[::2], values[1::2], strict=True))
            elif opcode == b"\x90"[0]:
                values = self._after_mark()
                self._container(set).update(values)
            elif opcode == b"\x80"[0]:
                if self._take(1)[0] not in (2, 3, 4, 5):
                    raise UnpicklingError(f"the pickle has protocol {self._data[self._position - 1]}, not 2 to 5")
            elif opcode == b"\x95"[0]:
                self._number("<Q")  # a frame's length: only a hint for buffered readers
            elif opcode == b"."[0]:
                return self._result()
            else:
                raise UnpicklingError(
                    f"weights_only: opcode 0x{opcode:02x} at byte {self._position - 1} is not allowed. {_ADVICE}"
                )

    def _result(self) -> Any:
        if len(self._stack) != 1:
            raise UnpicklingError(f"the pickle is malformed: {len(self._stack)} values are left at its end")
        return self._stack.pop()

    def _container(self, kind: type) -> Any:
        container = self._stack[-1]
        if not isinstance(container, kind):
            raise UnpicklingError(
                f"the pickle is malformed: a {type(container).__name__} before byte {self._position} "
                f"is no {kind.__name__}"
            )
        return container

    def _global(self, name: str) -> Any:
        if name in _MISSING_TYPES:
            raise NotImplementedError(
                f"the file holds {_MISSING_TYPES[name]} tensors, a type that this torch "
                "has not: convert them with PyTorch, for example by tensor.float(), and save them again"
            )
        if name not in self._known:
            raise UnpicklingError(f"weights_only: the file asks for `{name}`, which is not allowed. {_ADVICE}")
        return self._known[name]

    def _call(self, function: Any, arguments: Any, makes: bool) -> Any:
        if not any(function is allowed for allowed in self._callables):
            raise UnpicklingError(f"weights_only: the file calls {function!r}, which is not allowed. {_ADVICE}")
        if not isinstance(arguments, tuple):
            raise UnpicklingError(f"the pickle is malformed: a call without a tuple before byte {self._position}")
        if function is bytearray and any(not isinstance(item, (bytes, str)) for item in arguments):
            raise UnpicklingError("weights_only: bytearray may only be made from bytes")
        if function is _utils._rebuild_from_type_v2:
            inner = arguments[0] if arguments else None
            if not any(inner is allowed for allowed in self._callables):
                raise UnpicklingError(f"weights_only: the file calls {inner!r}, which is not allowed. {_ADVICE}")
        if makes and isinstance(function, type) and any(function is one for one in _user_globals.values()):
            return function.__new__(function, *arguments)  # its state follows
        return function(*arguments)

    def _build(self, instance: Any, state: Any) -> None:
        """Sets an object's state: attributes only, and only of instances whose type the file may make."""
        if type(instance) is OrderedDict or isinstance(instance, torch.Tensor):
            if not isinstance(state, dict):
                raise UnpicklingError(f"weights_only: the state of a {type(instance).__name__} must be a dict")
            if any(not isinstance(key, str) or key.startswith("__") for key in state):
                raise UnpicklingError("weights_only: the state holds names that are not allowed")
            instance.__dict__.update(state)
        elif any(type(instance) is allowed for allowed in _user_globals.values()):
            setstate = getattr(instance, "__setstate__", None)
            if setstate is not None:
                setstate(state)
            else:
                instance.__dict__.update(state)
        else:
            raise UnpicklingError(f"weights_only: the file sets the state of a {type(instance).__name__}. {_ADVICE}")
