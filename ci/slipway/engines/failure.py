"""Why a build failed, from its log, in the words of whoever wrote the recipe."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import BuildError, DiskFullError, SolveError
from slipway.base.events import Phase
from slipway.base.json_file import read_json
from slipway.engines.debugging import find_prepared, find_text, remaining_steps
from slipway.engines.first_error import find_first_error
from slipway.engines.prepared_sources import explain_patch
from slipway.model import RECIPE_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.base.errors import RecipeError
    from slipway.engines.progress import BuildProgress
    from slipway.model import RenderedOutput

NETWORK_SIGNS = re.compile(
    r"Temporary failure in name resolution|[Nn]etwork is unreachable|[Cc]ould not resolve|[Nn]ame or service not known"
    r"|[Cc]onnection refused"
)
"""How programs say that there is no network."""

_SYMBOLIC_LINKS = re.compile(r"contains symlinks which are not supported[^\n]*\n(?P<paths>(?:\s+- [^\n]*\n?)+)")
"""How rattler-build says that it packs no links for systems that have none."""

LITTLE_ROOM = 64 << 20
"""Bytes: a disk with less was full a moment ago, when a program could not write."""


@dataclass(frozen=True)
class FailedBuild:
    """A build that ended without a package.

    Attributes:
        place: the folder that it was made in.
        temporary: where its programs put temporary files.
        is_shut_off: whether its scripts had no network.
    """

    output: RenderedOutput
    place: Path
    log: Path
    temporary: Path
    is_shut_off: bool

    def explain(
        self, progress: BuildProgress, last_lines: Sequence[str], answer: Mapping[str, str]
    ) -> DiskFullError | BuildError | RecipeError | SolveError:
        """The error to raise.

        Args:
            last_lines: of the log.
            answer: what the worker said, if it came to that.
        """
        tail = "\n".join(last_lines)
        folders = (self.place, self.temporary)
        if progress.disk_is_full or (progress.could_not_write and any(map(_is_almost_full, folders))):
            return DiskFullError(
                f"the disk is full, so `{self.output.key}` could not be built",
                where=str(self.log),
                hint="make room in the folders to build in, for temporary files and for output, "
                "and run the same command again: it goes on",
                detail=tail,
            )
        recipe = self.place / "recipe"
        prepared = read_json(recipe / "recipe.yaml") or {}
        misfit = explain_patch(answer.get("error", ""), self.output, recipe, prepared.get("source", ()))
        if misfit is not None:
            return misfit
        links = _SYMBOLIC_LINKS.search(answer.get("error", ""))
        if links is not None:
            paths = [line.strip().removeprefix("- ") for line in links["paths"].splitlines()]
            return BuildError(
                f"`{self.output.key}`: a noarch package holds symbolic links, which Windows lacks: {', '.join(paths)}",
                where=str(self.output.recipe_path),
                hint="let the script copy the files that they lead to, or take `noarch` out of the recipe",
                detail=tail,
            )
        first = find_first_error(self._read_log())
        kind = SolveError if answer.get("kind") == "solve" else BuildError
        what = {
            Phase.TEST: "its test failed",
            Phase.SCRIPT: "its build script failed",
            Phase.PREPARE: "failed",
        }.get(progress.phase, f"failed while {progress.phase}")
        hint = "the lines above are from that log; fix the cause and run the same command again"
        if progress.phase is Phase.SCRIPT:
            hint += f"; `slipway debug {self.output.name}` opens a shell where it stopped"
        if self.is_shut_off and NETWORK_SIGNS.search(tail):
            hint = f"scripts have no network; if this one needs it, name it in {RECIPE_SETTINGS} beside meta.yaml: "
            hint += f"`network: [{self.output.name}]`"
        if kind is SolveError:
            what = "no environment satisfies its requirements"
        elif first is not None:
            what = f"{what}: {first.text}{self._step_of_script(progress.phase)}"
            tail = "\n".join([first.text, "", *first.around])
        codes = {Phase.TEST: "test-failed", Phase.SCRIPT: "script-failed"}
        return kind(
            f"`{self.output.key}`: {what}",
            where=f"{self.log}:{first.line}" if first is not None else str(self.log),
            hint=hint,
            detail=tail,
            code="unsolvable" if kind is SolveError else codes.get(progress.phase),
        )

    def _step_of_script(self, phase: Phase) -> str:
        """Which line of the recipe's script failed, as far as its trace tells."""
        prepared = find_prepared(self.place) if phase is Phase.SCRIPT else None
        log = self._read_log()
        if prepared is None or not any(line.startswith(("+ ", "++ ")) for line in log):
            return ""
        steps = remaining_steps(prepared, log)
        name = steps.path or self.output.recipe_path.name
        number: int | None = steps.number
        if steps.path is None:  # commands in the recipe itself
            number = find_text(self.output.recipe_path, steps.lines[0] if steps.lines else "")
        return f" ({name}:{number})" if number else ""

    def _read_log(self) -> list[str]:
        try:
            return self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []


def _is_almost_full(folder: Path) -> bool:
    return shutil.disk_usage(folder).free < LITTLE_ROOM
