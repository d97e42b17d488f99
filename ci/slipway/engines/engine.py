"""What an engine is, and what it is given: see `Engine` and `BuildContext`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from slipway.base.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace
    from slipway.model import RenderedOutput

FORMAT_VERSION = 8
"""Part of every digest: raise it when an engine starts to build something else from the same input."""

CLOCK_SECONDS = 1_704_067_200
"""The time of every build, seen by scripts as SOURCE_DATE_EPOCH: a clock that stands still gives the same bytes."""


class Isolation(StrEnum):
    """Whether scripts are isolated: where that can be had, always or else not at all, or never."""

    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


def _ignore(package: Path) -> None:
    """Nobody asked."""


@dataclass(frozen=True)
class BuildContext:
    """What a build needs beside the output itself.

    Attributes:
        workspace: where scratch space and logs are.
        channels: channel URLs for the build, host and test environments; earlier ones win.
        digest: identifies everything that goes into the package; stored inside it.
        environ: the environment slipway was started in; engines pass on what they must (proxies, CONDA_OVERRIDE_*).
        jobs: how many compilers may run at once.
        staging: digest of everything that goes into the output's staging; without it that is built anew.
        journal: what is told of the build as it goes.
        test: whether the package's own tests run.
        isolation: whether scripts run in a sandbox.
        compile_all: compile every file, even where the compiler cache's store has it; for comparing builds.
        on_built: called with the package as soon as it is there; its tests run after that, and do not need the file.
    """

    workspace: Workspace
    channels: tuple[str, ...]
    digest: str
    environ: Mapping[str, str]
    jobs: int
    staging: str | None = None
    journal: Journal = field(default_factory=Journal)
    test: bool = True
    isolation: Isolation = Isolation.AUTO
    compile_all: bool = False
    on_built: Callable[[Path], None] = _ignore


class Engine(Protocol):
    """Builds one output, runs its tests, and leaves one package file."""

    name: str

    def build(self, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> Path:
        """Build `output` and return the path of its package, in a folder of its own.

        Raises:
            BuildError: a script or a test failed; the log is in ``context.workspace.log(output.key)``.
            SolveError: an environment has no solution.
            HostError: the engine is not available here.
        """

    def test(self, package: Path, output: RenderedOutput, context: BuildContext, reporter: Reporter) -> None:
        """Run the tests that `package`, which was built before, carries: with what the channels have now.

        Raises:
            BuildError, SolveError, HostError: as for `build`.
        """
