"""How many floating point operations a model takes: products of matrices and convolutions, forward and backward."""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = ["FlopCounterMode", "register_flop_formula"]

flop_registry: dict[Any, Callable[..., int]] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator: the function counts for `targets`, torch functions or operators of `torch.library`.

    It gets the shapes of tensors in their places, and `out_shape`; with `get_raw` the tensors and `out_val`.
    """

    def register(formula: Callable[..., int]) -> Callable[..., int]:
        counted = formula if get_raw else _by_shapes(formula)
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[target] = counted
        return formula

    return register


def _by_shapes(formula: Callable[..., int]) -> Callable[..., int]:
    from torch.utils._pytree import tree_map

    def shape(value: Any) -> Any:
        return value.shape if isinstance(value, torch.Tensor) else value

    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out = tree_map(shape, (args, kwargs, out_val))
        return formula(*args, **kwargs, out_shape=out)

    return counted


# ---------------------------------------------------------------------- what torch's own functions take

# Of a call: (operator, count) forward, and backward for each tensor that gets a gradient.
_Count = tuple[str, int, str]


def _product(name: str, rows: int, inner: int, columns: int) -> _Count:
    return name, 2 * rows * inner * columns, "bmm" if name in ("bmm", "baddbmm") else "mm"


def _count_mm(input: Tensor, mat2: Tensor, *rest: Any, **options: Any) -> _Count:
    return _product("mm", input.shape[0], input.shape[1], mat2.shape[1])


def _count_bmm(input: Tensor, mat2: Tensor, *rest: Any, **options: Any) -> _Count:
    return _product("bmm", input.shape[0] * input.shape[1], input.shape[2], mat2.shape[2])


def _count_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *rest: Any, **options: Any) -> _Count:
    return _product("addmm", mat1.shape[0], mat1.shape[1], mat2.shape[1])


def _count_baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *rest: Any, **options: Any) -> _Count:
    return _product("baddbmm", batch1.shape[0] * batch1.shape[1], batch1.shape[2], batch2.shape[2])


def _count_matmul(input: Tensor, other: Tensor, *rest: Any, **options: Any) -> _Count | None:
    if input.dim() == 0 or other.dim() < 2 or (input.dim() == 1 and other.dim() == 2):
        return None  # products with one vector are not counted
    rows, inner = (input.shape[-2] if input.dim() > 1 else 1), input.shape[-1]
    if other.dim() == 2:
        return _product("mm", prod(input.shape[:-1]), inner, other.shape[-1])
    batch = torch.broadcast_shapes(input.shape[:-2], other.shape[:-2])
    return _product("bmm", prod(batch) * rows, inner, other.shape[-1])


def _count_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> _Count:
    name = "mm" if bias is None else "addmm"
    return _product(name, prod(input.shape[:-1]), weight.shape[-1], prod(weight.shape[:-1]))


def _count_attention(query: Tensor, key: Tensor, value: Tensor, *rest: Any, **options: Any) -> _Count | None:
    return None  # PyTorch counts those of CUDA devices only


def _count_convolution(result: Tensor, input: Tensor, weight: Tensor, transposed: bool) -> _Count:
    positions = input if transposed else result
    spatial = weight.dim() - 2
    elements = prod(positions.shape[-spatial:]) * (positions.shape[0] if positions.dim() > spatial + 1 else 1)
    return "convolution", 2 * elements * weight.numel(), "convolution_backward"


_FORMULAS: dict[str, Callable[..., _Count | None]] = {
    "mm": _count_mm,
    "bmm": _count_bmm,
    "addmm": _count_addmm,
    "baddbmm": _count_baddbmm,
    "matmul": _count_matmul,
    "__matmul__": _count_matmul,
    "linear": _count_linear,
    "scaled_dot_product_attention": _count_attention,
}
_CONVOLUTIONS = {f"conv{transposed}{rank}d" for transposed in ("", "_transpose") for rank in (1, 2, 3)}


def _tensors(values: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors(value)
    return found


def _einsum_products(equation: str, operands: Sequence[Tensor]) -> _Count | None:
    """Of two operands; letters that stand once, and are not in the result, are summed before."""
    if len(operands) != 2 or "." in equation:
        return None
    terms, _, result = equation.replace(" ", "").partition("->")
    first, second = terms.split(",")
    sizes = dict(zip(first + second, [*operands[0].shape, *operands[1].shape], strict=True))
    if "->" not in equation:
        result = "".join(sorted(letter for letter in sizes if (first + second).count(letter) == 1))
    letters = set(result) | (set(first) & set(second))
    return "bmm", 2 * prod(sizes[letter] for letter in letters), "bmm"


class FlopCounterMode(TorchFunctionMode):
    """A context manager that counts the floating point operations of what runs in it, by module and operator.

    `display` prints a table at the end, of modules down to `depth`. `custom_mapping` has formulas for more functions,
    as `register_flop_formula` describes them. What is counted is what PyTorch counts: products of matrices (two for
    each product and sum), convolutions, and their backward passes.

    >>> with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
    ...     _ = torch.ones(2, 3) @ torch.ones(3, 4)
    >>> counter.get_total_flops()
    48
    """

    def __init__(
        self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None
    ) -> None:
        super().__init__()
        self.depth, self.display = depth, display
        self._custom = {
            target: formula if getattr(formula, "_get_raw", False) else _by_shapes(formula)
            for target, formula in (custom_mapping or {}).items()
        }
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self._names: dict[int, str] = {}
        self._stack: list[str] = []
        self._handles: list[Any] = []
        self._entered = 0

    # ------------------------------------------------------------------ results

    def get_total_flops(self) -> int:
        """Of everything."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """By module ("Global" for all), then by operator."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text, with modules down to `depth`."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        rows = [("Module", "FLOP", "% Total")]
        names = sorted(name for name in self.flop_counts if name.count(".") <= depth and name != "Global")
        if self.flop_counts["Global"] != self.flop_counts[names[0]] if names else True:
            names.insert(0, "Global")
        for name in names:
            indent = " " * (name.count(".") + (names[0] == "Global" and name != "Global"))
            counts = self.flop_counts[name]
            lines = [(name, sum(counts.values()))] + [(f" - {operator}", count) for operator, count in counts.items()]
            rows += [(indent + text, _short(count), f"{100 * count / max(total, 1):.2f}%") for text, count in lines]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        rows.insert(1, tuple("-" * width for width in widths))  # type: ignore[arg-type]
        return "\n".join(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows)

    # ------------------------------------------------------------------ modules

    def __enter__(self) -> FlopCounterMode:
        self._entered += 1
        if self._entered == 1:
            self.flop_counts.clear()
            self._handles = [
                register_module_forward_pre_hook(self._begin),
                register_module_forward_hook(self._end, always_call=True),
            ]
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._entered -= 1
        if self._entered == 0:
            for handle in self._handles:
                handle.remove()
            self._names.clear()
            self._stack.clear()
            if self.display:
                print(self.get_table())

    def _begin(self, module: torch.nn.Module, args: Any) -> None:
        name = self._names.get(id(module))
        if name is None:  # the first of its family that is called
            name = type(module).__name__
            for path, inner in module.named_modules():
                self._names.setdefault(id(inner), f"{name}.{path}" if path else name)
        self._stack.append(name)

    def _end(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        if self._stack:
            self._stack.pop()

    # ------------------------------------------------------------------ counting

    def _add(self, homes: set[str], operator: Any, count: int) -> None:
        for home in homes:
            self.flop_counts[home][operator] += count

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        func = getattr(func, "overloadpacket", func)  # formulas are of all overloads
        name = getattr(func, "__name__", "")
        formula = self._custom.get(func) or flop_registry.get(func)
        counted = _FORMULAS.get(name)
        if formula is None and counted is None and name not in _CONVOLUTIONS and name != "einsum":
            inner = getattr(func, "__wrapped__", None)
            if inner is None:
                return func(*args, **kwargs)
            with self:  # a function in Python: what it calls counts
                return inner(*args, **kwargs)
        result = func(*args, **kwargs)
        homes = {"Global", *self._stack}
        if formula is not None:
            self._add(homes, func, formula(*args, **kwargs, out_val=result))
            return result
        if name == "einsum":
            operands = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
            count = _einsum_products(args[0], operands)
        elif counted is None:
            tensors = [kwargs[key] if key in kwargs else args[place] for place, key in enumerate(("input", "weight"))]
            count = _count_convolution(result, *tensors, "transpose" in name)
        else:
            count = counted(*args, **kwargs)
        if count is not None:
            added = name in ("addmm", "baddbmm")  # their first tensor is added, not multiplied
            self._count(count, homes, _tensors([*args, *kwargs.values()])[added:], result)
        return result

    def _count(self, count: _Count, homes: set[str], inputs: list[Tensor], result: Tensor) -> None:
        operator, number, backward = count
        self._add(homes, getattr(torch.ops.aten, operator), number)
        node = result.grad_fn
        times = sum(tensor.requires_grad and tensor.dim() > 1 for tensor in inputs)
        if node is None or not times:
            return

        def count_backward(*gradients: Any) -> None:
            if self._entered:
                self._add(homes, getattr(torch.ops.aten, backward), number * times)

        node.register_hook(count_backward)


def _short(number: int) -> str:
    for unit, size in (("T", 10**12), ("B", 10**9), ("M", 10**6), ("K", 10**3)):
        if number >= 10 * size:
            return f"{number / size:.3f}{unit}" if number % size else f"{number // size}{unit}"
    return str(number)
