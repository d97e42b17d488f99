"""What one run over the outputs of a recipe works with."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base import installed
from slipway.base.journal import Journal
from slipway.base.platform import usable_cpus
from slipway.channel.environments import Solution, solve
from slipway.channel.folder import Channel
from slipway.engines.engine import Isolation
from slipway.pipeline.plan import PlanInputs, find_packages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace
    from slipway.base.platform import Platform
    from slipway.engines.engine import Engine


@dataclass(frozen=True)
class RunContext:
    """The tools, the folders and the channels of a run.

    Attributes:
        channels: where build, host and test environments come from, beside this run's own packages.
        environ: this process's, if no other is given.
        jobs: how many compilers may run at once.
        isolation: whether scripts run in a sandbox.
        rebuild: build even what did not change.
        only: keys of the outputs to build, the others being taken from the channel as they are; None builds all.
        journal: what the run does is written down there.
    """

    workspace: Workspace
    engine: Engine
    channels: tuple[str, ...]
    reporter: Reporter
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    jobs: int = field(default_factory=usable_cpus)
    isolation: Isolation = Isolation.AUTO
    rebuild: bool = False
    only: frozenset[str] | None = None
    journal: Journal = field(default_factory=Journal)

    @property
    def published(self) -> Channel:
        """What users install from."""
        return Channel(self.workspace.channel)

    @property
    def proved(self) -> Channel:
        """What was built and judged, and waits to be published together; an interrupted run leaves it to the next."""
        return Channel(self.workspace.proved)

    @property
    def session(self) -> Channel:
        """This run's packages only, so that nothing stale can be picked."""
        return Channel(self.workspace.work / "session")

    @property
    def build_channels(self) -> tuple[str, ...]:
        """Where packages are built from, the first one that has a package winning."""
        return (self.session.url, self.published.url, *self.channels)

    def plan_inputs(self) -> PlanInputs:
        """What a plan for this run is made from."""
        own = (self.published.url,) if self.published.is_indexed else ()  # packages of other recipes may lie there

        @functools.cache
        def solve_once(specs: tuple[str, ...], platform: Platform) -> Solution:
            return solve(specs, (*own, *self.channels), platform=platform) if specs else Solution((), ())

        return PlanInputs(
            engine=f"{self.engine.name} {installed.installed_version('py-rattler-build')}",
            solve=solve_once,
            find_packages=lambda output: find_packages(self._searched(output.key), output),
            rebuild=self.rebuild,
            only=self.only,
        )

    def _searched(self, key: str) -> tuple[Channel, ...]:
        """Where packages to reuse are looked for; what is handed on lies in the channel."""
        handed_on = self.only is not None and key not in self.only
        return (self.published,) if handed_on else (self.published, self.proved)
