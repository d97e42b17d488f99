"""ONNX: models as files that other programs run, and such files as modules.

`export(model, args, path)` records the operators that a model calls and writes them as a graph; `load(path)` makes a
module of one. Both need the package `onnx`, which torch does not depend on.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from torch import _unavailable
from torch.onnx import errors
from torch.onnx.errors import OnnxExporterError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch.onnx._module import OnnxModule
    from torch.onnx._program import ONNXProgram

__all__ = ["ONNXProgram", "OnnxExporterError", "errors", "export", "is_in_onnx_export", "load"]

producer_name, producer_version = "pytorch", "2.13.0"


def export(
    model: Any,
    args: tuple[Any, ...] = (),
    f: str | os.PathLike[str] | None = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    external_data: bool = True,
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    custom_translation_table: dict[Callable[..., Any], Callable[..., Any]] | None = None,
    report: bool = False,
    optimize: bool = True,
    verify: bool = False,
    profile: bool = False,
    dump_exported_program: bool = False,
    artifacts_dir: str | os.PathLike[str] = ".",
    export_params: bool = True,
    keep_initializers_as_inputs: bool = False,
    dynamic_axes: Mapping[str, Mapping[int, str]] | Mapping[str, Sequence[int]] | None = None,
    training: Any = None,
    operator_export_type: Any = None,
    do_constant_folding: bool = True,
    custom_opsets: Mapping[str, int] | None = None,
    export_modules_as_functions: bool | Any = False,
    autograd_inlining: bool = True,
) -> ONNXProgram | None:
    """A model as an ONNX graph, written to `f` if that is given; the `ONNXProgram`, or None with dynamo=False.

    model is a module or a function, which runs once with `args` and `kwargs` (twice with dynamic sizes). Tensors among
    them become inputs, everything else is part of the graph. `dynamic_shapes` ({argument: {axis: "name" or
    torch.export.Dim}}) or `dynamic_axes` ({input: {axis: "name"}}) say which sizes may differ when the graph runs.
    `opset_version` is 17 to 23, 20 unless it is said. `custom_translation_table` maps functions of torch to
    `function(graph, *arguments)`, which makes nodes by `graph.op("Add", x, y)`. With `verify`
    onnxruntime runs the graph, and its outputs must be close to the model's. With dynamo=False the model is
    put into eval mode meanwhile, unless `training` says otherwise.

    errors: DataDependentError for an `if` or `.item()` on values, with file and line; DynamicShapeError where a dynamic
    size was burnt in; UnsupportedOperatorError; MissingPackageError without `onnx`. All are OnnxExporterErrors.

    Example::

        program = torch.onnx.export(model, (images,), dynamic_shapes={"x": {0: "batch"}})
        program.save("model.onnx")
    """
    from torch.onnx import _export
    from torch.onnx._packages import require

    require("onnx", "torch.onnx.export")
    opset = _export.DEFAULT_OPSET if opset_version is None else opset_version
    if not _export.FIRST_OPSET <= opset <= _export.LAST_OPSET:
        raise ValueError(f"opset_version has to be {_export.FIRST_OPSET} to {_export.LAST_OPSET}, but is {opset}")
    for name, asked in (("report", report), ("profile", profile), ("dump_exported_program", dump_exported_program)):
        if asked:
            raise NotImplementedError(f"torch.onnx.export has no {name}: there is no exported program here")
    named = dict(kwargs or {})
    positional = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if not dynamo and positional and isinstance(positional[-1], dict) and kwargs is None:
        positional, named = positional[:-1], dict(positional[-1])
    with _mode(model, training, dynamo):
        if dynamo:
            _export.warn_if_training(model)
        program = _export.build(
            model,
            positional,
            named,
            input_names=input_names,
            output_names=output_names,
            opset=opset,
            dynamic_axes=dynamic_axes,
            dynamic_shapes=dynamic_shapes,
            custom=custom_translation_table,
            fold=do_constant_folding,
        )
        program._graph.domains.update(custom_opsets or {})
        if verify:
            _verify(model, program, positional, named)
    if verbose:
        print(program)
    if f is not None:
        # One file where it can be: weights go beside it if a message cannot hold them.
        program.save(
            f,
            include_initializers=export_params,
            keep_initializers_as_inputs=keep_initializers_as_inputs,
            external_data=None if external_data else False,
        )
    return program if dynamo else None


@contextlib.contextmanager
def _mode(model: Any, training: Any, dynamo: bool) -> Iterator[None]:
    """The model in the mode that was asked for; all its parts afterwards as they were."""
    wanted = getattr(training, "name", training)
    if wanted is None:
        wanted = "PRESERVE" if dynamo else "EVAL"
    modules = list(model.modules()) if hasattr(model, "modules") else []
    before = [module.training for module in modules]
    try:
        if wanted != "PRESERVE" and hasattr(model, "train"):
            model.train(wanted == "TRAINING")
        yield
    finally:
        for module, mode in zip(modules, before, strict=True):
            module.training = mode


def _verify(model: Any, program: ONNXProgram, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    import torch
    from torch.onnx._recording import flatten_outputs

    with torch.no_grad():
        expected = list(flatten_outputs(model(*args, **kwargs)))
    for port, mine, other in zip(program._outputs, program(*args, **kwargs), expected, strict=True):
        try:
            torch.testing.assert_close(mine, torch.as_tensor(other), rtol=1e-3, atol=1e-4, equal_nan=True)
        except AssertionError as error:
            raise OnnxExporterError(f"{port.name} of onnxruntime is not what the model gives: {error}") from error


def load(path: str | os.PathLike[str]) -> OnnxModule:
    """An ONNX file as a module in eval mode: it runs, can be trained, and saved with torch.save.

    Floating initializers become parameters under their names. Weights in other files are read from the folder of
    `path`, and from nowhere else. MissingPackageError without the package `onnx`; ImportModelError for files that are
    damaged, claim what they do not have, or use operators that are not known here (docs/onnx.md lists them).
    """
    from torch.onnx import _module

    return _module.load(path)


def is_in_onnx_export() -> bool:
    """Whether a model is being exported."""
    from torch import compiler

    return compiler.is_exporting()


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int) -> None:
    """From now on `symbolic_fn(graph, *arguments)` translates the operator "namespace::name", from that opset on."""
    from torch.onnx import _export
    from torch.onnx._rows import Row

    if "::" not in symbolic_name:
        raise ValueError(
            f"Failed to register operator {symbolic_name}. The symbolic name must match the format domain::name"
        )
    name = symbolic_name.removeprefix("aten::")
    _export.custom_rows[name] = opset_version, Row(symbolic_fn, "custom")


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Takes back what `register_custom_op_symbolic` added."""
    from torch.onnx import _export

    _export.custom_rows.pop(symbolic_name.removeprefix("aten::"), None)


def is_onnxrt_backend_supported() -> bool:
    """Whether torch.compile can use ONNX Runtime: no."""
    return False


@contextlib.contextmanager
def select_model_mode_for_export(model: Any, mode: Any) -> Iterator[None]:
    """The model in the mode of a `TrainingMode`, for the block."""
    with _mode(model, mode, True):
        yield


_missing = _unavailable.define(__name__, "only export, load and ONNXProgram work here")


def __getattr__(name: str) -> Any:
    if name == "ONNXProgram":
        from torch.onnx._program import ONNXProgram

        return ONNXProgram
    return _missing(name)
