"""Run one of the measurements in bench/, in the environment that it needs; without NAME list them.

    slipway bench                                     what there is
    slipway bench render --repeat 5                   what follows the name is the measurement's own
    slipway bench vs_pytorch --peer PYTHON            beside another torch, that of this interpreter

They print figures and assert nothing. Those of torch run in dist/env, all others in slipway's own environment.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import PACKAGE_ROOT, require_checkout
from slipway.base.errors import BuildError, HostError, UsageError
from slipway.base.paths import Workspace
from slipway.base.text import format_table

if TYPE_CHECKING:
    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--dist", metavar="DIR", help="folder whose env/ holds the torch to measure (default: dist/)")
    parser.add_argument("name", nargs="?", metavar="NAME", help="what to measure")
    parser.add_argument("options", nargs=argparse.REMAINDER, metavar="...", help="options of the measurement")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """List or run; returns the exit code."""
    found = find_benchmarks(require_checkout() / "bench")
    if arguments.name is None:
        print(format_table(("name", "measures"), [(name, summary_of(path)) for name, path in found.items()]))
        return 0
    if arguments.name not in found:
        raise UsageError(f"there is no measurement `{arguments.name}`", hint=f"there is {', '.join(found)}")
    python = Path(sys.executable)
    if "torch" in arguments.name:
        python = Workspace.of_checkout(arguments.dist).environment / "bin" / "python"
        if not python.exists():
            raise HostError("there is no torch to measure", where=str(python), hint="`./slipway ship` installs it")
    environment = _environment(python)
    if python == Path(sys.executable):
        environment["PYTHONPATH"] = str(PACKAGE_ROOT)
    command = [str(python), str(found[arguments.name]), *arguments.options]
    # In front of the user, with nothing between: figures appear as they are measured.
    code = subprocess.run(command, env=environment, check=False).returncode
    if code not in (0, UsageError.exit_code):
        raise BuildError(f"the measurement ended with exit code {code}", where=command[1])
    return code


def find_benchmarks(folder: Path) -> dict[str, Path]:
    """The measurements by name: the files of `folder` that are programs."""
    return {path.stem: path for path in sorted(folder.glob("*.py")) if _is_program(path)}


def _is_program(path: Path) -> bool:
    return 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")


def summary_of(path: Path) -> str:
    """The first line of a measurement's docstring, read without running it."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _environment(python: Path) -> dict[str, str]:
    """The caller's, with the programs beside `python` in front; nothing that points into another Python."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return kept | {"PATH": f"{python.parent}:{kept.get('PATH', '/usr/bin:/bin')}"}
