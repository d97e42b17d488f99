"""Open a shell in a build: where its script failed or, if it has not, right before it begins.

    slipway debug PACKAGE [DIR]                  the build that failed last, or else a fresh one
    slipway debug PACKAGE [DIR] --fresh          a fresh one
    slipway debug PACKAGE [DIR] -- make VERBOSE=1      run that in there, and no shell

The shell is activated, has the script's variables, stands in the folder that the script was in, and sees what that
sees: where scripts are isolated, it is, too. `steps` shows what is left of the script, `rest` runs it. What is changed
in there is gone with the next build. With commands on standard input instead of a terminal, it runs those.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.commands._options import add_isolation_argument, add_request_arguments, request_of
from slipway.engines.debugging import describe, find_stopped, remaining_steps, shell_words, write_shell_files
from slipway.engines.engine import BuildContext
from slipway.engines.rattler import RattlerEngine
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import finalize, find_channels

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.engines.debugging import PreparedBuild, Steps
    from slipway.model import RenderedOutput

TAKES_COMMAND = True
SHOWN = 10
"""Steps that are printed; `steps` shows all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.set_defaults(command=parser.get_default("command") or [])
    parser.usage = f"{parser.prog} PACKAGE [DIR] [OPTION...] [-- COMMAND...]"
    parser.add_argument("package", metavar="PACKAGE", help="name of one of the recipe's packages")
    parser.add_argument("--fresh", action="store_true", help="begin anew, whatever is there of an earlier build")
    add_isolation_argument(parser)
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run the shell; returns its exit status."""
    request = request_of(arguments)
    rendered = request.outputs()
    channels = find_channels(request, rendered, reporter)
    outputs = [output for output in finalize(request, rendered, channels) if output.name == arguments.package]
    if not outputs:
        names = ", ".join(dict.fromkeys(output.name for output in rendered))
        raise UsageError(f"the recipe makes no `{arguments.package}`", hint=f"it makes {names}")
    engine = RattlerEngine()
    log: Sequence[str]
    found = None if arguments.fresh else find_stopped(arguments.package, os.environ)
    output = next((one for one in outputs if found is not None and one.build_string == found.build_string), None)
    run = RunContext(request.workspace, engine, channels, reporter, jobs=1, isolation=arguments.isolation)
    context = BuildContext(
        request.workspace, run.build_channels, "0" * 64, run.environ, 1, isolation=arguments.isolation
    )
    if found is None or output is None:
        if len(outputs) > 1:
            keys = ", ".join(output.key for output in outputs)
            raise UsageError(f"`{arguments.package}` has {len(outputs)} variants: {keys}", hint="name one by --variant")
        (output,) = outputs
        with request.workspace.lock():
            run.session.publish()  # nothing of this run; what else it needs is published
            engine.prepare(output, context, reporter)
        found, log = find_stopped(arguments.package, os.environ), ()
        assert found is not None
    else:
        log = _read(request.workspace.log(output.key))
    steps = remaining_steps(found, log)
    interactive = sys.stdin.isatty() and not arguments.command
    if interactive:
        print(_banner(found, steps, output, started=bool(log)))
    words = shell_words(write_shell_files(found, steps), arguments.command, interactive=interactive)
    return engine.run_in(found, output, context, words, reporter)


def _read(path: Path) -> Sequence[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []


def _banner(prepared: PreparedBuild, steps: Steps, output: RenderedOutput, *, started: bool) -> str:
    place = f"{steps.path or output.recipe_path.name}, step {steps.number}" if started else "before its script began"
    lines = [f"{output.key}: {place}", *(f"  {name}  {path}" for name, path in describe(prepared).items())]
    lines += ["`steps` shows what is left, `rest` runs it, `exit` leaves:"]
    lines += [f"  {line}" for line in steps.lines[:SHOWN]]
    return "\n".join([*lines, *(["  ..."] if len(steps.lines) > SHOWN else [])])
