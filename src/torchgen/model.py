"""What native_functions.yaml, kernels.yaml and derivatives.yaml say, as frozen types.

Vocabulary: a *schema* is the text `name.overload(arguments) -> returns`. A *native function* is one entry of
native_functions.yaml. Its *faces* are the functions that users can call and that end in it: itself, `NAME_` (in place)
and the `out=` form, each once more for every set of Tensor arguments that may be given as numbers, and all of them once
more under every alias.

Every type prints back, with `str`, to the text that it was parsed from.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchgen.element_types import ElementType
    from torchgen.errors import Location


class BaseType(Enum):
    """The types a schema may name."""

    TENSOR = "Tensor"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    SCALAR = "Scalar"
    SCALAR_TYPE = "ScalarType"
    DEVICE = "Device"
    LAYOUT = "Layout"
    MEMORY_FORMAT = "MemoryFormat"
    GENERATOR = "Generator"


@dataclass(frozen=True)
class Alias:
    """`(a)` on a Tensor: it shares memory with every other `(a)`; `(a!)`: and is written to."""

    name: str
    is_write: bool

    def __str__(self) -> str:
        return f"({self.name}{'!' if self.is_write else ''})"


@dataclass(frozen=True)
class Type:
    """A type of a schema: `Tensor(a!)`, `int[2]`, `int[1]?`, `Tensor?[]`.

    `list_size` is the N of `int[N]`: one number may stand for a list of N equal ones.
    `element_optional` is the `?` of `Tensor?[]`, `optional` the one at the end.
    """

    base: BaseType
    alias: Alias | None = None
    is_list: bool = False
    list_size: int | None = None
    element_optional: bool = False
    optional: bool = False

    @property
    def is_tensor(self) -> bool:
        """A single tensor, possibly None; not a list."""
        return self.base is BaseType.TENSOR and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        return self.base is BaseType.TENSOR and self.is_list

    @property
    def is_write(self) -> bool:
        return self.alias is not None and self.alias.is_write

    def __str__(self) -> str:
        text = self.base.value + (str(self.alias) if self.alias else "")
        if self.is_list:
            text += ("?" if self.element_optional else "") + f"[{'' if self.list_size is None else self.list_size}]"
        return text + ("?" if self.optional else "")


@dataclass(frozen=True)
class Argument:
    """One argument. `default` is the schema's text of it (`1`, `None`, `'none'`, `[]`), None when there is none."""

    type: Type
    name: str
    default: str | None = None
    keyword_only: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(frozen=True)
class Return:
    """One result; named in tuples such as `(Tensor values, Tensor indices)`."""

    type: Type
    name: str | None = None

    def __str__(self) -> str:
        return str(self.type) + (f" {self.name}" if self.name else "")


@dataclass(frozen=True)
class FunctionSchema:
    """`name.overload(arguments) -> returns`; keyword-only arguments come last."""

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def full_name(self) -> str:
        """`add.Tensor`, or `add` where there is no overload name."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def positional(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if not argument.keyword_only)

    @property
    def keyword_only(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.keyword_only)

    @property
    def is_inplace(self) -> bool:
        """Whether it writes to its first argument and returns it: `fill_(Tensor(a!) self, ...) -> Tensor(a!)`."""
        return bool(self.arguments) and self.arguments[0].type.is_write

    @property
    def self_argument(self) -> Argument | None:
        """The argument that is the object in the method form: the Tensor called `self`."""
        for argument in self.arguments:
            if argument.name == "self" and argument.type.is_tensor:
                return argument
        return None

    def argument(self, name: str) -> Argument:
        """Raises KeyError when there is no such argument."""
        for argument in self.arguments:
            if argument.name == name:
                return argument
        raise KeyError(name)

    def __str__(self) -> str:
        parts = [str(argument) for argument in self.positional]
        if self.keyword_only:
            parts += ["*", *(str(argument) for argument in self.keyword_only)]
        returns = ", ".join(str(result) for result in self.returns)
        if len(self.returns) != 1:
            returns = f"({returns})"
        return f"{self.full_name}({', '.join(parts)}) -> {returns}"


class Variant(Enum):
    """Where users find a function; INPLACE_FUNCTION: Python shows the in-place face as a function, too."""

    FUNCTION = "function"
    METHOD = "method"
    INPLACE_FUNCTION = "inplace_function"


class PythonModule(Enum):
    """Where Python shows a function: in torch, nowhere, or in torch._C._NAME, which a module of torch takes it from.

    Names that begin with `special_`, `linalg_` or `fft_` tell it themselves, whatever their row says.
    """

    TORCH = "torch"
    NN = "nn"
    LINALG = "linalg"
    FFT = "fft"
    SPECIAL = "special"
    NONE = "none"

    @property
    def is_namespace(self) -> bool:
        """Whether its functions stand in a module of their own, torch._C._NAME."""
        return self not in (PythonModule.TORCH, PythonModule.NONE)


# What the key `sparse` may say beside a function's name.
SPARSE_ANY = "any"
SPARSE_VALUES = "values"


# By how their functions' names begin.
_PREFIXED_MODULES = {
    f"{module.value}_": module for module in (PythonModule.SPECIAL, PythonModule.LINALG, PythonModule.FFT)
}


def prefixed_module(name: str) -> PythonModule | None:
    """The module of a name that tells it: SPECIAL for `special_erf`, None for `erf`."""
    return next((module for prefix, module in _PREFIXED_MODULES.items() if name.startswith(prefix)), None)


class Kind(Enum):
    """How a native function is written; see native_functions.yaml."""

    STRUCTURED = "structured"
    NATIVE = "native"
    COMPOSITE = "composite"


class FaceKind(Enum):
    """Which face of a native function users call; the values are those of the key `faces`."""

    SELF = "self"
    INPLACE = "inplace"
    OUT = "out"


@dataclass(frozen=True)
class NativeFunction:
    """One entry of native_functions.yaml.

    `impl` is the function's name in namespace at::native. `extra_faces` are those that it has beside itself. `numbers`
    names Tensor arguments for which a number may be given, which is wrapped as a 0-dim tensor. `aliases` are further
    names of all its faces. `sparse` says what becomes of sparse tensors: SPARSE_ANY, SPARSE_VALUES, the name of a
    function in namespace at::native, or "" if they are refused. `dispatched_whole`: a composite function that
    `__torch_dispatch__` sees, not its parts.
    """

    schema: FunctionSchema
    variants: frozenset[Variant]
    kind: Kind
    impl: str
    location: Location
    extra_faces: tuple[FaceKind, ...] = ()
    numbers: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    python_module: PythonModule = PythonModule.TORCH
    sparse: str = ""
    numbers_alone: bool = False
    dispatched_whole: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The schema's name and the aliases."""
        return (self.schema.name, *self.aliases)

    @cached_property
    def faces(self) -> tuple[Face, ...]:
        """Every function that users can call and that ends in this one, in a steady order, itself first."""
        faces = []
        for name in self.names:
            for kind in (FaceKind.SELF, *self.extra_faces):
                if kind is FaceKind.INPLACE and prefixed_module(name):
                    continue  # Tensor has no special_erf_
                for count in range(len(self.numbers) + 1):
                    for wrapped in itertools.combinations(self.numbers, count):
                        if kind is FaceKind.INPLACE and "self" in wrapped:
                            continue  # a number cannot be written to
                        faces.append(Face(self, name, kind, wrapped))
        return tuple(faces)


@dataclass(frozen=True)
class Face:
    """A function that users can call.

    `name` is that of the native function's schema or one of its aliases, without the `_` of an in-place face. `wrapped`
    names the arguments that are Scalars here and Tensors in the native.
    """

    native: NativeFunction
    name: str
    kind: FaceKind
    wrapped: tuple[str, ...] = ()

    @property
    def variants(self) -> frozenset[Variant]:
        """An in-place face is a method (and a function if its row says so), an out= face a function only.

        A face whose `self` is a number cannot be a method.
        """
        if self.kind is FaceKind.OUT or prefixed_module(self.name):
            return frozenset({Variant.FUNCTION})
        if self.kind is FaceKind.INPLACE:
            shown = {Variant.FUNCTION} if Variant.INPLACE_FUNCTION in self.native.variants else set()
            return frozenset({Variant.METHOD} | shown)
        return self.native.variants - ({Variant.METHOD} if "self" in self.wrapped else set())

    @property
    def python_module(self) -> PythonModule:
        return prefixed_module(self.name) or self.native.python_module

    @property
    def is_alias(self) -> bool:
        return self.name != self.native.schema.name

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        """What an out= face writes to: one Tensor per result, called `out` if it is the only one."""
        results = self.native.schema.returns
        if len(results) == 1:
            return (Argument(Type(BaseType.TENSOR, Alias("a", True)), "out", keyword_only=True),)
        return tuple(
            Argument(
                Type(BaseType.TENSOR, Alias(chr(ord("a") + index), True)),
                result.name or f"out{index}",
                keyword_only=True,
            )
            for index, result in enumerate(results)
        )

    @property
    def is_inplace(self) -> bool:
        """An in-place face, or a function declared in place, such as `fill_`."""
        return self.kind is FaceKind.INPLACE or (self.kind is FaceKind.SELF and self.native.schema.is_inplace)

    @cached_property
    def schema(self) -> FunctionSchema:
        """The face's own schema, e.g. `add_.Scalar(Tensor(a!) self, Scalar other, *, Scalar alpha=1) -> Tensor(a!)`."""
        schema = self.native.schema
        name, overload = self.name, schema.overload
        arguments = [
            replace(argument, type=replace(argument.type, base=BaseType.SCALAR))
            if argument.name in self.wrapped
            else argument
            for argument in schema.arguments
        ]
        returns = schema.returns
        if self.wrapped:
            overload = self._scalar_overload()
        written = Type(BaseType.TENSOR, Alias("a", True))
        if self.kind is FaceKind.INPLACE:
            name += "_"
            arguments[0] = replace(arguments[0], type=written)
            returns = (Return(written),)
        elif self.kind is FaceKind.OUT:
            overload = f"{overload}_out" if overload else "out"
            arguments += self.out_arguments
            returns = tuple(Return(argument.type) for argument in self.out_arguments)
        return FunctionSchema(name, overload, tuple(arguments), returns)

    def _scalar_overload(self) -> str:
        """`Scalar` for `Tensor`, `Scalar_mode` for `Tensor_mode`; `ScalarSelf` where the other stays a Tensor."""
        kind = "Scalar"
        if len(self.wrapped) < len(self.native.numbers):
            kind += "".join(name.capitalize() for name in self.wrapped)
        overload = self.native.schema.overload
        return overload.replace("Tensor", kind) if "Tensor" in overload else kind


@dataclass(frozen=True)
class KernelArgument:
    """An argument of a kernel: C++ type and name."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


@dataclass(frozen=True)
class Kernel:
    """One entry of kernels.yaml: `name(C++ arguments)` and the backends that fill a column of its table."""

    name: str
    arguments: tuple[KernelArgument, ...]
    backends: tuple[str, ...]
    location: Location

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(argument) for argument in self.arguments)})"


@dataclass(frozen=True)
class Formula:
    """The gradient of one input, as a C++ expression over `grad`, inputs, and results."""

    input: str
    expression: str
    location: Location


@dataclass(frozen=True)
class DifferentiabilityInfo:
    """One entry of derivatives.yaml.

    `formulas` are in the order of the function's arguments; `non_differentiable` names the other Tensor inputs.
    `output_differentiability` has one entry per result. `node` is the node's name where it is not made from the
    function's. `forward` is "linear" or "elementwise" where that gives tangents more cheaply than any formula.
    """

    function: NativeFunction
    formulas: tuple[Formula, ...]
    non_differentiable: tuple[str, ...]
    output_differentiability: tuple[bool, ...]
    node: str
    forward: str
    location: Location


@dataclass(frozen=True)
class Docstring:
    """One entry of docstrings.yaml: what users read about the functions and methods called `function`.

    `text` begins with one sentence of what one gets; `example` is a session of Python's prompt, or empty.
    """

    function: str
    text: str
    example: str
    location: Location

    @property
    def summary(self) -> str:
        """The first paragraph, on one line."""
        return " ".join(self.text.split("\n\n")[0].split())


@dataclass(frozen=True)
class Declarations:
    """Everything that torchgen knows."""

    functions: tuple[NativeFunction, ...]
    kernels: tuple[Kernel, ...]
    derivatives: tuple[DifferentiabilityInfo, ...]
    docstrings: tuple[Docstring, ...] = ()
    element_types: tuple[ElementType, ...] = ()

    @cached_property
    def faces(self) -> tuple[Face, ...]:
        return tuple(face for function in self.functions for face in function.faces)
