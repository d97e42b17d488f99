"""Findings, sorted and as a table for people; one is a `slipway.base.events.Finding`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from slipway.base.events import ERROR, SEVERITIES, Finding
from slipway.base.text import format_table, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from slipway.base.errors import SolveError
    from slipway.verify.facts import PackageFacts

SHOWN_OF_A_SORT = 12
"""How many findings of one rule about one package a table shows."""


def has_errors(findings: Sequence[Finding]) -> bool:
    """Whether the channel must not take the package."""
    return any(finding.severity == ERROR for finding in findings)


def sort_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Errors first, then by package, rule and place."""
    return sorted(
        findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.package, finding.rule, finding.where)
    )


def format_findings(findings: Sequence[Finding], width: int | None = None) -> str:
    """A table of findings for each package; below it what needs more than a line, and each cure once, with its rule.

    Of many findings of one rule about one package the first are shown, and how many there are beside.

    Args:
        width: how wide the tables may be, in characters; None: one line for each finding.
    """
    packages = list(dict.fromkeys(finding.package for finding in sort_findings(findings)))
    parts = []
    for package in packages:
        ordered = sort_findings([finding for finding in findings if finding.package == package])
        title = f"{package}: {_counts(ordered)}\n" if len(packages) > 1 else ""
        parts.append(title + _format_package(ordered, width))
    return "\n\n".join(parts)


def _counts(findings: Sequence[Finding]) -> str:
    counts = [(sum(found.severity == severity for found in findings), severity) for severity in SEVERITIES]
    return ", ".join(f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count)


def _format_package(ordered: Sequence[Finding], width: int | None) -> str:
    rows: list[tuple[str, str, str, str]] = []
    for (severity, rule), group in itertools.groupby(ordered, key=lambda found: (found.severity, found.rule)):
        found = list(group)
        shown = found if len(found) <= SHOWN_OF_A_SORT + 1 else found[:SHOWN_OF_A_SORT]
        rows += [(severity, rule, printable(finding.where), printable(finding.message)) for finding in shown]
        if len(shown) < len(found):
            rows.append((severity, rule, "...", f"and {len(found) - len(shown)} more like these; --json lists them"))
    cures: dict[tuple[str, str], None] = {(finding.rule, finding.cure): None for finding in ordered if finding.cure}
    lines = [format_table(("severity", "rule", "where", "finding"), rows, width=width)] if rows else []
    for finding in ordered:
        if finding.detail:
            title = f"{printable(finding.where)} ({finding.rule})"
            lines += ["", title, *(f"  {printable(line)}" for line in finding.detail.splitlines())]
    if cures:
        lines += ["", *(f"{rule}: {printable(cure)}" for rule, cure in cures)]
    return "\n".join(lines)


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
