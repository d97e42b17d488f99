"""From a package file to findings, in one object: what commands and pipelines judge with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from slipway.verify.facts import PackageFacts, read_package
from slipway.verify.policies import Policies, load_policies
from slipway.verify.rules import Case, judge
from slipway.verify.surroundings import Surroundings, find_previous, read_surroundings
from slipway.verify.traces import Tracer, machine_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from slipway.base.events import Finding
    from slipway.channel.taken import SolvedPackage


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
