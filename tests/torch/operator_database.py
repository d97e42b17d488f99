"""Calls from PyTorch's own database of operators (OpInfo), and its answers: how they are kept and asked again.

`golden/make_operator_database.py` chooses them with real PyTorch. Arguments are stored densely; a call's layout says
how its tensors lie in memory, which must not change the answer.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "golden" / "operator_database.npz"
LAYOUTS = ("contiguous", "transposed", "every second", "behind the first")
DIFFERENTIATED = ("float32", "float64", "complex64")
# About what PyTorch's assert_close allows; of 16 bits more, as kernels may round in between or not.
TOLERANCE = {
    "float64": (1e-7, 1e-7),
    "float32": (1.3e-6, 2e-5),
    "complex64": (1.3e-6, 2e-5),
    "complex128": (1e-7, 1e-7),
    "float16": (5e-3, 5e-3),
    "bfloat16": (4e-2, 4e-2),
}


@dataclass(frozen=True)
class Call:
    """`operator` is the database's name of what `path` of torch is called for; the rest is encoded."""

    operator: str
    path: str
    dtype: str
    layout: str
    args: Any
    kwargs: Any
    answer: Any
    gradients: Any


class Writer:
    """Encodes values as JSON, with the numbers of tensors in a blob."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.blob = bytearray()
        self.known: dict[bytes, int] = {}

    def encode(self, value: Any) -> Any:
        """JSON of a value; TypeError for what is not stored."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) in (float, complex):
            return {type(value).__name__: repr(value)}
        if isinstance(value, (tuple, list)):
            return {"list" if isinstance(value, list) else "tuple": [self.encode(item) for item in value]}
        if isinstance(value, slice):
            return {"slice": [self.encode(item) for item in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"slice": []}
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return {"constant": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device) and value.type == "cpu":
            return {"device": []}
        raise TypeError(type(value).__name__)

    def _tensor(self, value: Any) -> Any:
        torch = self.torch
        if type(value) not in (torch.Tensor, torch.nn.Parameter) or value.layout is not torch.strided:
            raise TypeError(type(value).__name__)
        dtype = str(value.dtype).removeprefix("torch.")
        dense = value.detach().resolve_conj().resolve_neg().contiguous()
        if dtype == "bfloat16":
            dense = dense.view(torch.int16)
        array = dense.numpy()  # a TypeError for types that NumPy has not
        data = array.tobytes()
        if data not in self.known:
            self.blob += bytes(-len(self.blob) % 16)
            self.known[data] = len(self.blob)
            self.blob += data
        kind = [dtype, list(value.shape), self.known[data]]
        return {"leaf" if value.requires_grad and value.is_leaf else "tensor": kind}


def write(calls: list[dict[str, Any]], blob: bytes) -> int:
    """Writes FILE; how many bytes it has."""
    text = json.dumps(calls, separators=(",", ":"))
    np.savez_compressed(FILE, index=np.frombuffer(text.encode(), np.uint8), blob=np.frombuffer(blob, np.uint8))
    return FILE.stat().st_size


class Database:
    """The calls of FILE, which `torch` can be asked."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        with np.load(FILE) as file:
            self.calls = [Call(**entry) for entry in json.loads(file["index"].tobytes())]
            self._blob = file["blob"].tobytes()
        self.by_operator: dict[str, list[Call]] = {}
        for call in self.calls:
            self.by_operator.setdefault(call.operator, []).append(call)

    def check(self, call: Call, device: str) -> None:
        """AssertionError unless the call's answer and gradients on `device` are PyTorch's."""
        decoder = Decoder(self.torch, self._blob, device, call.layout)
        results, gradients = ask(self.torch, call.path, *decoder.arguments(call.args, call.kwargs), decoder.leaves)
        self._compare(results, call.answer, call)
        if call.gradients is not None:
            self._compare(gradients, call.gradients, call, slack=10)  # sums, whose terms may cancel each other

    def _compare(self, actual: Any, expected: Any, call: Call, slack: float = 1) -> None:
        torch = self.torch
        if isinstance(expected, dict) and ("tensor" in expected or "leaf" in expected):
            wanted = Decoder(torch, self._blob, "cpu", "contiguous").decode(expected).detach()
            dtype = str(wanted.dtype).removeprefix("torch.")
            relative, absolute = TOLERANCE.get(dtype, (0.0, 0.0))
            actual, absolute = actual.detach().cpu(), absolute * slack
            torch.testing.assert_close(actual, wanted, rtol=relative, atol=absolute, equal_nan=True)
        elif isinstance(expected, dict) and ("tuple" in expected or "list" in expected):
            items = expected.get("tuple", expected.get("list"))
            assert len(actual) == len(items)
            for one, other in zip(actual, items, strict=True):
                self._compare(one, other, call, slack)
        elif isinstance(expected, dict):
            wanted = Decoder(torch, self._blob, "cpu", "contiguous").decode(expected)
            if isinstance(wanted, float):
                assert math.isclose(actual, wanted, rel_tol=1e-6) or (math.isnan(actual) and math.isnan(wanted))
            else:
                assert actual == wanted
        else:
            assert type(actual) is type(expected)
            assert actual == expected


class Decoder:
    """Makes the arguments of a call; `leaves` are those that have a gradient."""

    def __init__(self, torch: Any, blob: bytes, device: str, layout: str) -> None:
        self.torch, self.blob, self.device, self.layout = torch, blob, device, layout
        self.leaves: list[Any] = []

    def arguments(self, args: Any, kwargs: Any) -> tuple[list[Any], dict[str, Any]]:
        """Positional ones and those by name."""
        return [self.decode(item) for item in args], {name: self.decode(item) for name, item in kwargs.items()}

    def decode(self, value: Any) -> Any:
        """The value that was encoded."""
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind in ("tensor", "leaf"):
            tensor = self._tensor(*content)
            if kind == "leaf":
                self.leaves.append(tensor.requires_grad_())
            return tensor
        if kind in ("float", "complex"):
            return float(content) if kind == "float" else complex(content)
        if kind == "constant":
            return getattr(self.torch, content)
        if kind == "device":
            return self.torch.device(self.device)
        items = [self.decode(item) for item in content]
        if kind == "slice":
            return slice(*items) if items else Ellipsis
        return tuple(items) if kind == "tuple" else items

    def _tensor(self, dtype: str, shape: list[int], offset: int) -> Any:
        torch, count = self.torch, math.prod(shape)
        array = np.frombuffer(self.blob, "int16" if dtype == "bfloat16" else dtype, count, offset).reshape(shape)
        values = torch.from_numpy(array.copy())
        return lay_out(torch, values.view(torch.bfloat16) if dtype == "bfloat16" else values, self.layout, self.device)


def lay_out(torch: Any, values: Any, layout: str, device: str) -> Any:
    """Contiguous `values` on `device`, in memory as `layout` says; what lies between is never a number to be met."""
    if layout == "contiguous" or not values.numel():
        return values.to(device)
    backwards = list(reversed(range(values.dim())))
    if layout == "transposed":
        return values.permute(backwards).contiguous().to(device).permute(backwards)
    beside = values.reshape(-1)[:1].expand_as(values.reshape(-1))
    if layout == "behind the first":
        memory = torch.cat((beside[:1], values.reshape(-1))).to(device)
        return memory[1:].view(values.shape)
    memory = torch.stack((values.reshape(-1), beside), -1).reshape(*values.shape, 2).to(device)
    return memory[..., 0]


def function_of(torch: Any, path: str) -> Any:
    """What `path` names: functions of torch, methods of a tensor and its properties."""
    home, _, name = path.rpartition(".")
    for part in home.split(".")[1:]:
        torch = getattr(torch, part)
    return getattr(torch, name)


def ask(torch: Any, path: str, args: list[Any], kwargs: dict[str, Any], leaves: list[Any]) -> tuple[Any, Any]:
    """The answer of a call, and the gradients of `leaves` for a weighted sum of it; None where there are none."""
    answer = function_of(torch, path)(*args, **kwargs)
    parts: list[Any] = []

    def collect(value: Any) -> None:
        if isinstance(value, (list, tuple)):
            for item in value:
                collect(item)
        elif isinstance(value, torch.Tensor) and value.requires_grad:
            parts.append(torch.view_as_real(value.resolve_conj()) if value.is_complex() else value)

    collect(answer)
    if not leaves or not parts:
        return answer, None
    weights = [
        torch.from_numpy((np.arange(part.numel()) % 7 - 2.5) / 4).to(part.dtype).to(part.device).reshape(part.shape)
        for part in parts
    ]
    return answer, torch.autograd.grad(parts, leaves, weights, allow_unused=True)
