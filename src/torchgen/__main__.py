"""`python -m torchgen --source-dir src --output-dir build/generated`: writes the generated sources."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from torchgen import emit_aten, emit_autograd, emit_kernels, parse, python_bindings, reference
from torchgen.errors import DeclarationError
from torchgen.output import Output, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from torchgen.model import Declarations

    Emitter = Callable[[Declarations], Iterable[Output]]

# What each library needs, so that CMake can make each only when it is built.
EMITTERS: dict[str, tuple[Emitter, ...]] = {
    "core": (emit_aten.outputs, emit_kernels.core_outputs, emit_autograd.outputs),
    "cuda": (emit_kernels.cuda_outputs,),
    "python": (python_bindings.outputs,),
}


def generate(declarations: Declarations, groups: Iterable[str]) -> Iterator[Output]:
    """Every output of the named groups, in a steady order."""
    for group in groups:
        for emitter in EMITTERS[group]:
            yield from emitter(declarations)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="torchgen", description="Writes the sources that torch's YAML files declare.")
    parser.add_argument(
        "--source-dir", type=Path, required=True, help="the folder that holds aten/native_functions.yaml"
    )
    parser.add_argument("--output-dir", type=Path, help="where the files go; required unless --reference is given")
    parser.add_argument("--only", choices=tuple(EMITTERS), help="write the files of one library only")
    parser.add_argument("--print-outputs", action="store_true", help="print the paths of all outputs, separated by `;`")
    parser.add_argument(
        "--reference", type=Path, metavar="FILE", help="write the operator reference to FILE, nothing else"
    )
    options = parser.parse_args(arguments)
    if options.output_dir is None and options.reference is None:
        parser.error("one of --output-dir and --reference is required")
    try:
        declarations = parse.load(options.source_dir)
        if options.reference is not None:
            outputs = [Output(PurePosixPath(options.reference.name), reference.text(declarations))]
            folder = options.reference.parent
        else:
            outputs = list(generate(declarations, (options.only,) if options.only else tuple(EMITTERS)))
            folder = options.output_dir
    except DeclarationError as error:
        print(error, file=sys.stderr)
        return 1
    written = sum(write(output, folder) for output in outputs)
    if options.print_outputs:
        print(";".join(str(folder / output.path) for output in outputs))
    else:
        print(f"torchgen: {written} of {len(outputs)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
