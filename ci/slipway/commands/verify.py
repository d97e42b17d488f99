"""Open packages and judge them: hashes, build paths, licences, linking, shared files.

    slipway verify                 every package of dist/channel
    slipway verify FILE.conda ...  these

Libraries are looked for in the packages given and in those of `--beside` channels. Errors make the exit code 9.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.errors import ChannelError, VerifyError

if TYPE_CHECKING:
    import argparse

    from slipway.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="*", type=Path, metavar="FILE", help="packages (default: dist/channel's)")
    parser.add_argument(
        "--beside", action="append", type=Path, default=[], metavar="DIR", help="local channel with the dependencies"
    )
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Judge; returns the exit code."""
    from slipway.paths import Workspace
    from slipway.verify import Surroundings, format_findings, has_errors, shared_files, verify_package
    from slipway.verify.facts import list_libraries

    folder = Workspace.of_checkout(arguments.dist).channel
    paths: list[Path] = arguments.packages or sorted(folder.glob("*/*.conda"))
    for path in paths:
        if not path.is_file():
            raise ChannelError("there is no such package", where=str(path))
    if not paths:
        raise ChannelError("the channel is empty", where=str(folder), hint="`slipway ship` fills it")
    neighbours = [*paths, *(found for channel in arguments.beside for found in sorted(channel.glob("*/*.conda")))]
    surroundings = Surroundings(
        {library: _package_name(path) for path in neighbours for library in list_libraries(path)}
    )
    findings = []
    known: dict[str, frozenset[str]] = {}
    names: dict[str, str] = {}
    for path in paths:
        with reporter.step(f"verify {path.name}"):
            facts, found = verify_package(path, surroundings)
            name = str(facts.index.get("name"))
            others = {other: files for other, files in known.items() if names[other] != name}
            findings += [*found, *shared_files(facts, others)]
            known[path.name] = frozenset(entry.path for entry in facts.files)
            names[path.name] = name
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    elif findings:
        reporter.line(format_findings(findings))
    reporter.line(f"{len(paths)} package(s), {len(findings)} finding(s)")
    return VerifyError.exit_code if has_errors(findings) else 0


def _package_name(path: Path) -> str:
    return path.stem.rsplit("-", 2)[0]
