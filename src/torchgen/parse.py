"""Turns the YAML files into `Declarations`. Every mistake is a `DeclarationError` with file and line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from torchgen.element_types import load_element_types
from torchgen.errors import DeclarationError, Location, SchemaError
from torchgen.model import (
    SPARSE_VALUES,
    Declarations,
    DifferentiabilityInfo,
    Docstring,
    FaceKind,
    Formula,
    FunctionSchema,
    Kernel,
    KernelArgument,
    Kind,
    NativeFunction,
    PythonModule,
    Variant,
)
from torchgen.schema import parse_schema, split_top
from torchgen.source import Entry, read_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FUNCTIONS_FILE = "aten/native_functions.yaml"
KERNELS_FILE = "aten/kernels.yaml"
DERIVATIVES_FILE = "aten/derivatives.yaml"
DOCSTRINGS_FILE = "aten/docstrings.yaml"

BACKENDS = ("CPU", "CUDA")

NUMBERS_ALONE = "alone"
"""The word of `numbers` that says that all of them may be given as numbers at once."""

DISPATCHED_WHOLE = "whole"
"""The word of `dispatch`."""

_FUNCTION_KEYS = ("func", "variants", "python_module", "kind", "impl", "aliases", "faces", "numbers", "kernels",
                  "sparse", "dispatch")  # fmt: skip
_KERNEL_KEYS = ("kernel", "backends")
_DOCSTRING_KEYS = ("function", "text", "example")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR_NAME = re.compile(r"[a-z_][a-z0-9_]*[a-z0-9]")

Choice = TypeVar("Choice", Variant, PythonModule, Kind, FaceKind)


def load(source_dir: Path) -> Declarations:
    """Reads the four files and the table of element types under `source_dir`, the folder that holds `aten/`."""
    kernels = load_kernels(source_dir / KERNELS_FILE, KERNELS_FILE)
    functions = load_functions(source_dir / FUNCTIONS_FILE, FUNCTIONS_FILE, kernels)
    derivatives = load_derivatives(source_dir / DERIVATIVES_FILE, DERIVATIVES_FILE, functions)
    check_complete(functions, derivatives)
    docstrings = load_docstrings(source_dir / DOCSTRINGS_FILE, DOCSTRINGS_FILE, functions)
    return Declarations(functions, kernels, derivatives, docstrings, load_element_types(source_dir))


def load_kernels(path: Path, name: str) -> tuple[Kernel, ...]:
    """Reads kernels.yaml. `name` is what errors call the file."""
    kernels: dict[str, Kernel] = {}
    for entry in read_entries(path, name):
        entry.allow_only(_KERNEL_KEYS)
        kernel = _parse_kernel(entry)
        if kernel.name in kernels:
            raise DeclarationError(kernel.location, f"the kernel `{kernel.name}` is declared twice",
                                   f"the first is at {kernels[kernel.name].location}")  # fmt: skip
        kernels[kernel.name] = kernel
    return tuple(kernels.values())


def _parse_kernel(entry: Entry) -> Kernel:
    text, where = entry.text("kernel"), entry.where("kernel")
    match = re.fullmatch(r"([a-z_][a-z0-9_]*)\((.*)\)", text)
    if match is None:
        raise DeclarationError(where, f"`{text}` is not of the form `name(C++ arguments)`")
    arguments = []
    for part in split_top(match[2]):
        argument = re.fullmatch(r"(.+[\w&*>]) ([a-z_][A-Za-z0-9_]*)", part)
        if argument is None:
            raise DeclarationError(where, f"`{part}` is not a C++ argument of the form `Type name`")
        arguments.append(KernelArgument(argument[1], argument[2]))
    backends = entry.words("backends")
    for backend in backends:
        if backend not in BACKENDS:
            raise DeclarationError(entry.where("backends"), f"unknown backend `{backend}`",
                                   f"the backends are {', '.join(BACKENDS)}")  # fmt: skip
    if not backends:
        raise DeclarationError(entry.where("backends"), f"the kernel `{match[1]}` names no backend")
    kernel = Kernel(match[1], tuple(arguments), backends, entry.location)
    if str(kernel) != text:
        raise DeclarationError(where, f"`{text}` must be written `{kernel}`")
    return kernel


def load_functions(path: Path, name: str, kernels: Iterable[Kernel]) -> tuple[NativeFunction, ...]:
    """Reads native_functions.yaml; `kernels` are those that it may name."""
    known = {kernel.name for kernel in kernels}
    functions = []
    names: dict[str, Location] = {}
    implementations: dict[str, NativeFunction] = {}
    owners: dict[str, str] = {}
    for entry in read_entries(path, name):
        entry.allow_only(_FUNCTION_KEYS)
        function = _parse_function(entry, known)
        _check_aliases(function, owners, entry)
        for face in function.faces:
            full_name = face.schema.full_name
            if full_name in names:
                raise DeclarationError(function.location, f"`{full_name}` is declared twice",
                                       f"the first is at {names[full_name]}; give one an overload name")  # fmt: skip
            names[full_name] = function.location
        _check_implementation(function, implementations, entry)
        functions.append(function)
    return tuple(functions)


def _check_aliases(function: NativeFunction, owners: dict[str, str], entry: Entry) -> None:
    """A name is a function's own or stands for one other function, on each of whose overloads it may be."""
    for name in function.names:
        owner = owners.setdefault(name, function.schema.name)
        if owner != function.schema.name:
            raise DeclarationError(entry.where("aliases"), f"`{name}` is a name of `{owner}` already, so it cannot "
                                   f"be one of `{function.schema.name}`")  # fmt: skip


def _check_implementation(function: NativeFunction, known: dict[str, NativeFunction], entry: Entry) -> None:
    """Overloads may share a C++ name only if C++ can tell them apart."""
    types = ", ".join(str(argument.type) for argument in function.schema.arguments)
    key = f"{function.impl}({types})"
    if key in known:
        raise DeclarationError(
            entry.where("impl"),
            f"`{function.schema.full_name}` and `{known[key].schema.full_name}` have the same implementation `{key}`",
            "rename one with `impl: NAME`",
        )
    known[key] = function


def _choices(entry: Entry, key: str, words: Iterable[str], options: Mapping[str, Choice]) -> tuple[Choice, ...]:
    for word in words:
        if word not in options:
            raise DeclarationError(
                entry.where(key), f"`{word}` is no value of `{key}`", f"the values are {', '.join(options)}"
            )
    return tuple(options[word] for word in words)


def _parse_function(entry: Entry, known_kernels: set[str]) -> NativeFunction:
    try:
        schema = parse_schema(entry.text("func"))
    except SchemaError as error:
        raise DeclarationError(entry.where("func"), str(error)) from error
    variants = _choices(
        entry, "variants", entry.words("variants") or ("function",), {item.value: item for item in Variant}
    )
    (kind,) = _choices(entry, "kind", (entry.text("kind"),), {item.value: item for item in Kind})
    faces = _choices(
        entry, "faces", entry.words("faces"), {item.value: item for item in FaceKind if item is not FaceKind.SELF}
    )
    (python_module,) = _choices(
        entry,
        "python_module",
        (entry.text("python_module", PythonModule.TORCH.value),),
        {item.value: item for item in PythonModule},
    )
    aliases = entry.words("aliases")
    for alias in aliases:
        if _OPERATOR_NAME.fullmatch(alias) is None or alias == schema.name:
            raise DeclarationError(entry.where("aliases"), f"`{alias}` is no second name for `{schema.name}`")
    impl = entry.text("impl", schema.name)
    if _IDENTIFIER.fullmatch(impl) is None:
        raise DeclarationError(entry.where("impl"), f"`{impl}` is no C++ name")
    if Variant.METHOD in variants and schema.self_argument is None:
        raise DeclarationError(
            entry.where("variants"), f"`{schema.full_name}` has no Tensor `self`, so it cannot be a method"
        )
    kernels = entry.words("kernels")
    for kernel in kernels:
        if kernel not in known_kernels:
            raise DeclarationError(
                entry.where("kernels"), f"unknown kernel `{kernel}`", f"declare it in {KERNELS_FILE}"
            )
    words = entry.words("numbers")
    numbers = tuple(word for word in words if word != NUMBERS_ALONE)
    _check_faces(entry, schema, kind, faces, numbers)
    sparse = entry.text("sparse", "")
    if sparse and _IDENTIFIER.fullmatch(sparse) is None:
        raise DeclarationError(entry.where("sparse"), f"`{sparse}` is no C++ name")
    if sparse == SPARSE_VALUES and [str(item) for item in schema.returns] != ["Tensor"]:
        raise DeclarationError(
            entry.where("sparse"), f"`{schema.full_name}` must return one `Tensor` to work on values"
        )
    dispatch = entry.text("dispatch", "")
    if dispatch and (dispatch != DISPATCHED_WHOLE or kind is not Kind.COMPOSITE):
        raise DeclarationError(
            entry.where("dispatch"), f"`dispatch` may say `{DISPATCHED_WHOLE}` of a composite function, nothing else"
        )
    return NativeFunction(
        schema,
        frozenset(variants),
        kind,
        impl,
        entry.location,
        faces,
        numbers,
        kernels,
        aliases,
        python_module,
        sparse,
        NUMBERS_ALONE in words,
        dispatch == DISPATCHED_WHOLE,
    )


def _check_faces(
    entry: Entry, schema: FunctionSchema, kind: Kind, faces: tuple[FaceKind, ...], numbers: tuple[str, ...]
) -> None:
    if FaceKind.OUT in faces and {str(result.type) for result in schema.returns} != {"Tensor"}:
        raise DeclarationError(
            entry.where("faces"), f"`{schema.full_name}` has the face out, so it must return new `Tensor`s"
        )
    if FaceKind.INPLACE in faces and [str(result.type) for result in schema.returns] not in (["Tensor"], ["Tensor(a)"]):
        raise DeclarationError(
            entry.where("faces"), f"`{schema.full_name}` has the face inplace, so it must return one `Tensor`"
        )
    if kind is Kind.STRUCTURED and (len(schema.returns) != 1 or str(schema.returns[0]) != "Tensor"):
        raise DeclarationError(
            entry.where("kind"), f"`{schema.full_name}` is structured, so it must return one `Tensor`"
        )
    if FaceKind.INPLACE in faces and (not schema.arguments or str(schema.arguments[0]) != "Tensor self"):
        raise DeclarationError(
            entry.where("faces"), f"`{schema.full_name}` has the face inplace, so it must start with `Tensor self`"
        )
    if schema.is_inplace != schema.name.endswith("_"):
        raise DeclarationError(
            entry.where("func"),
            f"`{schema.full_name}`: a name ends in `_` exactly when its first argument is `Tensor(a!)`",
        )
    for number in numbers:
        if number not in {argument.name for argument in schema.arguments if str(argument.type) == "Tensor"}:
            raise DeclarationError(entry.where("numbers"), f"`{schema.full_name}` has no argument `Tensor {number}`")


def load_derivatives(path: Path, name: str, functions: Iterable[NativeFunction]) -> tuple[DifferentiabilityInfo, ...]:
    """Reads derivatives.yaml; every entry must name one of `functions` by its whole schema."""
    by_schema = {str(function.schema): function for function in functions}
    infos: dict[str, DifferentiabilityInfo] = {}
    for entry in read_entries(path, name):
        text = entry.text("name")
        function = by_schema.get(text)
        if function is None:
            raise DeclarationError(entry.where("name"), f"no function has the schema `{text}`",
                                   f"write it as it stands in {FUNCTIONS_FILE}")  # fmt: skip
        if text in infos:
            raise DeclarationError(entry.location, f"`{text}` stands twice", f"the first is at {infos[text].location}")
        infos[text] = _parse_derivative(entry, function)
    return tuple(infos.values())


def check_complete(functions: Iterable[NativeFunction], derivatives: Iterable[DifferentiabilityInfo]) -> None:
    """Every function that takes a Tensor and is not composite must say how it differentiates, or that it does not."""
    known = {str(info.function.schema) for info in derivatives}
    for function in functions:
        takes_tensor = any(item.type.is_tensor or item.type.is_tensor_list for item in function.schema.arguments)
        if function.kind is not Kind.COMPOSITE and takes_tensor and str(function.schema) not in known:
            raise DeclarationError(
                function.location,
                f"`{function.schema.full_name}` has no entry in {DERIVATIVES_FILE}",
                "give its formulas, or `output_differentiability: [False]`",
            )


def _parse_derivative(entry: Entry, function: NativeFunction) -> DifferentiabilityInfo:
    schema = function.schema
    if function.kind is Kind.COMPOSITE:
        raise DeclarationError(
            entry.where("name"), f"`{schema.full_name}` is composite: it is differentiated through its parts"
        )
    tensors = [
        argument.name for argument in schema.arguments if argument.type.is_tensor or argument.type.is_tensor_list
    ]
    entry.allow_only(("name", "non_differentiable", "output_differentiability", "node", "forward", *tensors))
    non_differentiable = entry.words("non_differentiable")
    for word in non_differentiable:
        if word not in tensors:
            raise DeclarationError(
                entry.where("non_differentiable"), f"`{schema.full_name}` has no Tensor argument `{word}`"
            )
    differentiable = _outputs(entry, schema)
    formulas = []
    for tensor in tensors if any(differentiable) else ():
        if (tensor in entry.values) == (tensor in non_differentiable):
            state = "both a formula and `non_differentiable`" if tensor in non_differentiable else "no formula"
            raise DeclarationError(entry.location, f"the input `{tensor}` of `{schema.full_name}` has {state}",
                                   "give a formula, or list it under `non_differentiable`")  # fmt: skip
        if tensor in entry.values:
            formulas.append(Formula(tensor, entry.text(tensor), entry.where(tensor)))
    forward = entry.text("forward", "")
    if forward not in ("", "linear", "elementwise") or (forward == "linear" and len(formulas) != 1):
        raise DeclarationError(entry.where("forward"), "expected elementwise, or linear for one differentiable input")
    return DifferentiabilityInfo(
        function, tuple(formulas), non_differentiable, differentiable, entry.text("node", ""), forward, entry.location
    )


def _outputs(entry: Entry, schema: FunctionSchema) -> tuple[bool, ...]:
    words = entry.words_with_repeats("output_differentiability") or ("True",) * len(schema.returns)
    if len(words) != len(schema.returns) or not set(words) <= {"True", "False"}:
        raise DeclarationError(entry.where("output_differentiability"),
                               f"expected a list of {len(schema.returns)} times True or False")  # fmt: skip
    return tuple(word == "True" for word in words)


def load_docstrings(path: Path, name: str, functions: Iterable[NativeFunction]) -> tuple[Docstring, ...]:
    """Reads docstrings.yaml; every entry must name one of `functions` or of their aliases."""
    known = {name for function in functions for name in function.names}
    docstrings: dict[str, Docstring] = {}
    for entry in read_entries(path, name):
        entry.allow_only(_DOCSTRING_KEYS)
        function = entry.text("function")
        if function not in known:
            raise DeclarationError(entry.where("function"), f"no function is called `{function}`",
                                   f"write a name of {FUNCTIONS_FILE}")  # fmt: skip
        if function in docstrings:
            raise DeclarationError(entry.location, f"`{function}` is described twice",
                                   f"the first is at {docstrings[function].location}")  # fmt: skip
        docstring = Docstring(function, entry.text("text"), entry.text("example", ""), entry.location)
        if not docstring.summary.endswith("."):
            raise DeclarationError(entry.where("text"), f"the text of `{function}` must begin with a sentence")
        if docstring.example and not docstring.example.startswith(">>> "):
            raise DeclarationError(entry.where("example"), f"the example of `{function}` must begin with `>>> `")
        docstrings[function] = docstring
    return tuple(docstrings.values())
