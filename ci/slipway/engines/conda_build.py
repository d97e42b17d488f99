"""Builds with the real `conda build`, where there is one.

conda-build gets a recipe of just one output in one variant (`slipway.engines.conda_build_recipe`), renders it again,
and must come to the same package name, which is checked. Nothing else of slipway differs: the digest goes into the
package, the package is judged, and it is published like any other.

conda makes the environments itself, from a cache of packages of its own that is empty at first: what it fetches it
checks, and channels of this machine are checked before. Its scripts are not isolated: conda-build solves, fetches and
runs them in one process, which needs conda's own folders and the network. It gets no variable whose name says that it
is secret.

slipway's tests exercise the command line that it makes, not conda-build itself: that takes a conda installation.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from slipway.base import proc
from slipway.base.errors import BuildError, HostError, IntegrityError
from slipway.base.scratch import scratch_folder
from slipway.base.secrets import names_a_secret
from slipway.channel.environments import local_folder
from slipway.channel.folder import Channel
from slipway.engines.conda_build_recipe import write_recipe
from slipway.engines.engine import Isolation

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.engines.engine import BuildContext
    from slipway.model import RenderedOutput


class CondaBuildEngine:
    """`conda build`, one output and one variant at a time."""

    name = "conda-build"

    def __init__(self) -> None:
        self._told = False

    def build(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Path:
        """See `slipway.engines.engine.Engine.build`."""
        conda = self._find_conda(context, reporter)
        target = context.workspace.work / "conda-build" / output.key
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        with scratch_folder("recipe") as folder:
            recipe = write_recipe(output, folder / "recipe").parent
            log = context.workspace.log(output.key)
            self._run(command_line(conda, recipe, context, target), folder, output, context, reporter)
        package = target / output.subdir / f"{output.key}.conda"
        if not package.is_file():
            made = sorted(path.name for path in target.glob("*/*.conda"))
            raise BuildError(
                f"conda-build made {', '.join(made) or 'nothing'} instead of `{package.name}`",
                where=str(log),
                hint="the two engines disagree about this recipe: please report it with the recipe",
            )
        context.on_built(package)
        return package

    def test(self, package: Path, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> None:
        """See `slipway.engines.engine.Engine.test`."""
        conda = self._find_conda(context, reporter)
        with scratch_folder("test") as folder:
            words = [conda, "build", "--test", package, *_channel_words(context)]
            self._run(words, folder, output, context, reporter, append=True)

    def _find_conda(self, context: BuildContext, reporter: Reporter) -> str:
        conda = shutil.which("conda", path=context.environ.get("PATH"))
        if conda is None:
            raise HostError(
                "`conda` is not on PATH",
                hint="install conda and conda-build, or use `--engine rattler`, which needs neither",
            )
        self._tell_isolation(context.isolation, reporter)
        check_packages(context.channels)
        return conda

    def _run(
        self, words: list[str | Path], folder: Path, output: RenderedOutput, context: BuildContext, reporter: Reporter,
        *, append: bool = False,
    ) -> None:  # fmt: skip
        with reporter.task(output.name) as task:
            proc.run(
                words,
                env=environment(output, context) | {"CONDA_PKGS_DIRS": str(folder / "packages")},
                what=f"conda build of `{output.name}`",
                log=context.workspace.log(output.key),
                append=append,
                on_line=lambda line: task.update(text=line[:100]),
            )

    def _tell_isolation(self, isolation: Isolation, reporter: Reporter) -> None:
        if isolation is Isolation.REQUIRED:
            raise HostError("conda-build's scripts cannot be isolated", hint="use `--engine rattler`")
        if isolation is Isolation.AUTO and not self._told:
            reporter.line(
                "scripts are NOT isolated: conda-build runs them as you, with your files and the network "
                "(but without variables such as *_TOKEN)"
            )
        self._told = True


def environment(output: RenderedOutput, context: BuildContext) -> dict[str, str]:
    """What conda-build sees of the caller's variables: not what their names call secrets, but where the recipe asks."""
    asked = {*output.script_env, *output.secret_env}
    asked |= {*output.staging.script_env, *output.staging.secret_env} if output.staging is not None else set()
    seen = {name: value for name, value in context.environ.items() if name in asked or not names_a_secret(name)}
    return seen | {"CPU_COUNT": str(context.jobs)}


def check_packages(channels: Iterable[str]) -> None:
    """Hold every package of the channels of this machine against its channel's index: conda does not.

    Raises:
        IntegrityError: one has other bytes.
    """
    for folder in filter(None, map(local_folder, channels)):
        for path, _ in Channel(folder).records():
            damage = Channel(folder).find_damage(path) if path.exists() else None
            if damage is not None:
                raise IntegrityError(f"a package must not be used: {damage}", where=str(path),
                                     hint="`slipway ship` builds a damaged package of its channel again")  # fmt: skip


def command_line(conda: str, recipe: Path, context: BuildContext, target: Path) -> list[str | Path]:
    """What is run."""
    return [
        conda, "build", recipe,
        "--output-folder", target,
        "--package-format", "conda",
        "--extra-meta", f"slipway_digest={context.digest}",
        "--no-anaconda-upload",
        *_channel_words(context),
    ]  # fmt: skip


def _channel_words(context: BuildContext) -> list[str | Path]:
    return ["--override-channels", *(word for url in context.channels for word in ("--channel", url))]
