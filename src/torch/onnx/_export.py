"""From a model and its arguments to an `ONNXProgram`.

arguments --DynamicAxes--> inputs and their dynamic sizes
model, inputs --Recorder--> a Recording; with dynamic sizes a second one, at other sizes
Recordings --Unifier--> a Plan: what is dynamic, what is constant; or an error that names file and line
Plan, TABLE --translate--> a Graph --> ONNXProgram
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, compiler
from torch.onnx import _inputs, _translations
from torch.onnx._decompositions import DECOMPOSITIONS
from torch.onnx._functions import name_of
from torch.onnx._graph import Absent, Dim, Graph, Result, Var, as_stored
from torch.onnx._inputs import DynamicAxes
from torch.onnx._program import ONNXProgram, Port
from torch.onnx._recorder import Recorder
from torch.onnx._recording import Recording, Reference, iterate_leaves, map_leaves
from torch.onnx._rows import TABLE, Row
from torch.onnx._translations.complex import COMPLEX, is_complex
from torch.onnx._unify import Axis, Plan, Unifier
from torch.onnx.errors import DynamicShapeError, OnnxExporterError, OnnxExporterWarning, UnsupportedOperatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch.onnx._recording import Record

assert _translations.__all__  # importing it filled the table

FIRST_OPSET, LAST_OPSET, DEFAULT_OPSET = 17, 23, 20
custom_rows: dict[str, tuple[int, Row]] = {}  # of register_custom_op_symbolic: since which opset


def build(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    input_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
    opset: int,
    dynamic_axes: Any,
    dynamic_shapes: Any,
    custom: dict[Any, Callable[..., Any]] | None,
    fold: bool,
) -> ONNXProgram:
    """The program of `model(*args, **kwargs)`; see `torch.onnx.export`."""
    if not callable(model):
        raise TypeError(f"expected a module or a function, but got {type(model).__name__}")
    # One tensor that is given twice is two inputs.
    args, kwargs = _inputs.replace(args, kwargs, lambda tensor: tensor.detach().clone())
    named = _inputs.bind(model, args, kwargs)
    found = list(_inputs.flatten(named))
    tensors = [tensor for _, tensor, _ in found]
    names = _names(found, input_names)
    dynamic = DynamicAxes(names, tensors)
    if dynamic_axes:
        dynamic.add_dynamic_axes(dynamic_axes, output_names or ())
    if dynamic_shapes:
        dynamic.add_dynamic_shapes(dynamic_shapes, named)
    rows = _rows(custom, opset)
    first = _record(model, args, kwargs, tensors, dynamic.dims, rows, fold)
    second, axes = _record_again(model, args, kwargs, dynamic, rows, fold, first)
    plan = Unifier(first, second, axes, lambda name: name in rows and rows[name].random).run()
    _refuse_missing(plan, rows, opset)
    graph, values = _translate(plan, first, names, dynamic, rows, opset)
    outputs = _make_outputs(graph, values, first, output_names, dynamic_axes, axes, second)
    _drop_unused(graph, outputs)
    inputs = [
        _port(name, number, first, axes, dynamic, position)
        for position, (name, number) in enumerate(zip(names, first.inputs, strict=True))
    ]

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
        return [tensor for _, tensor, _ in _inputs.flatten(_inputs.bind(model, args, kwargs))]

    program = ONNXProgram(graph, inputs, outputs, flatten)
    program.check()
    return program


def _names(found: list[Any], given: Sequence[str] | None) -> list[str]:
    names = [name for name, _, _ in found]
    if given:
        if len(given) > len(names):
            raise ValueError(f"input_names has {len(given)} names, the model gets {len(names)} tensors: {names}")
        names[: len(given)] = given
    if len(set(names)) != len(names):
        raise ValueError(f"the names of inputs are not different: {names}")
    return names


def _rows(custom: dict[Any, Callable[..., Any]] | None, opset: int) -> dict[str, Row]:
    rows = dict(TABLE)
    rows.update({name: row for name, (since, row) in custom_rows.items() if opset >= since})
    for function, translation in (custom or {}).items():
        name = function if isinstance(function, str) else name_of(function)
        rows[name.removeprefix("aten::").removeprefix("aten.")] = Row(translation, "custom")
    return rows


# ---------------------------------------------------------------------- recording


def _record(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tensors: list[Tensor],
    dims: dict[tuple[int, int], str],
    rows: dict[str, Row],
    fold: bool,
) -> Recording:
    """One run, of copies of the inputs; the model's buffers and the random numbers are afterwards as they were."""
    copies = {id(tensor): tensor.detach().clone() for tensor in tensors}
    their = [copies[id(tensor)] for tensor in tensors]
    args, kwargs = _inputs.replace(args, kwargs, lambda tensor: copies.get(id(tensor), tensor))
    weights: dict[int, str] = {}
    buffers: list[Tensor] = []
    if isinstance(model, torch.nn.Module):
        weights = {id(tensor): name for name, tensor in [*model.named_parameters(), *model.named_buffers()]}
        buffers = list(model.buffers())
    kept = [(buffer, buffer._version, buffer.detach().clone()) for buffer in buffers]
    recorder = Recorder(rows.get, DECOMPOSITIONS, weights, fold)
    outer, compiler._exporting = compiler._exporting, True
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            return recorder.run(model, their, dims, args, kwargs)
    finally:
        compiler._exporting = outer
        with torch.no_grad():
            for buffer, version, value in kept:
                if buffer._version != version:
                    buffer.copy_(value)


def _record_again(
    model: Any, args: Any, kwargs: Any, dynamic: DynamicAxes, rows: dict[str, Row], fold: bool, first: Recording
) -> tuple[Recording | None, list[Axis]]:
    """The second recording, at other sizes; where sizes depend on values, of other values."""
    tensors = list(dynamic.tensors)
    if not dynamic.dims:
        if not first.data_sized and not first.foreign:
            return None, []
        others = {id(tensor): other for tensor, other in zip(tensors, _other_values(tensors), strict=True)}
        changed = _inputs.replace(args, kwargs, lambda tensor: others.get(id(tensor), tensor))
        try:
            return _record(model, *changed, list(others.values()), {}, rows, fold), []
        except Exception as error:
            warnings.warn(
                f"the model did not run with other values ({type(error).__name__}: {error}), so nothing is compared "
                "that depends on values without being recorded: try the exported graph with several inputs",
                OnnxExporterWarning,
                stacklevel=4,
            )
        return None, []
    failures = []
    for axes in dynamic.choices():
        copies = dict(zip(map(id, tensors), dynamic.resize(axes), strict=True))
        changed = _inputs.replace(args, kwargs, lambda tensor, copies=copies: copies.get(id(tensor), tensor))
        try:
            return _record(model, *changed, list(copies.values()), dynamic.dims, rows, fold), axes
        except OnnxExporterError:
            raise
        except Exception as error:
            failures.append(
                f"{', '.join(f'{axis.name}={axis.second}' for axis in axes)}: {type(error).__name__}: {error}"
            )
    raise DynamicShapeError(
        "the model ran at no other choice of its dynamic sizes. Sizes that must be equal need one name; "
        "torch.export.Dim(name, min=..., max=...) in dynamic_shapes says what is allowed. Tried "
        + "; ".join(failures[:3])
    )


def _other_values(tensors: list[Tensor]) -> Iterator[Tensor]:
    for tensor in tensors:
        flat = tensor.detach().reshape(-1)
        yield ((flat * -0.75 + 0.1 if tensor.dtype.is_floating_point else flat).flip(0)).reshape(tensor.shape).clone()


# ---------------------------------------------------------------------- translating


def _refuse_missing(plan: Plan, rows: dict[str, Row], opset: int) -> None:
    missing: dict[str, str] = {}
    for record in plan.records:
        row = rows.get(record.name)
        if row is None:
            missing.setdefault(record.name, f"{record.name} ({record.location})")
        elif row.opset > opset:
            missing.setdefault(record.name, f"{record.name} (from opset {row.opset} on; {record.location})")
    if missing:
        raise UnsupportedOperatorError(
            f"no translation to ONNX opset {opset} for {', '.join(missing.values())}. docs/onnx.md lists what there "
            "is; custom_translation_table={torch.ops.aten.NAME: function(graph, *arguments)} adds one"
        )


def _translate(
    plan: Plan, recording: Recording, names: list[str], dynamic: DynamicAxes, rows: dict[str, Row], opset: int
) -> tuple[Graph, Callable[[Reference], Var]]:
    graph = Graph(opset)
    values: dict[int, Var | Absent] = {}
    for position, (name, number) in enumerate(zip(names, recording.inputs, strict=True)):
        shape = tuple(
            None if (position, axis) in dynamic.dims else size for axis, size in enumerate(recording.shapes[number])
        )
        values[number] = Var(name, recording.dtypes[number], shape)
    for (position, axis), name in dynamic.dims.items():
        graph.leaves.setdefault(("dim", name), (values[recording.inputs[position]], axis))

    def value_of(leaf: Any) -> Any:
        if not isinstance(leaf, Reference):
            return leaf
        if leaf.number not in values:
            tensor = plan.constants[leaf.number]
            name = recording.names.get(leaf.number)
            if name is None:
                name = graph.constant(tensor).name
            else:
                graph.initializers[name] = as_stored(tensor.detach())
            values[leaf.number] = Var(name, tensor.dtype, tuple(tensor.shape))
        value = values[leaf.number]
        if isinstance(value, Absent):
            raise UnsupportedOperatorError(f"{graph.location}: {value.what} have no translation")
        return value

    for record in plan.records:
        graph.location = record.location
        numbers = [each.number for each in iterate_leaves(record.results) if isinstance(each, Reference)]
        graph.results = [Result(recording.dtypes[number], plan.shapes[number]) for number in numbers]
        args, kwargs = map_leaves(value_of, record.args), map_leaves(value_of, record.kwargs)
        made = _call(graph, rows[record.name], record, args, kwargs)
        if len(made) != len(numbers):
            raise OnnxExporterError(
                f"{record.location}: the translation of {record.name} gave {len(made)} values for {len(numbers)}"
            )
        for number, var, result in zip(numbers, made, graph.results, strict=True):
            if isinstance(var, Absent):
                values[number] = var
                continue
            values[number] = made_var = Var(graph.cast(var, result.dtype).name, result.dtype, result.shape)
            graph.leaves[("size", number)] = made_var, 0
    return graph, value_of


def _call(graph: Graph, row: Row, record: Record, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Var]:
    try:
        made = _function(graph, row, record.name, args, kwargs)(graph, *args, **kwargs)
    except OnnxExporterError as error:
        raise type(error)(f"{record.location}: {record.name}: {error}") from error
    except NotImplementedError as error:
        raise UnsupportedOperatorError(
            f"{record.location}: {record.name} has no translation for this: {error}"
        ) from error
    except (TypeError, AttributeError, AssertionError) as error:
        dynamic = any(isinstance(each, Dim) for each in iterate_leaves((args, kwargs))) or any(
            isinstance(each, Var) and None in (each.shape or ()) for each in iterate_leaves((args, kwargs))
        )
        hint = ", perhaps because a size is dynamic" if dynamic else ""
        raise UnsupportedOperatorError(
            f"{record.location}: {record.name} was called in a way that has no translation{hint}: {error}"
        ) from error
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _function(graph: Graph, row: Row, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
    """The translation: another one where complex numbers are among arguments or results, unless it is their own."""
    if row.family in ("complex", "custom") and name not in COMPLEX:
        return row.function
    if not any(map(is_complex, iterate_leaves((args, kwargs)))):
        if name in ("to", "type", "type_as") and graph.dtype.is_complex:
            return COMPLEX[name]
        return row.function
    if name not in COMPLEX:
        raise NotImplementedError("complex numbers")
    return COMPLEX[name]


# ---------------------------------------------------------------------- inputs and outputs


def _port(name: str, number: int, recording: Recording, axes: list[Axis], dynamic: DynamicAxes, position: int) -> Port:
    shape = [dynamic.dims.get((position, axis), size) for axis, size in enumerate(recording.shapes[number])]
    return Port(name, recording.dtypes[number], shape)


def _make_outputs(
    graph: Graph,
    values: Callable[[Reference], Var],
    recording: Recording,
    names: Sequence[str] | None,
    dynamic_axes: Any,
    axes: list[Axis],
    second: Recording | None,
) -> list[Port]:
    """The outputs, under their names: an Identity each, where a value has another name already."""
    if names and len(names) > len(recording.outputs):
        raise ValueError(f"output_names has {len(names)} names, the model gives {len(recording.outputs)} values")
    ports = []
    for index, leaf in enumerate(recording.outputs):
        graph.location = "output"
        name = (
            names[index]
            if names and index < len(names)
            else f"output_{index}"
            if len(recording.outputs) > 1
            else "output"
        )
        number = leaf.number if isinstance(leaf, Reference) else None
        var = values(leaf) if number is not None else _number_output(graph, leaf, recording)
        labels = (dynamic_axes or {}).get(name, {})
        if not isinstance(labels, dict):
            labels = {axis: f"{name}_dynamic_axes_{place + 1}" for place, axis in enumerate(labels)}
        shape: list[int | str] = []
        for axis, size in enumerate(var.shape or ()):
            pair = (
                None
                if size is not None or number is None
                else (recording.shapes[number][axis], second.shapes[number][axis] if second else 0)
            )
            same = [each.name for each in axes if (each.first, each.second) == pair]
            label = same[0] if len(same) == 1 else labels.get(axis, f"{name}_dim_{axis}")
            shape.append(label if size is None else size)
        made = graph.op("Identity", var)
        node = graph.nodes[-1]
        node.outputs[0] = name
        assert made.name
        ports.append(Port(name, var.dtype, shape))
    if len({port.name for port in ports}) != len(ports):
        raise ValueError(f"the names of outputs are not different: {[port.name for port in ports]}")
    return ports


def _number_output(graph: Graph, leaf: Any, recording: Recording) -> Var:
    """A number that the model gave: a constant, or arithmetic of sizes."""
    resolver = getattr(leaf, "expression", None)
    if resolver is None:
        return graph.constant(leaf)
    var = graph.constant(Dim(resolver), torch.int64 if isinstance(leaf, int) else torch.float32)
    return Var(var.name, var.dtype, ())


def _drop_unused(graph: Graph, outputs: list[Port]) -> None:
    """Nodes and initializers that no output needs."""
    needed = {port.name for port in outputs}
    kept = []
    for node in reversed(graph.nodes):
        if needed & set(node.outputs):
            needed.update(node.inputs)
            kept.append(node)
    graph.nodes = kept[::-1]
    graph.initializers = {name: tensor for name, tensor in graph.initializers.items() if name in needed}


def warn_if_training(model: Any) -> None:
    """Exporting in training mode is rarely meant."""
    if (
        isinstance(model, torch.nn.Module)
        and model.training
        and any(
            isinstance(each, (torch.nn.modules.batchnorm._BatchNorm, torch.nn.modules.dropout._DropoutNd))
            for each in model.modules()
        )
    ):
        warnings.warn(
            "in training mode dropout and batch normalization are exported as they train: call model.eval() first",
            OnnxExporterWarning,
            stacklevel=4,
        )
