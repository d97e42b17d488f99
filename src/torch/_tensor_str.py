"""How tensors are printed: PyTorch's form, so that its documentation's examples read the same."""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


class _PrintOptions:
    """The options of `set_printoptions`; the defaults are PyTorch's."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = _PrintOptions()
_PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors are printed.

    `precision`: digits after the point. `threshold`: elements above which the middle is left out. `edgeitems`: elements
    kept at each edge then. `linewidth`: characters. `profile`: "default", "short" or "full" first. `sci_mode`: always
    (True), never (False) or where it reads better (None). Raises ValueError for an unknown profile.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {sorted(_PROFILES)}, not {profile!r}")
        for name, value in _PROFILES[profile].items():
            setattr(PRINT_OPTS, name, value)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, option in given.items():
        if option is not None:
            setattr(PRINT_OPTS, name, option)
    PRINT_OPTS.sci_mode = sci_mode


# A tensor's values as nested lists; _GAP stands where elements were left out.
_GAP = object()


def _values(tensor: Tensor, summarize: bool) -> Any:
    if not summarize:
        return tensor.tolist()
    edge = PRINT_OPTS.edgeitems
    if tensor.dim() == 0:
        return tensor.item()
    if tensor.size(0) <= 2 * edge:
        return tensor.tolist() if tensor.dim() == 1 else [_values(row, True) for row in tensor]
    first, last = tensor[:edge], tensor[tensor.size(0) - edge :]
    return [*_values(first, True), _GAP, *_values(last, True)]


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, list):
        for value in values:
            yield from _flat(value)
    elif values is not _GAP:
        yield values


class _Formatter:
    """Decides once per tensor how its elements are written, then writes each in `width` characters."""

    def __init__(self, values: list[Any], floating: bool) -> None:
        self.floating = floating
        self.integral = True  # every float is a whole number: printed as `1.`
        self.scientific = False
        self.width = 1
        precision = PRINT_OPTS.precision
        if not floating:
            self.width = max((len(str(value)) for value in values), default=1)
            return
        counted = [value for value in values if value != 0 and math.isfinite(value)]
        if not counted:
            return
        magnitudes = [abs(value) for value in counted]
        largest, smallest = max(magnitudes), min(magnitudes)
        self.integral = all(value == math.ceil(value) for value in counted)
        wide = largest / smallest > 1000.0 or largest > 1.0e8
        self.scientific = wide or (not self.integral and smallest < 1.0e-4)
        if PRINT_OPTS.sci_mode is not None:
            self.scientific = PRINT_OPTS.sci_mode
        if self.scientific:
            self.width = max(len(f"{value:.{precision}e}") for value in counted)
        elif self.integral:
            self.width = max(len(f"{value:.0f}") for value in counted) + 1
        else:
            self.width = max(len(f"{value:.{precision}f}") for value in counted)

    def text(self, value: Any) -> str:
        if not self.floating:
            text = str(value)
        elif self.scientific:
            text = f"{value:.{PRINT_OPTS.precision}e}"
        elif self.integral:
            text = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        else:
            text = f"{value:.{PRINT_OPTS.precision}f}"
        return text.rjust(self.width)


class _ComplexFormatter:
    """Real and imaginary parts, each as a tensor of them is written."""

    def __init__(self, values: list[complex]) -> None:
        self.real = _Formatter([value.real for value in values], True)
        self.imag = _Formatter([value.imag for value in values], True)
        self.width = self.real.width + self.imag.width + 1

    def text(self, value: complex) -> str:
        imag = self.imag.text(value.imag).lstrip() + "j"
        return self.real.text(value.real) + ("" if imag[0] in "+-" else "+") + imag


def _vector_text(values: list[Any], indent: int, formatter: _Formatter | _ComplexFormatter) -> str:
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (formatter.width + 2))
    words = [" ..." if value is _GAP else formatter.text(value) for value in values]
    lines = [", ".join(words[start : start + per_line]) for start in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _nested_text(values: Any, dimensions: int, indent: int, formatter: _Formatter | _ComplexFormatter) -> str:
    if dimensions == 0:
        return formatter.text(values)
    if dimensions == 1:
        return _vector_text(values, indent, formatter)
    parts = ["..." if value is _GAP else _nested_text(value, dimensions - 1, indent + 1, formatter) for value in values]
    return "[" + ("," + "\n" * (dimensions - 1) + " " * (indent + 1)).join(parts) + "]"


def _contents_text(tensor: Tensor, indent: int) -> str:
    values = _values(tensor, summarize=tensor.numel() > PRINT_OPTS.threshold)
    flat = list(_flat(values))
    formatter = _ComplexFormatter(flat) if tensor.is_complex() else _Formatter(flat, tensor.is_floating_point())
    return _nested_text(values, tensor.dim(), indent, formatter)


def _with_suffixes(text: str, suffixes: list[str], indent: int, new_line: bool = False) -> str:
    """Appends the suffixes, starting a new line where the last one would become too long, or with the first one."""
    parts = [text]
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if new_line or column + len(suffix) + 2 > PRINT_OPTS.linewidth:
            new_line = False
            parts.append(",\n" + " " * indent + suffix)
            column = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            column += len(suffix) + 2
    return "".join(parts) + ")"


def _history_name(tensor: Tensor) -> str:
    """The name of the node that made `tensor`; "" for a leaf."""
    try:
        node = tensor.grad_fn
    except RuntimeError:
        # A view made without grad, whose base was written since: it can be looked at, but not differentiated.
        return "Invalid"
    return "" if node is None else str(node.name().rsplit("::", 1)[-1])


# A sparse layout -> the methods that give its parts.
_PARTS = {
    torch.sparse_coo: ("indices", "values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
}


def _sparse_text(tensor: Tensor, prefix: str) -> str:
    """`prefix`, then the parts, each as a tensor of its own, and what they are parts of."""
    indent = len(prefix)
    parts = []
    for name in _PARTS[tensor.layout]:
        # A tensor that is not coalesced shows its parts as they are.
        part = getattr(tensor.detach(), f"_{name}" if tensor.layout is torch.sparse_coo else name)()
        contents = _contents_text(part, indent + len(name) + 8) if part.numel() else f"[], size={tuple(part.shape)}"
        parts.append(f"{name}=tensor({contents})")
    suffixes = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    if tensor.is_cuda:
        suffixes.insert(0, f"device='{tensor.device}'")
    default = torch.get_default_dtype()
    if tensor.dtype not in (default, default.to_complex(), torch.int64, torch.bool):
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes.append(f"layout={tensor.layout}")
    text = prefix + (",\n" + " " * indent).join(parts)
    return _with_suffixes(text, suffixes + _history_suffix(tensor), indent, new_line=tensor.layout is torch.sparse_coo)


def _history_suffix(tensor: Tensor) -> list[str]:
    history = _history_name(tensor)
    if history:
        return [f"grad_fn=<{history}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def tensor_text(tensor: Tensor) -> str:
    """`repr(tensor)`: of a class of its own, a tensor is printed under its name."""
    prefix = "tensor("
    is_parameter = False
    if type(tensor) is not torch.Tensor:
        from torch.nn.parameter import Buffer, Parameter

        if type(tensor) not in (Parameter, Buffer):
            prefix, is_parameter = f"{type(tensor).__name__}(", isinstance(tensor, Parameter)
    if tensor.layout is not torch.strided:
        text = _sparse_text(tensor, prefix)
        return f"Parameter({text})" if is_parameter else text
    suffixes = []
    default = torch.get_default_dtype()
    implied = (default, default.to_complex(), torch.int64, torch.bool)
    values = tensor.detach()
    if tensor.is_cuda or tensor.is_meta:
        suffixes.append(f"device='{tensor.device}'")
    if tensor.is_meta:
        suffixes.append(f"size={tuple(tensor.shape)}")
        contents = "..."
        show_dtype = tensor.dtype != default
    elif tensor.numel() == 0:
        if tensor.dim() != 1:
            suffixes.append(f"size={tuple(tensor.shape)}")
        contents = "[]"
        show_dtype = tensor.dtype != default
    else:
        contents = ""
        show_dtype = tensor.dtype not in implied
    if show_dtype:
        suffixes.append(f"dtype={tensor.dtype}")
    if not contents:
        contents = _contents_text(values.cpu() if tensor.is_cuda else values, len(prefix))
    suffixes += _history_suffix(tensor)
    forward_ad = sys.modules.get("torch.autograd.forward_ad")  # nobody who has not imported it has dual tensors
    if forward_ad and forward_ad._current_level >= 0:
        tangent = forward_ad.unpack_dual(tensor).tangent
        if tangent is not None:
            suffixes.append(f"tangent={tangent!r}")
    text = _with_suffixes(prefix + contents, suffixes, len(prefix))
    return f"Parameter({text})" if is_parameter else text


# What libraries call to print tensors in a form of their own.


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements of a tensor as text, with lines after the first indented."""
    return "[]" if self.numel() == 0 else _contents_text(self.detach().cpu(), indent)


def _str_intern(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    """`repr` of a tensor."""
    return tensor_text(inp)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """`tensor_str` and what is said behind it, in lines of `linewidth`."""
    return _with_suffixes(tensor_str, suffixes, indent, new_line=force_newline)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """A block with other options, as `set_printoptions` takes them."""
    before = {name: getattr(PRINT_OPTS, name) for name in _PrintOptions.__annotations__}
    set_printoptions(**options)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(PRINT_OPTS, name, value)
