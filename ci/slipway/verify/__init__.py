"""Proof before publication: a package's facts are read first, then policies, which are data, judge them.

`slipway.channel.archive` reads the package as a stream; `elf`, `fatbin` and `traces` read its files; `facts` puts it
together; `surroundings` looks at what is around it; `policies` loads ``data/``; `rules` judges; `findings` prints.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slipway.base.events import ERROR, Finding
from slipway.verify.facts import PackageFacts, read_package
from slipway.verify.findings import format_findings, has_errors, sort_findings
from slipway.verify.policies import Policies, load_policies
from slipway.verify.rules import Case, judge
from slipway.verify.surroundings import Surroundings, find_previous, read_surroundings
from slipway.verify.traces import Tracer, machine_patterns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from slipway.base.errors import SolveError
    from slipway.channel.taken import SolvedPackage

__all__ = [
    "Finding",
    "Surroundings",
    "Verifier",
    "format_findings",
    "has_errors",
    "shared_files",
    "shared_paths",
    "sort_findings",
    "unsolvable",
    "verify_package",
]


class Verifier:
    """Judges packages by one set of policies, on one machine.

    Args:
        policies: None for those of ``ci/slipway/verify/data``.
        environ: what is looked for in files, beside the policies' patterns: its home folder and its secrets.
    """

    def __init__(self, policies: Policies | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self.policies = policies or load_policies()
        self._tracer = Tracer((*self.policies.traces.patterns, *machine_patterns(environ)))

    def facts(self, path: Path) -> PackageFacts:
        """Everything about one package file. Raises IntegrityError: it is damaged or hostile."""
        return read_package(path, self._tracer)

    def surroundings(
        self, packages: Iterable[SolvedPackage], facts: PackageFacts, previous_in: Path | None = None
    ) -> Surroundings:
        """What is around a package, from a solution; the last release is looked for in the channel `previous_in`."""
        found = find_previous(previous_in, facts) if previous_in is not None else None
        previous = self.facts(found) if found is not None else None
        return read_surroundings(packages, facts.package, previous=previous)

    def judge(self, facts: PackageFacts, surroundings: Surroundings | None) -> list[Finding]:
        """What is to be said about one package; without surroundings only what it shows by itself."""
        return list(judge(Case(facts, surroundings, self.policies)))


def verify_package(path: Path, surroundings: Surroundings | None) -> tuple[PackageFacts, list[Finding]]:
    """Open the package at `path` and judge it by the policies of ``ci/slipway/verify/data``."""
    verifier = Verifier()
    facts = verifier.facts(path)
    return facts, verifier.judge(facts, surroundings)


def shared_files(facts: PackageFacts, others: Mapping[str, Sequence[str] | frozenset[str]]) -> list[Finding]:
    """Files that another output (package file name -> its paths) installs too: conda would overwrite one of them."""
    return shared_paths(facts.name, {entry.path for entry in facts.files}, others)


def shared_paths(
    name: str, paths: Collection[str], others: Mapping[str, Sequence[str] | frozenset[str]]
) -> list[Finding]:
    """The same for a package of which only the name and the paths are known."""
    cure = "let one output install it, and the other depend on that"
    return [
        Finding(ERROR, name, "shared-file", path, f"{other} installs it too", cure)
        for other, other_paths in others.items()
        for path in sorted(set(paths).intersection(other_paths))
    ]


def unsolvable(facts: PackageFacts, error: SolveError) -> Finding:
    """The package cannot be installed beside what its dependencies are taken from; the solver says why."""
    cure = "correct `requirements/run`, or name the channel that has what it asks for (--channel, --beside)"
    message = "there is no environment for it: its dependencies cannot be satisfied together"
    return Finding(ERROR, facts.name, "environment", "info/index.json", message, cure, error.detail or error.message)
