"""ONNX files as plain data, read with suspicion: what a file claims is compared with what it has, before it is taken.

Weights of other files are read only from regular files inside of the model's own folder, never through links, symbolic
or hard ones, which `onnx.load` refuses, too.
"""

from __future__ import annotations

import math
import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor
from torch.onnx._graph import DTYPES
from torch.onnx._packages import require
from torch.onnx.errors import ImportModelError

_LARGEST_MESSAGE = 2**31 - 1
_DEEPEST = 50  # graphs in graphs
# The repeated field that holds a type's elements where raw_data does not, and how many entries an element has.
_FIELDS = {
    1: "float_data", 2: "int32_data", 3: "int32_data", 4: "int32_data", 5: "int32_data", 6: "int32_data",
    7: "int64_data", 9: "int32_data", 10: "int32_data", 11: "double_data", 12: "uint64_data", 13: "uint64_data",
    14: "float_data", 15: "double_data", 16: "int32_data",
}  # fmt: skip


@dataclass
class Step:
    """A node: its operator, names of inputs and outputs ("" for absent ones), attributes as Python has them."""

    domain: str
    op: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    name: str = ""


@dataclass
class Body:
    """A graph: nodes in their order, initializers, and the names of inputs and outputs."""

    inputs: list[str]
    outputs: list[str]
    steps: list[Step]
    initializers: dict[str, Tensor] = field(default_factory=dict)


@dataclass
class File:
    """What a model file says."""

    body: Body
    opsets: dict[str, int]
    functions: dict[tuple[str, str], tuple[Body, dict[str, Any], list[str], dict[str, int]]]


@dataclass(frozen=True)
class Parameter:
    """An attribute of a function's node that the call gives."""

    name: str


def read(path: str | os.PathLike[str]) -> File:
    """The model in a file; ImportModelError where it is damaged or asks for what is not allowed."""
    onnx = require("onnx", "torch.onnx.load")
    place = Path(path)
    try:
        size = place.stat().st_size
        if size > _LARGEST_MESSAGE:
            raise ImportModelError(f"{place} has {size} bytes: an ONNX message is smaller than 2 GiB")
        data = place.read_bytes()
    except OSError as error:
        raise ImportModelError(f"{place} cannot be read: {error}") from error
    message = onnx.ModelProto()
    try:
        message.ParseFromString(data)
    except Exception as error:
        raise ImportModelError(f"{place} is not an ONNX file, or a damaged one: {error}") from error
    if not message.HasField("graph") or not message.opset_import:
        raise ImportModelError(f"{place} is not an ONNX file: it has no graph or no operator set")
    return _Reader(onnx, place.absolute().parent).file(message)


def refuse_twice(what: str, names: list[str]) -> None:
    """ImportModelError where a name is there twice."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ImportModelError(f"{what} need names of their own: {', '.join(map(repr, twice[:10]))} cannot be taken")


class _Reader:
    def __init__(self, onnx: Any, folder: Path) -> None:
        self.onnx, self.folder = onnx, folder
        self.total = 0  # bytes of external data

    def file(self, message: Any) -> File:
        opsets = self.opsets(message)
        newest = self.onnx.defs.onnx_opset_version()
        if not 1 <= opsets.get("", 1) <= newest:
            raise ImportModelError(f"operator set {opsets['']} is not known: there are 1 to {newest}")
        functions = {}
        refuse_twice("functions", [f"{each.domain}::{each.name}" for each in message.functions])
        for each in message.functions:
            defaults = {attribute.name: self.attribute(attribute, 0) for attribute in each.attribute_proto}
            steps = [self.step(node, 0) for node in each.node]
            body = Body(list(each.input), list(each.output), steps)
            self.check_order(body, set(each.input), f"function {each.name}")
            functions[each.domain, each.name] = (body, defaults, list(each.attribute), {**opsets, **self.opsets(each)})
        self.check_calls(functions)
        body = self.body(message.graph, set(), 0)
        return File(body, opsets, functions)

    @staticmethod
    def opsets(message: Any) -> dict[str, int]:
        return {"" if each.domain == "ai.onnx" else each.domain: each.version for each in message.opset_import}

    def check_calls(self, functions: dict[tuple[str, str], Any]) -> None:
        """Functions do not call themselves, by whatever way."""
        done: set[tuple[str, str]] = set()

        def visit(key: tuple[str, str], path: tuple[tuple[str, str], ...]) -> None:
            if key in path or len(path) > _DEEPEST:
                raise ImportModelError(f"function {key[1]} calls itself, or functions lie too deep in one another")
            if key in done:
                return
            for step in functions[key][0].steps:
                if (step.domain, step.op) in functions:
                    visit((step.domain, step.op), (*path, key))
            done.add(key)

        for key in functions:
            visit(key, ())

    # ------------------------------------------------------------------ graphs

    def body(self, graph: Any, outer: set[str], depth: int) -> Body:
        if depth > _DEEPEST:
            raise ImportModelError("graphs lie too deep in one another")
        if graph.sparse_initializer:
            raise ImportModelError("sparse initializers are not supported")
        refuse_twice("inputs", [each.name for each in graph.input])
        refuse_twice("initializers", ["", *(each.name for each in graph.initializer)])  # "" stands for what is absent
        initializers = {each.name: self.tensor(each) for each in graph.initializer}
        inputs = [each.name for each in graph.input if each.name not in initializers or depth]
        known = outer | set(inputs) | set(initializers)
        steps = []
        for node in graph.node:
            step = self.step(node, depth, known)
            steps.append(step)
            known |= set(step.outputs)
        body = Body(inputs, [each.name for each in graph.output], steps, initializers)
        self.check_order(body, outer | set(inputs) | set(initializers), f"graph {graph.name}")
        return body

    @staticmethod
    def check_order(body: Body, known: set[str], where: str) -> None:
        """Every value is made before it is used, once: so there are no cycles."""
        known = known | {""}
        for step in body.steps:
            for name in step.inputs:
                if name not in known:
                    raise ImportModelError(
                        f"{where}: {step.op} uses {name!r} before anything makes it (a cycle, or it is missing)"
                    )
            for name in filter(None, step.outputs):
                if name in known:
                    raise ImportModelError(f"{where}: {name!r} is made twice")
                known.add(name)
        missing = [name for name in body.outputs if name not in known]
        if missing:
            raise ImportModelError(f"{where}: nothing makes the outputs {missing}")

    def step(self, node: Any, depth: int, known: set[str] | None = None) -> Step:
        domain = "" if node.domain == "ai.onnx" else node.domain
        attributes = {each.name: self.attribute(each, depth, known) for each in node.attribute}
        return Step(domain, node.op_type, list(node.input), list(node.output), attributes, node.name)

    def attribute(self, attribute: Any, depth: int, known: set[str] | None = None) -> Any:
        kinds = self.onnx.AttributeProto
        if attribute.ref_attr_name:
            return Parameter(attribute.ref_attr_name)
        kind = attribute.type
        if kind == kinds.FLOAT:
            return attribute.f
        if kind == kinds.INT:
            return attribute.i
        if kind == kinds.STRING:
            return attribute.s.decode("utf-8", "replace")
        if kind == kinds.TENSOR:
            return self.tensor(attribute.t)
        if kind == kinds.GRAPH:
            return self.body(attribute.g, known or set(), depth + 1)
        if kind == kinds.FLOATS:
            return list(attribute.floats)
        if kind == kinds.INTS:
            return list(attribute.ints)
        if kind == kinds.STRINGS:
            return [each.decode("utf-8", "replace") for each in attribute.strings]
        if kind == kinds.TYPE_PROTO:
            return attribute.tp.WhichOneof("value") or ""
        return NotImplemented  # refused by the operator that gets it

    # ------------------------------------------------------------------ tensors

    def tensor(self, message: Any) -> Tensor:
        name, dims, kind = message.name, list(message.dims), message.data_type
        if kind not in DTYPES:
            known = (
                self.onnx.TensorProto.DataType.Name(kind) if kind in self.onnx.TensorProto.DataType.values() else kind
            )
            raise ImportModelError(f"tensor {name!r} is of type {known}, which torch has not")
        if any(each < 0 for each in dims):
            raise ImportModelError(f"tensor {name!r} has the sizes {dims}")
        dtype, count = DTYPES[kind], math.prod(dims)
        if message.HasField("segment"):
            raise ImportModelError(f"tensor {name!r} is in segments")
        if message.data_location == self.onnx.TensorProto.EXTERNAL:
            data: bytes | bytearray = self.external(message, name, count * dtype.itemsize)
        elif message.HasField("raw_data"):
            data = message.raw_data
        else:
            return self.from_field(message, name, dims, dtype, count)
        if len(data) != count * dtype.itemsize:
            raise ImportModelError(
                f"tensor {name!r} claims {dims} of {dtype}, {count * dtype.itemsize} bytes, but has {len(data)}"
            )
        if not count:
            return torch.empty(dims, dtype=dtype)
        own = data if isinstance(data, bytearray) else bytearray(data)
        return torch.frombuffer(own, dtype=dtype).reshape(dims)

    def from_field(self, message: Any, name: str, dims: list[int], dtype: torch.dtype, count: int) -> Tensor:
        entries = getattr(message, _FIELDS[message.data_type])
        if len(entries) != count * (2 if dtype.is_complex else 1):
            raise ImportModelError(f"tensor {name!r} claims {dims}, {count} elements, but has {len(entries)}")
        try:
            if dtype in (torch.float16, torch.bfloat16):
                return torch.tensor(list(entries), dtype=torch.int32).to(torch.int16).view(dtype).reshape(dims)
            if dtype.is_complex:
                pairs = torch.tensor(list(entries), dtype=torch.float32 if dtype == torch.complex64 else torch.float64)
                return torch.view_as_complex(pairs.reshape(-1, 2)).reshape(dims)
            return torch.tensor(list(entries), dtype=dtype).reshape(dims)
        except (RuntimeError, OverflowError) as error:
            raise ImportModelError(f"tensor {name!r} has elements that are no {dtype}: {error}") from error

    def external(self, message: Any, name: str, size: int) -> bytearray:
        """The bytes of a tensor in another file."""
        entries = {each.key: each.value for each in message.external_data}
        try:
            offset = int(entries.get("offset", 0))
            length = int(entries.get("length", size))
        except ValueError as error:
            raise ImportModelError(f"tensor {name!r}: {error}") from error
        if offset < 0 or length != size:
            raise ImportModelError(f"tensor {name!r} claims {size} bytes, {length} at {offset} are named")
        location = entries.get("location", "")
        parts = PurePosixPath(location).parts
        if (
            not parts
            or location.startswith(("/", "\\"))
            or ".." in parts
            or "\\" in location
            or ":" in location
            or "\0" in location
        ):
            raise ImportModelError(f"tensor {name!r} lies in {location!r}: only files in the model's folder are read")
        try:
            return self.read_inside(parts, offset, size, name)
        except OSError as error:
            raise ImportModelError(f"tensor {name!r}: {location} cannot be read: {error}") from error

    def read_inside(self, parts: tuple[str, ...], offset: int, size: int, name: str) -> bytearray:
        """Bytes of a file below the folder: no part of the way is a link, and it is a regular file."""
        place = self.folder
        for part in parts:
            place /= part
            if place.is_symlink():
                raise ImportModelError(f"tensor {name!r} lies behind the link {place}")
        descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ImportModelError(f"tensor {name!r} lies in {place}, which is no file")
            if status.st_nlink > 1:
                raise ImportModelError(
                    f"tensor {name!r} lies in {place}, a file that has other names, too (hard links): they may lie "
                    "outside of the model's folder. Give the model a copy of it"
                )
            if offset + size > status.st_size:
                raise ImportModelError(
                    f"tensor {name!r} claims {size} bytes at {offset}, {place.name} has {status.st_size}"
                )
            self.total += size
            if self.total > 4 * status.st_size + _LARGEST_MESSAGE:
                raise ImportModelError("tensors claim the same bytes again and again")
            file.seek(offset)
            data = bytearray(size)
            if file.readinto(data) != size:
                raise ImportModelError(f"tensor {name!r}: {place.name} became shorter while it was read")
            return data
