"""Two recordings of one program, at two choices of its dynamic sizes, become one.

What differs between them and is not a size that was tracked would be wrong at a third choice: it is an error. A size
that is the same in both is static. What depends on static sizes only is a constant. Guards are tried at other sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.onnx._graph import Dim
from torch.onnx._recording import Recording, Reference, iterate_leaves, map_leaves
from torch.onnx._sizes import _Tracked, describe, evaluate, leaves
from torch.onnx.errors import DynamicShapeError, OnnxExporterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.onnx._recording import Record
    from torch.onnx._sizes import Guard


@dataclass(frozen=True)
class Axis:
    """A dynamic size of the inputs: its name, its size in both recordings and what it may be."""

    name: str
    first: int
    second: int
    low: int = 2
    high: int = 2**31


@dataclass
class Plan:
    """What is to be translated: records with `Dim` for dynamic sizes, constants, and shapes with None for them."""

    records: list[Record]
    constants: dict[int, Tensor]
    shapes: dict[int, tuple[int | None, ...]]


class Unifier:
    """Makes one `Plan` of one or two recordings."""

    def __init__(
        self, first: Recording, second: Recording | None, axes: list[Axis], is_random: Callable[[str], bool]
    ) -> None:
        self.first, self.second = first, second or first
        self.axes = {axis.name: axis for axis in axes}
        self._is_random = is_random
        self._constants = dict(first.constants)
        self._by_data: set[int] = set()

    def run(self) -> Plan:
        """The plan; DynamicShapeError where a size was burnt in."""
        self._compare()
        records = []
        for record in self.first.records:
            resolved = self._resolve(record)
            used = list(iterate_leaves((resolved.args, resolved.kwargs)))
            numbers = [each.number for each in iterate_leaves(record.results) if isinstance(each, Reference)]
            if record.data_sized or any(
                self._depends_on_data(each) for each in iterate_leaves((record.args, record.kwargs))
            ):
                self._by_data.update(numbers)
            fixed = all(
                not isinstance(each, Dim) and (not isinstance(each, Reference) or each.number in self._constants)
                for each in used
            )
            if fixed and not self._is_random(record.name) and all(number in self.first.computed for number in numbers):
                self._constants.update((number, self.first.computed[number]) for number in numbers)
            else:
                records.append(resolved)
        for guard in self.first.guards:
            self._check_guard(guard)
        shapes = {
            number: tuple(self._known(number, axis) for axis in range(len(shape)))
            for number, shape in self.first.shapes.items()
        }
        return Plan(records, self._constants, shapes)

    # ------------------------------------------------------------------ sizes

    def _known(self, number: int, axis: int) -> int | None:
        """A size that is the same in both recordings and does not depend on values."""
        if number in self._by_data:
            return None
        one, two = self.first.shapes[number][axis], self.second.shapes.get(number, self.first.shapes[number])[axis]
        return one if one == two else None

    def _is_dynamic(self, leaf: tuple[Any, ...]) -> bool:
        return leaf[0] == "dim" or self._known(leaf[1], leaf[2]) is None

    def _depends_on_data(self, leaf: Any) -> bool:
        if isinstance(leaf, Reference):
            return leaf.number in self._by_data
        return isinstance(leaf, _Tracked) and any(
            each[0] == "size" and each[1] in self._by_data for each in leaves(leaf.expression)
        )

    def resolve(self, leaf: Any) -> Any:
        """A tracked size as a number, if all that it came from is static, otherwise as a `Dim`."""
        if not isinstance(leaf, _Tracked):
            return leaf
        if any(self._is_dynamic(each) for each in leaves(leaf.expression)):
            return Dim(self._simplify(leaf.expression))
        return int.__add__(leaf, 0) if isinstance(leaf, int) else float.__add__(leaf, 0.0)  # type: ignore[operator]

    def _simplify(self, expression: Any) -> Any:
        """Static sizes in it as numbers."""
        if not isinstance(expression, tuple):
            return expression
        if expression[0] in ("dim", "size"):
            return expression if self._is_dynamic(expression) else self.first.shapes[expression[1]][expression[2]]
        return (expression[0], *(self._simplify(part) for part in expression[1:]))

    def _resolve(self, record: Record) -> Record:
        return type(record)(
            record.name,
            map_leaves(self.resolve, record.args),
            map_leaves(self.resolve, record.kwargs),
            record.results,
            record.location,
        )

    # ------------------------------------------------------------------ comparing

    def _sizes_text(self) -> str:
        if not self.axes:
            return "the inputs', with other values"
        return ", ".join(f"{axis.name}={axis.first} and {axis.name}={axis.second}" for axis in self.axes.values())

    def _compare(self) -> None:
        one, two = self.first, self.second
        if one is two:
            return
        advice = (
            "Where a size became a number, by int(), len(), range(), math.sqrt() or a Python loop, the graph cannot "
            "follow: compute with x.shape[i] itself, or leave that dimension static"
        )
        for (place, name, answer), (_, _, other_answer) in zip(one.answers, two.answers, strict=False):
            if isinstance(answer, (bool, int, float)) and answer != other_answer:
                raise DynamicShapeError(
                    f"{place}: {name} gives {answer} at one size and {other_answer} at another (sizes tried: "
                    f"{self._sizes_text()}). {advice}"
                )
        for first, second in zip(one.records, two.records, strict=False):
            if first.name != second.name:
                raise DynamicShapeError(
                    f"{first.location}: the program calls {first.name} at one size and {second.name} "
                    f"({second.location}) at another (sizes tried: {self._sizes_text()}). {advice}"
                )
            mine, other = (list(iterate_leaves((each.args, each.kwargs))) for each in (first, second))
            if len(mine) != len(other) or not all(map(self._same, mine, other)):
                texts = [
                    ", ".join(str(leaf) for leaf in each if not isinstance(leaf, Reference)) for each in (mine, other)
                ]
                raise DynamicShapeError(
                    f"{first.location}: {first.name} gets ({texts[0]}) at one size and ({texts[1]}) at another "
                    f"(sizes tried: {self._sizes_text()}). {advice}"
                )
            for number in (each.number for each in iterate_leaves(first.results) if isinstance(each, Reference)):
                if len(one.shapes[number]) != len(two.shapes[number]):
                    raise DynamicShapeError(
                        f"{first.location}: {first.name} gives {len(one.shapes[number])} dimensions at one size and "
                        f"{len(two.shapes[number])} at another (sizes tried: {self._sizes_text()}): "
                        "record it at a size that is not 1"
                    )
        if len(one.records) != len(two.records):
            longer = one.records if len(one.records) > len(two.records) else two.records
            place = longer[min(len(one.records), len(two.records))].location
            raise DynamicShapeError(
                f"{place}: the program takes {len(one.records)} steps at one size and {len(two.records)} at another "
                f"(sizes tried: {self._sizes_text()}). {advice}"
            )
        uses = {
            each.number: record
            for record in reversed(one.records)
            for each in iterate_leaves((record.args, record.kwargs))
            if isinstance(each, Reference)
        }
        for number, constant in one.constants.items():
            other = two.constants.get(number)
            if constant is not other and (other is None or not _equal(constant, other)):
                record = uses.get(number)
                place = f"{record.location}: {record.name}" if record else "an output"
                if not self.axes:
                    raise OnnxExporterError(
                        f"{place} uses a tensor that depends on the inputs and was not made by functions of torch that "
                        "can be recorded (by autograd inside of the model, or by another library)"
                    )
                raise DynamicShapeError(
                    f"{place} uses a tensor that was made for one size (sizes tried: {self._sizes_text()}): it was "
                    f"computed from plain numbers. {advice}"
                )

    @staticmethod
    def _same(one: Any, two: Any) -> bool:
        if isinstance(one, _Tracked) or isinstance(two, _Tracked):
            return isinstance(one, _Tracked) and isinstance(two, _Tracked) and bool(one.expression == two.expression)
        if isinstance(one, float) and isinstance(two, float) and math.isnan(one) and math.isnan(two):
            return True
        return type(one) is type(two) and (callable(one) or bool(one == two))

    # ------------------------------------------------------------------ guards

    def _check_guard(self, guard: Guard) -> None:
        """DynamicShapeError if a comparison of sizes would turn out another way at sizes that are allowed."""
        used = [leaf for leaf in leaves(guard.expression) if self._is_dynamic(leaf)]
        if not used:
            return
        for sizes in self._probes([leaf for leaf in used if leaf[0] == "dim"], any(leaf[0] == "size" for leaf in used)):
            try:
                outcome = evaluate(guard.expression, lambda leaf, sizes=sizes: self._size_at(leaf, sizes))
            except (ArithmeticError, ValueError):
                continue
            if outcome != guard.outcome:
                where = ", ".join(
                    f"{name}={sizes[name]}" for name in sorted({leaf[1] for leaf in used if leaf[0] == "dim"})
                )
                raise DynamicShapeError(
                    f"{guard.location}: it decides by `{describe(guard.expression)}`, which was {guard.outcome} here "
                    f"and would be {outcome} for {where or 'other sizes'}. Say which sizes there are, as in "
                    "dynamic_shapes={...: {axis: torch.export.Dim(name, min=..., max=...)}}, or leave it static"
                )

    def _probes(self, dims: list[Any], along: bool) -> Any:
        """Choices of all sizes: each named one through its range, and, for sizes in between, all of them together."""
        names = {leaf[1] for leaf in dims}
        if not along:
            for name in sorted(names):
                axis = self.axes[name]
                ladder = {
                    *range(1, 130),
                    *(2**power + more for power in range(7, 31) for more in (-1, 0, 1)),
                    axis.low,
                    axis.high,
                }
                for size in sorted(ladder):
                    if axis.low <= size <= axis.high:
                        for others in ("first", "second"):
                            yield {other.name: getattr(other, others) for other in self.axes.values()} | {name: size}
            return
        step = 1
        while step < 2**24:
            sizes = {axis.name: axis.first + (axis.second - axis.first) * step for axis in self.axes.values()}
            if any(not axis.low <= sizes[axis.name] <= axis.high for axis in self.axes.values()):
                return
            yield sizes | {"": step}
            step *= 2

    def _size_at(self, leaf: tuple[Any, ...], sizes: dict[str, int]) -> int:
        if leaf[0] == "dim":
            return sizes[leaf[1]]
        one, two = self.first.shapes[leaf[1]][leaf[2]], self.second.shapes[leaf[1]][leaf[2]]
        return one + (two - one) * sizes.get("", 0)


def _equal(one: Tensor, two: Tensor) -> bool:
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    return bool(
        torch.equal(one, two)
        or (one.dtype.is_floating_point and torch.allclose(one, two, rtol=0, atol=0, equal_nan=True))
    )
