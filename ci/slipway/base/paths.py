"""Where things lie: the checkout, and its git-ignored `dist` folder."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder
from slipway.base.locks import hold_lock

if TYPE_CHECKING:
    from collections.abc import Iterator


RUNS = "logs/runs"
"""Where the journals of runs are kept, relative to `Workspace.dist`."""

PAGE = "report.html"
"""The report of the last run, relative to `Workspace.dist`."""


@dataclass(frozen=True)
class Workspace:
    """The output folder of one checkout; everything slipway writes is below it, or in the cache."""

    dist: Path

    @classmethod
    def of_checkout(cls, dist: str | Path | None = None) -> Workspace:
        """`dist` as given on the command line, or the checkout's own; of an installed slipway the working folder's."""
        return cls(Path(dist).resolve() if dist else default_folder() / "dist")

    @property
    def channel(self) -> Path:
        """The channel that users install from."""
        return self.dist / "channel"

    @property
    def environment(self) -> Path:
        """Where `ship` and `install` put the environment."""
        return self.dist / "env"

    @property
    def work(self) -> Path:
        """Scratch space; stable paths, so that compiler caches hit and two builds are alike."""
        return self.dist / "work"

    @property
    def proved(self) -> Path:
        """A channel of packages that were built and judged, and wait to be published together."""
        return self.work / "proved"

    @property
    def staged(self) -> Path:
        """A channel of what outputs of this run take their files from; nobody else sees it."""
        return self.work / "staged"

    def log(self, key: str) -> Path:
        """The log of one output (or step)."""
        return self.dist / "logs" / f"{re.sub(r'[^A-Za-z0-9._+-]', '_', key)}.log"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other slipways out of this folder while the block runs.

        Raises:
            BusyError: another one is at work here.
        """
        with hold_lock(self.dist / ".lock", otherwise="give this one a folder of its own with --dist"):
            ignored = self.dist / ".gitignore"
            mine = {"channel", "env", "work", "logs", PAGE, ".lock"}
            # Where a project is its own source, what it was built to is none of it; a folder of other things stays so.
            if not ignored.exists() and mine.issuperset(path.name for path in self.dist.iterdir()):
                ignored.write_text("*\n", encoding="utf-8")
            yield
