"""Add packages to a channel and index it, in one step that readers see whole or not at all.

    slipway publish --to DIR               everything in dist/channel, to the channel at DIR
    slipway publish --to DIR FILE.conda    these packages

Each package is judged first (see `slipway verify`); one with an error is refused, and with it the whole step. One
that a job handed on, with a record beside it, must be as it was then.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, VerifyError
from slipway.base.events import ERROR
from slipway.base.paths import Workspace, lock_folder
from slipway.channel.folder import Channel
from slipway.verify.findings import format_findings
from slipway.verify.indexed import check_index, read_index
from slipway.verify.verifier import Verifier
from slipway.workflows.handing import check_handed

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="*", type=Path, metavar="FILE", help="packages (default: dist/channel's)")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="the channel; made if it is not there")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel to publish from (default: dist/)")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Publish; returns the exit code."""
    source = Channel(Workspace.of_checkout(arguments.dist).channel)
    paths: list[Path] = arguments.packages or source.packages()
    if not paths:
        raise ChannelError(
            "there is nothing to publish", where=str(source.folder), hint="`slipway ship` fills that channel"
        )
    verifier = Verifier()
    packages = []
    for path in paths:
        if not path.is_file():
            raise ChannelError("there is no such package", where=str(path))
        check_handed(path, needs_record=False)
        with reporter.step(f"verify {path.name}"):
            facts = verifier.facts(path)
            index = read_index(path.parent)
            if index is not None:
                check_index(path, facts, index)
        errors = [finding for finding in verifier.judge(facts, None) if finding.severity == ERROR]
        if errors:
            raise VerifyError(
                "the package breaks a policy, so nothing was published",
                where=str(path),
                detail=format_findings(errors),
            )
        packages.append((str(facts.index["subdir"]), path))
    target = Channel(arguments.to.resolve())
    lock = target.folder.with_name(f".{target.folder.name}.lock")
    with lock_folder(lock), reporter.step(f"publish to {target.folder}"):
        target.publish(packages)
    reporter.line(f"{len(packages)} package(s) in {target.url}")
    return 0
