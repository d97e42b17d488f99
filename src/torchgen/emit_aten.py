"""Writes the declarations that C++ code includes: aten/Functions.h, TensorMethods.inc and NativeFunctions.h."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from torchgen import api
from torchgen.output import Output, fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchgen.model import Declarations, Face, NativeFunction


def outputs(declarations: Declarations) -> Iterator[Output]:
    faces = declarations.faces
    yield Output(
        PurePosixPath("aten/Functions.h"),
        fill(
            "Functions.h",
            declarations="\n".join(_function(face) for face in faces),
            overloads="\n".join(filter(None, map(_overload_without_generator, faces))),
            methods="\n".join(filter(None, map(_method_definition, faces))),
        ),
    )
    yield Output(
        PurePosixPath("aten/TensorMethods.inc"),
        fill("TensorMethods.inc", declarations="\n".join(filter(None, map(_method_declaration, faces)))),
    )
    yield Output(
        PurePosixPath("aten/NativeFunctions.h"),
        fill(
            "NativeFunctions.h",
            declarations="\n".join([*map(_native, declarations.functions), *_sparse_natives(declarations)]),
        ),
    )


def _function(face: Face) -> str:
    return f"TORCH_API {api.function_signature(face).declaration(with_defaults=True)};  // {face.schema.full_name}"


def _overload_without_generator(face: Face) -> str | None:
    signature = api.function_signature(face)
    short = api.without_generator(signature)
    if short is None:
        return None
    body = api.pass_on(signature.arguments, generator="Generator()")
    return f"inline {short.declaration()} {{ return at::{signature.name}({body}); }}"


def _native(function: NativeFunction) -> str:
    return f"TORCH_API {api.native_signature(function).declaration()};"


def _sparse_natives(declarations: Declarations) -> list[str]:
    """The functions that the key `sparse` names; each has its row's signature, and may stand in several."""
    named = (function for function in declarations.functions if api.has_sparse_function(function))
    return list(dict.fromkeys(f"{api.sparse_signature(function).declaration()};" for function in named))


def _method_declaration(face: Face) -> str | None:
    signature = api.method_signature(face)
    return None if signature is None else f"{signature.declaration(with_defaults=True)} const;"


def _method_definition(face: Face) -> str | None:
    signature = api.method_signature(face)
    if signature is None:
        return None
    # Methods are const even when they write: a Tensor is a handle, and what it refers to is not const.
    this = "const_cast<Tensor&>(*this)" if face.is_inplace else "*this"
    arguments = ", ".join(argument.declaration(with_default=False) for argument in signature.arguments)
    call = api.call(api.function_signature(face), self=this)
    return f"inline {signature.result} Tensor::{signature.name}({arguments}) const {{ return at::{call}; }}"
