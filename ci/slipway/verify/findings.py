"""A finding: one verdict about one place in one package, with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.console import format_table
from slipway.verify.policies import ERROR, SEVERITIES, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Finding:
    """One verdict. An ``error`` keeps a package out of the channel; a ``note`` is for reading.

    Attributes:
        package: file name of the package.
        rule: name of the rule, as in ``slipway.verify.rules``.
        where: file inside the package, or the part of its metadata.
        message: what is wrong.
        cure: what to do about it.
        detail: more lines to read, such as a diff.
    """

    severity: Severity
    package: str
    rule: str
    where: str
    message: str
    cure: str
    detail: str = ""


def has_errors(findings: Sequence[Finding]) -> bool:
    """Whether the channel must not take the package."""
    return any(finding.severity == ERROR for finding in findings)


def sort_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Errors first, then by package, rule and place."""
    return sorted(
        findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.package, finding.rule, finding.where)
    )


def format_findings(findings: Sequence[Finding]) -> str:
    """A table of findings; below it what needs more than a line, and each cure once, with its rule."""
    ordered = sort_findings(findings)
    header: tuple[str, ...] = ("severity", "rule", "where", "finding")
    rows: list[tuple[str, ...]] = [(found.severity, found.rule, found.where, found.message) for found in ordered]
    if len({finding.package for finding in ordered}) > 1:
        header = (*header[:2], "package", *header[2:])
        rows = [(*row[:2], found.package, *row[2:]) for row, found in zip(rows, ordered, strict=True)]
    cures: dict[tuple[str, str], None] = {(finding.rule, finding.cure): None for finding in ordered if finding.cure}
    lines = [format_table(header, rows)] if rows else []
    for finding in ordered:
        if finding.detail:
            lines += ["", f"{finding.where} ({finding.rule})", *(f"  {line}" for line in finding.detail.splitlines())]
    if cures:
        lines += ["", *(f"{rule}: {cure}" for rule, cure in cures)]
    return "\n".join(lines)
