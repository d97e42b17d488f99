"""What a release consists of: notes, a commit, a tag, a signed channel, wheels. Cut off anywhere, it can be run again.

1. Everything that can be refused is looked at: the checkout is what was committed, the packages are those that would be
   built now, the change log has a section, no other commit has the tag.
2. Wheels are made. What cannot be published is refused.
3. The change log's section gets its day, in a commit that gets the tag; both go to the remote repository in one step.
   Whoever comes second is refused there.
4. Packages are published with what proves them, then wheels.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, RecipeError, UsageError
from slipway.base.files import write_file
from slipway.base.proc import capture
from slipway.base.scratch import scratch_folder
from slipway.channel.environments import install, solve
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import finalize, find_channels
from slipway.pipeline.plan import make_plan
from slipway.release.wheels import make_wheel
from slipway.workflows.job import local_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.base.log import Reporter
    from slipway.base.proc import Answer
    from slipway.engines.engine import Engine
    from slipway.model import WheelSettings
    from slipway.pipeline.plan import PlannedOutput
    from slipway.request import Request
    from slipway.workflows.graph import Job

UNRELEASED = "(unreleased)"
_HEADING = re.compile(r"^## .*$", re.MULTILINE)


@dataclass(frozen=True)
class Built:
    """A package to release: its file, the spec that means it alone, and the channels that it was built from."""

    path: Path
    name: str
    version: str
    spec: str
    channels: tuple[str, ...]


@dataclass(frozen=True)
class Checkout:
    """A git repository: the folder, and the remote one that releases go to, if there is one."""

    folder: Path
    remote: str | None

    def git(self, *words: str) -> str:
        """What git says.

        Raises:
            UsageError: it refuses.
        """
        answer = self._ask(*words)
        if answer.status != 0:
            raise UsageError(f"`git {words[0]}` was refused", where=str(self.folder), detail=answer.tail)
        return answer.text

    def _ask(self, *words: str) -> Answer:
        return capture(["git", "-C", self.folder, *words], env=os.environ, what="releasing")

    def tagged(self, tag: str) -> str | None:
        """The commit of a tag, here or at the remote."""
        here = self._ask("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}")
        if here.status == 0:
            return here.text.strip()
        if self.remote is None:
            return None
        lines = self.git("ls-remote", "--tags", self.remote, f"refs/tags/{tag}*").splitlines()
        found = {name: commit for commit, name in (line.split("\t") for line in lines)}
        return found.get(f"refs/tags/{tag}^{{}}") or found.get(f"refs/tags/{tag}")

    def check(self, tag: str) -> bool:
        """See to it that a release can be made of what is there; whether it was tagged already.

        Raises:
            UsageError: files are not committed, or another commit has the tag.
        """
        changed = self.git("status", "--porcelain").splitlines()
        if changed:
            raise UsageError(
                f"`{changed[0][3:]}` is not committed", where=str(self.folder), hint="a release is of a commit"
            )
        commit = self.tagged(tag)
        if commit is not None and commit != self.git("rev-parse", "HEAD").strip():
            raise UsageError(
                f"{tag} is released already, of commit {commit[:12]}", where=str(self.folder),
                hint="give this one another version",
            )  # fmt: skip
        return commit is not None

    def publish(self, changelog: Path, text: str, tag: str, notes: str) -> None:
        """Commit the change log, tag it, and bring both to the remote, or neither.

        Raises:
            UsageError: somebody else was there first.
        """
        before = self.git("rev-parse", "HEAD").strip()
        write_file(changelog, text)
        self.git("add", str(changelog))
        self.git("commit", "--quiet", "--message", f"Release {tag}")
        try:
            self.git("tag", "--annotate", tag, "--message", f"{tag}\n\n{notes}")
            self.push(tag)
        except UsageError:
            self._ask("tag", "--delete", tag)
            self.git("reset", "--quiet", "--hard", before)
            raise

    def push(self, tag: str) -> None:
        """Bring commit and tag to the remote; nothing happens if they are there."""
        if self.remote is not None:
            branch = self.git("symbolic-ref", "HEAD").strip()
            self.git("push", "--quiet", "--atomic", self.remote, f"HEAD:{branch}", f"refs/tags/{tag}")


def find_checkout_of(folder: Path, remote: str | None) -> Checkout:
    """The repository that `folder` lies in; `remote`, or its ``origin``.

    Raises:
        UsageError: there is none.
    """
    top = Checkout(folder, None).git("rev-parse", "--show-toplevel").strip()
    remotes = Checkout(Path(top), None).git("remote").split()
    if remote is not None and remote not in remotes:
        raise UsageError(f"there is no remote `{remote}`", where=top, hint=f"there is {', '.join(remotes) or 'none'}")
    return Checkout(Path(top), remote or ("origin" if "origin" in remotes else None))


def release_notes(changelog: Path, version: str, day: str) -> tuple[str, str]:
    """The change log with the day in the heading of `version`, and what that section says.

    Raises:
        UsageError: it has no such section, or nothing stands in it.
    """
    if not changelog.is_file():
        raise UsageError("there is no change log", where=str(changelog), hint="--changelog FILE names another one")
    text = changelog.read_text(encoding="utf-8")
    for heading in _HEADING.finditer(text):
        if version in heading[0].split():
            following = _HEADING.search(text, heading.end())
            notes = text[heading.end() : following.start() if following else len(text)].strip()
            if not notes:
                raise UsageError(f"the section of {version} is empty", where=str(changelog))
            dated = heading[0].replace(UNRELEASED, f"({day})")
            return text[: heading.start()] + dated + text[heading.end() :], notes
    raise UsageError(
        f"the change log says nothing of {version}",
        where=str(changelog),
        hint=f"write `## NAME {version} {UNRELEASED}` there, below it what users notice, and commit that",
    )


def find_built(request: Request, engine: Engine, reporter: Reporter) -> list[Built]:
    """The packages of what was asked for, each as it would be built now.

    Raises:
        ChannelError: one is not there.
        RecipeError: they have several versions.
    """
    found: dict[Path, Built] = {}
    for job in local_jobs(request):
        with reporter.step(f"compare {job.identifier}"):
            planned, channels = _compare(request, job, engine, reporter)
        output = planned.output
        if planned.package is None:
            # At once: what the next ones are built from may be gigabytes to fetch.
            raise ChannelError(
                f"there is no package of `{output.key}` as it would be built now",
                where=str(request.workspace.channel),
                hint="`slipway ci run` with the same options builds what is missing; options for variants, as those of "
                "`slipway ship`, make it a release of less",
            )
        spec = f"{output.name} =={output.version} {output.build_string}"
        found[planned.package] = Built(planned.package, output.name, output.version, spec, channels)
    versions = {built.version for built in found.values()}
    if len(versions) != 1:
        raise RecipeError(f"a release has one version, and outputs have {', '.join(sorted(versions))}",
                          where=str(request.recipe))  # fmt: skip
    return list(found.values())


def _compare(request: Request, job: Job, engine: Engine, reporter: Reporter) -> tuple[PlannedOutput, tuple[str, ...]]:
    channels = find_channels(request, job.outputs[::-1], reporter)
    final = finalize(request, job.outputs, channels)
    context = RunContext(request.workspace, engine, channels, reporter)
    return make_plan(final, context.plan_inputs()).outputs[-1], channels


def make_wheels(
    packages: Sequence[Built],
    wheels: dict[str, WheelSettings],
    folder: Path,
    own: str,
    reporter: Reporter,
    *,
    log: Path,
) -> list[Path]:
    """A wheel of each package that has a section in `wheels`, from an environment with what it needs."""
    made = []
    for package in packages:
        settings = wheels.get(package.name)
        if settings is not None:
            with (
                scratch_folder("wheel") as name,
                reporter.step(f"wheel of {package.spec}"),
            ):
                prefix = name / "prefix"
                install(solve([package.spec], (own, *package.channels)), prefix, reporter)
                made.append(make_wheel(prefix, package.name, settings, folder, reporter, log=log))
    return made
