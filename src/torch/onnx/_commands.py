"""Two commands: `torch-onnx-export` writes a saved module as ONNX, `torch-from-onnx` makes a module of an ONNX file."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

import torch
from torch.onnx.errors import ImportModelError, OnnxExporterError

_INPUT = re.compile(r"(?:(?P<name>\w+):)?(?P<dtype>\w+)\[(?P<sizes>[^\]]*)\]")
_SIZE = re.compile(r"(?:(?P<name>[A-Za-z_]\w*)=)?(?P<size>\d+)")


def _parse_input(text: str) -> tuple[str | None, torch.Tensor, dict[int, str]]:
    """ "images:float32[batch=2,3,224,224]": a name, a tensor of ones, and names of its dynamic axes."""
    found = _INPUT.fullmatch(text.replace(" ", ""))
    dtype = getattr(torch, found["dtype"], None) if found else None
    if found is None or not isinstance(dtype, torch.dtype):
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected [NAME:]DTYPE[SIZE,...], such as images:float32[batch=2,3,224,224]"
        )
    shape, dynamic = [], {}
    for axis, part in enumerate(filter(None, found["sizes"].split(","))):
        size = _SIZE.fullmatch(part)
        if size is None:
            raise argparse.ArgumentTypeError(f"{text!r}: {part!r} is no size; a dynamic one is NAME=SIZE")
        shape.append(int(size["size"]))
        if size["name"]:
            dynamic[axis] = size["name"]
    value = torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.ones(shape, dtype=dtype)
    return found["name"], value, dynamic


def _save_exported(arguments: argparse.Namespace) -> None:
    module = torch.load(arguments.module, map_location="cpu", weights_only=False)
    if not isinstance(module, torch.nn.Module):
        raise OnnxExporterError(
            f"{arguments.module} holds a {type(module).__name__}, not a module: torch.save(module, path)"
        )
    args = tuple(tensor for _, tensor, _ in arguments.input)
    names = [name or f"input_{place}" for place, (name, _, _) in enumerate(arguments.input)]
    dynamic = {name: axes for name, (_, _, axes) in zip(names, arguments.input, strict=True) if axes}
    program = torch.onnx.export(
        module.eval(),
        args,
        input_names=names,
        dynamic_axes=dynamic,
        opset_version=arguments.opset,
        verify=arguments.verify,
    )
    assert program is not None
    program.save(arguments.output, external_data=arguments.external_data or None)
    print(program)


def _save_imported(arguments: argparse.Namespace) -> None:
    module = torch.onnx.load(arguments.model)
    torch.save(module, arguments.output)
    print(module)


def _run(parser: argparse.ArgumentParser, function: Any) -> int:
    arguments = parser.parse_args()
    try:
        function(arguments)
    except (OnnxExporterError, ImportModelError, OSError, ValueError, TypeError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


def export_main() -> int:
    """torch-onnx-export."""
    parser = argparse.ArgumentParser(
        prog="torch-onnx-export",
        description="Writes a module, saved by torch.save(module, path), as an ONNX file. Loading it runs "
        "code that the file names: only for files that you trust.",
    )
    parser.add_argument("module", help="the saved module")
    parser.add_argument("output", help="the ONNX file")
    parser.add_argument(
        "--input", type=_parse_input, action="append", required=True, metavar="[NAME:]DTYPE[SIZE,...]",
        help="one for each argument; NAME=SIZE is a dynamic size: images:float32[batch=2,3,224,224]",
    )  # fmt: skip
    parser.add_argument("--opset", type=int, default=None, help="17 to 23 (20)")
    parser.add_argument("--external-data", action="store_true", help="weights in a file beside it")
    parser.add_argument("--verify", action="store_true", help="compare with onnxruntime")
    return _run(parser, _save_exported)


def import_main() -> int:
    """torch-from-onnx."""
    parser = argparse.ArgumentParser(
        prog="torch-from-onnx",
        description="Makes a module of an ONNX file: it runs, can be trained, and torch.load gives it back.",
    )
    parser.add_argument("model", help="the ONNX file")
    parser.add_argument("output", help="where torch.save writes the module (torch.load(path, weights_only=False))")
    return _run(parser, _save_imported)


if __name__ == "__main__":
    sys.exit({"export": export_main, "import": import_main}[sys.argv.pop(1)]())
