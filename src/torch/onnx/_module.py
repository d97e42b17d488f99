"""`OnnxModule`: an ONNX graph as a module that runs, can be trained, copied and saved with torch.save."""

from __future__ import annotations

import functools
import inspect
import itertools
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.onnx import _operators
from torch.onnx._file import Body, File, Parameter, Step, read
from torch.onnx.errors import ImportModelError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

_MOST_TURNS = 200_000
_signature = functools.cache(inspect.signature)  # of operators, which a graph has many nodes of
# Inputs that are options or statistics rather than weights.
_NOT_TRAINED = {
    ("BatchNormalization", 3), ("BatchNormalization", 4), ("Resize", 1), ("Resize", 2), ("Upsample", 1), ("Clip", 1),
    ("Clip", 2), ("Pad", 2), ("Dropout", 1), ("Range", 0), ("Range", 1), ("Range", 2), ("OneHot", 2), ("Pow", 1),
    ("QuantizeLinear", 1), ("DequantizeLinear", 1),
}  # fmt: skip


class OnnxModule(nn.Module):
    """Runs a graph: tensors for its inputs, by position or name, give its output, or a tuple of them.

    Floating initializers are parameters, the rest are buffers, under their names: "layers.0.weight" is
    `module.layers.0.weight`. `input_names` and `output_names` are the graph's. Nodes run one by one; a value is let go
    after its last use.
    """

    def __init__(self, file: File) -> None:
        super().__init__()
        self._body, self._opsets, self._functions = file.body, file.opsets, file.functions
        self.input_names, self.output_names = list(file.body.inputs), list(file.body.outputs)
        self._weights: dict[str, str] = {}  # names of the graph -> paths of the module
        _refuse_unknown(file)
        _refuse_wrong_attributes(file)
        fixed = _not_trained(file.body)
        for name, tensor in file.body.initializers.items():
            self._weights[name] = self._place(
                name, tensor, tensor.is_floating_point() and tensor.dim() > 0 and name not in fixed
            )
        file.body.initializers = {}
        self._last = _last_uses(file.body)

    def _place(self, name: str, tensor: Tensor, trained: bool) -> str:
        """Puts a tensor where its name says, or under a name made of it where that cannot be."""
        home: nn.Module = self
        *path, last = name.split(".")
        if not all(part and part not in ("forward",) for part in (*path, last)):
            path, last = [], "weight_" + "".join(letter if letter.isalnum() else "_" for letter in name)
        for part in path:
            child = home._modules.get(part)
            if child is None and hasattr(home, part):
                path, last, home = [], "weight_" + "".join(letter if letter.isalnum() else "_" for letter in name), self
                break
            if child is None:
                child = nn.Module()
                home.add_module(part, child)
            home = child
        while hasattr(home, last):
            last += "_"
        if trained:
            home.register_parameter(last, nn.Parameter(tensor))
        else:
            home.register_buffer(last, tensor)
        return ".".join((*path, last))

    def _weight(self, path: str) -> Tensor:
        home: Any = self
        for part in path.split("."):
            home = getattr(home, part)
        return home  # type: ignore[no-any-return]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The graph's output, or a tuple of its outputs."""
        if len(args) > len(self.input_names):
            raise TypeError(f"the graph has {len(self.input_names)} inputs {self.input_names}, got {len(args)}")
        given = dict(zip(self.input_names, args, strict=False))
        twice = [name for name in kwargs if name in given or name not in self.input_names]
        if twice:
            raise TypeError(f"inputs {twice} are given twice, or are none of {self.input_names}")
        given |= kwargs
        missing = [name for name in self.input_names if name not in given]
        if missing:
            raise TypeError(f"inputs {missing} are missing")
        values = {name: self._weight(path) for name, path in self._weights.items()}
        values |= {
            name: torch.as_tensor(value) if isinstance(value, (bool, int, float)) else value
            for name, value in given.items()
        }
        with _operators.limited_by(values.values()):
            results = _Run(self._functions, self._opsets, self.training).body(self._body, values, self._last)
        return results[0] if len(results) == 1 else tuple(results)

    def extra_repr(self) -> str:
        """Its inputs, outputs and size."""
        size = f"nodes={len(self._body.steps)}, opset={self._opsets.get('', 1)}"
        return f"inputs={self.input_names}, outputs={self.output_names}, {size}"


class _Run:
    """One evaluation."""

    def __init__(
        self, functions: dict[Any, Any], opsets: dict[str, int], training: bool, turns: Iterator[int] | None = None
    ) -> None:
        self.functions, self.opsets, self.training = functions, opsets, training
        self.turns = itertools.count() if turns is None else turns  # of loops and functions, all together

    def turn(self) -> None:
        """Counts one; ImportModelError where there are too many."""
        if next(self.turns) >= _MOST_TURNS:
            raise ImportModelError(f"loops and functions of the graph ran {_MOST_TURNS:,} times: it may never end")

    def body(self, body: Body, values: dict[str, Any], last: list[list[str]] | None = None) -> list[Any]:
        values[""] = None
        for position, step in enumerate(body.steps):
            self.step(step, values)
            for name in last[position] if last else ():
                values.pop(name, None)
        return [values[name] for name in body.outputs]

    def step(self, step: Step, values: dict[str, Any]) -> None:
        inputs = [values[name] for name in step.inputs]
        try:
            made = self.call(step, inputs, values)
        except ImportModelError:
            raise
        except Exception as error:
            kind = "" if isinstance(error, _operators.Refusal) else f"{type(error).__name__}: "
            raise ImportModelError(f"node {step.name or step.outputs[0]} ({step.op}): {kind}{error}") from error
        made = list(made) if isinstance(made, tuple) else [made]
        if any(step.outputs[len(made) :]):
            raise ImportModelError(
                f"node {step.name or step.outputs[0]} ({step.op}): gives {len(made)} values, and "
                f"{step.outputs} are named"
            )
        for name, value in zip(step.outputs, made, strict=False):
            if name:
                values[name] = value

    def call(self, step: Step, inputs: list[Any], values: dict[str, Any]) -> Any:
        function = self.functions.get((step.domain, step.op))
        if function is not None:
            return self.function(function, inputs, step.attributes)
        row = _operators.TABLE[step.domain, step.op]
        attributes = {
            name: self.graph(value, values) if isinstance(value, Body) else value
            for name, value in step.attributes.items()
        }
        if row.takes_opset:
            attributes["opset"] = self.opsets.get(step.domain, 1)
        if row.takes_outputs:
            attributes["outputs"] = len(step.outputs)
        if row.takes_training:
            attributes["training"] = self.training
        return row.function(*inputs, **attributes)

    def graph(self, body: Body, values: dict[str, Any]) -> Callable[..., list[Any]]:
        """A graph in a node, as a function that sees the values around it."""

        def call(*inputs: Any) -> list[Any]:
            self.turn()
            inside = {**values, **body.initializers, **dict(zip(body.inputs, inputs, strict=False))}
            return self.body(body, inside)

        return call

    def function(self, function: Any, inputs: list[Any], given: dict[str, Any]) -> tuple[Any, ...]:
        self.turn()
        body, defaults, _, opsets = function
        attributes = {**defaults, **given}
        steps = [_filled(step, attributes) for step in body.steps]
        values = dict.fromkeys(body.inputs) | dict(zip(body.inputs, inputs, strict=False))
        run = _Run(self.functions, opsets, self.training, self.turns)
        return tuple(run.body(Body(body.inputs, body.outputs, steps), values))


def _filled(step: Step, given: dict[str, Any]) -> Step:
    """A function's node with the call's attributes; those that the call leaves out are absent."""
    attributes = {}
    for name, value in step.attributes.items():
        if isinstance(value, Body):
            attributes[name] = Body(
                value.inputs, value.outputs, [_filled(each, given) for each in value.steps], value.initializers
            )
        elif not isinstance(value, Parameter):
            attributes[name] = value
        elif value.name in given:
            attributes[name] = given[value.name]
    return Step(step.domain, step.op, step.inputs, step.outputs, attributes, step.name)


def _all_steps(body: Body) -> Any:
    for step in body.steps:
        yield step
        for value in step.attributes.values():
            if isinstance(value, Body):
                yield from _all_steps(value)


def _refuse_unknown(file: File) -> None:
    bodies = [file.body, *(function[0] for function in file.functions.values())]
    missing = sorted(
        {
            f"{step.domain + '::' if step.domain else ''}{step.op}"
            for body in bodies
            for step in _all_steps(body)
            if (step.domain, step.op) not in file.functions and (step.domain, step.op) not in _operators.TABLE
        }
    )
    if missing:
        raise ImportModelError(f"operators that are not known here: {', '.join(missing)}")


def _refuse_wrong_attributes(file: File) -> None:
    for step in (
        step
        for body in [file.body, *(function[0] for function in file.functions.values())]
        for step in _all_steps(body)
    ):
        row = None if (step.domain, step.op) in file.functions else _operators.TABLE[step.domain, step.op]
        where = f"node {step.name or (step.outputs or ['?'])[0]} ({step.op})"
        if row is None:
            continue
        wrong = [name for name, value in step.attributes.items() if value is NotImplemented or not row.accepts(name)]
        if wrong:
            raise ImportModelError(f"{where}: attributes {wrong} are not supported")
        try:
            _signature(row.function).bind(*step.inputs, **dict.fromkeys(step.attributes))
        except TypeError as error:
            raise ImportModelError(f"{where}: {error}") from error


def _not_trained(body: Body) -> set[str]:
    return {
        name for step in _all_steps(body) for place, name in enumerate(step.inputs) if (step.op, place) in _NOT_TRAINED
    }


def _last_uses(body: Body) -> list[list[str]]:
    """After each node, the values that nothing needs any more."""
    needed = set(body.outputs)
    result: list[list[str]] = []
    for step in reversed(body.steps):
        inner = [name for value in step.attributes.values() if isinstance(value, Body)
                 for each in _all_steps(value) for name in each.inputs]  # fmt: skip
        inner += [name for value in step.attributes.values() if isinstance(value, Body) for name in value.outputs]
        used = set(step.inputs) | set(inner) | set(step.outputs)
        result.append(sorted(name for name in used - needed if name))
        needed |= used
    return result[::-1]


def load(path: str | os.PathLike[str]) -> OnnxModule:
    """An ONNX file as a module in eval mode, which can be trained, and saved with torch.save (loading needs no onnx).

    Weights in other files are read from the file's own folder. MissingPackageError without the package `onnx`;
    ImportModelError for files that are damaged, claim what they do not have, or use operators that are not known here.
    """
    return OnnxModule(read(path)).eval()
