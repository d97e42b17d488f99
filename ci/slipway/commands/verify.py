"""Open packages and judge them by the policies of ci/slipway/verify/data.

    slipway verify                 every package of dist/channel
    slipway verify FILE.conda ...  these

Each package is looked at in the environment that the solver picks for it: from the packages given, dist/channel, the
folders of --beside, and the embedded channel, or the --channel that is named instead. Errors make the exit code 9;
a damaged or hostile package is never unpacked and makes it 6.

--json prints a list of objects with the keys severity (error, warning, note), package (its file's name), rule, where
(file or part of the metadata), message, cure, and detail (more lines, such as a diff of symbols; may be empty).
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, SolveError, VerifyError
from slipway.base.paths import Workspace
from slipway.base.platform import LINUX_64
from slipway.base.scratch import scratch_folder
from slipway.base.text import format_table, table_width
from slipway.bootstrap.choices import embedded_choices
from slipway.bootstrap.embedded import channels_of
from slipway.channel import rattler
from slipway.channel.environments import needed_names, solve
from slipway.channel.folder import Channel
from slipway.proof import keys
from slipway.proof.statements import check_package, read_proof
from slipway.recipe.defaults import target_of
from slipway.verify.findings import format_findings, has_errors, shared_files, sort_findings, unsolvable
from slipway.verify.indexed import check_index, read_index
from slipway.verify.policies import load_policies
from slipway.verify.rules import RULES
from slipway.verify.verifier import Verifier

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slipway.base.events import Finding
    from slipway.base.log import Reporter
    from slipway.channel.environments import Solution
    from slipway.verify.facts import PackageFacts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="*", type=Path, metavar="FILE", help="packages (default: dist/channel's)")
    parser.add_argument(
        "--beside", action="append", type=Path, default=[], metavar="DIR", help="local channel with the dependencies"
    )
    parser.add_argument("-c", "--channel", action="append", metavar="URL", help="as for `slipway ship`")
    parser.add_argument("--alone", action="store_true", help="leave out what needs the package's environment")
    parser.add_argument(
        "--policies", type=Path, metavar="DIR", help="judge by these policies (default: ci/slipway/verify/data)"
    )
    parser.add_argument("--keys", type=Path, metavar="FILE",
                        help="YAML: whose signatures each package takes, beside it (see `slipway attest`)")  # fmt: skip
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")
    parser.add_argument("--rules", action="store_true", help="say what the rules are, and judge nothing")
    parser.add_argument("--json", action="store_true", help="the findings: a list of objects")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Judge; returns the exit code."""
    if arguments.rules:
        print(format_rules())
        return 0
    folder = Workspace.of_checkout(arguments.dist).channel
    paths: list[Path] = arguments.packages or sorted(folder.glob("*/*.conda"))
    if not paths:
        raise ChannelError("the channel is empty", where=str(folder), hint="`slipway ship` fills it")
    trust = keys.load_trust(arguments.keys) if arguments.keys else None
    verifier = Verifier(load_policies(arguments.policies) if arguments.policies else None)
    everything: list[PackageFacts] = []
    for path in paths:
        with reporter.step(f"read {path.name}"):
            facts = verifier.facts(path)
            index = read_index(path.parent)
            if index is not None:
                check_index(path, facts, index)
            if trust is not None:
                check_package(path.name, facts.sha256, read_proof(path), trust, str(path))
            everything.append(facts)
    findings: list[Finding] = []
    with scratch_folder("verify") as scratch:
        channels = None if arguments.alone else _Channels(arguments, folder, scratch, everything, paths)
        for facts in everything:
            with reporter.step(f"verify {facts.name}"):
                around = None
                if channels is not None:
                    try:
                        environment = channels.environment(facts, reporter)
                    except SolveError as error:
                        findings.append(unsolvable(facts, error))
                    else:
                        around = verifier.surroundings(environment.packages, facts, previous_in=folder)
                others = {
                    other.name: frozenset(entry.path for entry in other.files)
                    for other in everything
                    if other.package != facts.package
                }
                findings += [*verifier.judge(facts, around), *shared_files(facts, others)]
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in sort_findings(findings)], indent=1))
    elif findings:
        reporter.line(format_findings(findings, table_width()))
    reporter.line(f"{len(paths)} package(s), {len(findings)} finding(s)")
    return VerifyError.exit_code if has_errors(findings) else 0


def format_rules() -> str:
    """A table of the rules, from their docstrings."""
    described = {name: " ".join((rule.__doc__ or "").split()) for name, rule in RULES.items()}
    described["shared-file"] = "No file is in two packages of different names."
    described["environment"] = "There is an environment in which it can be installed."
    return format_table(("rule", "what it holds a package to"), sorted(described.items()))


class _Channels:
    """Where the environments of the judged packages come from; the embedded channel is made when it is needed."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        folder: Path,
        scratch: Path,
        everything: Sequence[PackageFacts],
        paths: Sequence[Path],
    ) -> None:
        given = Channel(scratch / "given")
        subdirs = [str(facts.index.get("subdir") or "noarch") for facts in everything]
        given.publish(zip(subdirs, paths, strict=True))
        beside = [*([folder] if folder.is_dir() else []), *arguments.beside]
        self.own = [given.url, *(Channel(path).url for path in beside)]
        self.named: Sequence[str] | None = arguments.channel
        self.offline = bool(arguments.offline)

    def environment(self, facts: PackageFacts, reporter: Reporter) -> Solution:
        """What the solver picks around one package."""
        needs = needed_names([facts.package], self.own)
        variant = embedded_variant(facts)
        others = channels_of(self.named, variant, reporter, needs=needs, offline=self.offline)
        spec = f"{facts.package} =={facts.index['version']} {facts.index['build']}"
        return solve([spec], (*self.own, *others), platform=target_of(variant, LINUX_64))


def embedded_variant(facts: PackageFacts) -> dict[str, str]:
    """The part of the embedded channel that a package depends on; a key is left out where any value will do."""
    choices = embedded_choices()
    cuda = _first_allowed(facts.depends, ("cuda-version",), choices.cudas)
    if cuda is None and (pinned := re.search(r" cuda(\d+)(\d)_", "\n".join(facts.depends))):
        cuda = f"{pinned[1]}.{pinned[2]}"  # in a pin on a build string: 130 is 13.0
    blas = "openblas" if facts.dependency_names & {"openblas", "libopenblas"} else None
    python = _first_allowed(facts.depends, ("python", "python_abi"), choices.pythons)
    target = facts.index.get("subdir") if facts.index.get("subdir") in choices.targets else None
    asked = {"python": python, "blas_impl": blas, "cuda_compiler_version": cuda, "target_platform": target}
    return {key: value for key, value in asked.items() if value is not None}


def _first_allowed(depends: Sequence[str], names: Sequence[str], choices: Sequence[str]) -> str | None:
    """The first of `choices` (X.Y) that what `depends` says of `names` lets in; None if it says nothing of them.

    Where it lets none in, the version that it asks for, so that somebody says that there is no such thing.
    """
    texts = [spec for spec in depends if spec.split()[:1] and spec.split()[0] in names]
    versions = (rattler.MatchSpec(text, strict=False).version for text in texts)
    bounds = [rattler.VersionSpec(str(version)) for version in versions if version is not None]
    if not bounds:
        return None
    for choice in choices:
        # Bounds may name a patch release, of which the channel has some late one.
        if all(any(bound.matches(rattler.Version(found)) for found in (choice, f"{choice}.99")) for bound in bounds):
            return choice
    asked = re.search(r"(\d+\.\d+)", texts[0])
    return asked[1] if asked else None
