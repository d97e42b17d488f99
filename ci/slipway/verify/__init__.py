"""Proof before publication: opens a package, collects facts (`facts`, `elf`), then judges them (`policies`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.console import format_table
from slipway.verify.facts import PackageFacts, read_package
from slipway.verify.policies import ERROR, Finding, Surroundings, judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Finding", "Surroundings", "format_findings", "has_errors", "shared_files", "verify_package"]


def verify_package(path: Path, surroundings: Surroundings) -> tuple[PackageFacts, list[Finding]]:
    """Open the package at `path` and judge it, beside the libraries that its dependencies bring."""
    facts = read_package(path)
    return facts, list(judge(facts, surroundings))


def shared_files(facts: PackageFacts, others: Mapping[str, frozenset[str]]) -> list[Finding]:
    """Files that another output (package file name -> its paths) installs too: conda would overwrite one of them."""
    paths = {entry.path for entry in facts.files}
    return [
        Finding(ERROR, facts.name, "shared-file", path, f"{other} installs it too")
        for other, other_paths in others.items()
        for path in sorted(paths & other_paths)
    ]


def has_errors(findings: Sequence[Finding]) -> bool:
    """Whether the channel must not take the package."""
    return any(finding.severity == ERROR for finding in findings)


def format_findings(findings: Sequence[Finding]) -> str:
    """A table of findings, errors first."""
    ordered = sorted(findings, key=lambda finding: (finding.severity != ERROR, finding.rule, finding.where))
    rows = [(finding.severity, finding.rule, finding.where, finding.message) for finding in ordered]
    return format_table(("severity", "rule", "where", "finding"), rows)
