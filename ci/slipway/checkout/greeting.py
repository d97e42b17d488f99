"""The last step of `ship`: installs what was published, as a user would, and runs the hello world there."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base import proc
from slipway.base.checkout import require_checkout
from slipway.base.errors import BuildError
from slipway.base.events import Stage, StageKey
from slipway.base.scratch import scratch_folder
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel
from slipway.recipe.choose import CUDA_KEY, WITHOUT, each_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.request import Request

HELLO_WORLD = "examples/hello_world.py"
ABOUT = """
print(f"torch {torch.__version__}, CUDA: {torch.version.cuda}, available: {torch.cuda.is_available()}")
"""


@dataclass(frozen=True)
class Greeting:
    """An environment that works, and how to use it."""

    prefix: Path
    output: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What to type next."""
        return f"try it: {shlex.quote(str(self.prefix / 'bin' / 'python'))} -c 'import torch; print(torch.ones(2, 3))'"


def greet(request: Request, channels: tuple[str, ...], reporter: Reporter) -> Greeting:
    """Solve and install the recipe's packages into ``dist/env``, then run the hello world with its Python.

    The program runs outside the source tree with an empty environment, so that it can only find what was installed.

    Raises:
        SolveError: the published packages do not go together.
        BuildError: the hello world failed.
    """
    workspace = request.workspace
    prefix = workspace.environment
    specs = [f"python {request.preferred['python']}.*", "pytorch"]
    cudas = each_value(request.asked.get(CUDA_KEY, WITHOUT))
    if cudas != [WITHOUT]:
        specs += ["pytorch-gpu", f"cuda-version {cudas[-1]}.*"]
    with reporter.step(Stage(StageKey.INSTALL, f"{', '.join(specs[1:])} into {prefix}")):
        solution = solve(specs, (Channel(workspace.channel).url, *channels))
        linked = install(solution, prefix, reporter, into_existing=True)
        reporter.line(f"{len(solution.packages)} packages, {linked} of them new")
    with reporter.step(Stage(StageKey.HELLO_WORLD)), scratch_folder("hello") as folder:
        program = folder / "hello_world.py"
        program.write_text((require_checkout() / HELLO_WORLD).read_text(encoding="utf-8") + ABOUT, encoding="utf-8")
        completed = proc.run(
            [prefix / "bin" / "python", program],
            env=clean_environment(prefix, os.environ) | {"HOME": str(folder)},
            cwd=folder,
            what="the hello world in the new environment",
            log=workspace.log("hello-world"),
            error=BuildError,
        )
        for line in completed.tail:
            reporter.line(line)
    return Greeting(prefix, completed.tail)


def clean_environment(prefix: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What a program in `prefix` sees: its own programs, the system's, and nothing that could point elsewhere."""
    kept = {key: environ[key] for key in ("HOME", "LANG", "LC_ALL", "TERM", "TMPDIR") if key in environ}
    return kept | {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "CONDA_PREFIX": str(prefix), "PYTHONNOUSERSITE": "1"}
