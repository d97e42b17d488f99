"""What libraries export, against the last release: those who link to it count on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.events import ERROR, NOTE, WARNING
from slipway.verify.demangle import demangled
from slipway.verify.policies import match_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slipway.base.events import Finding, Severity
    from slipway.verify.elf import Symbol
    from slipway.verify.facts import PackageFacts
    from slipway.verify.policies import Symbols
    from slipway.verify.rules.case import Case

_PRE_RELEASE = re.compile(r"\d[._-]?(a|b|c|rc|alpha|beta|dev|pre)[._-]?\d*", re.IGNORECASE)


@dataclass(frozen=True)
class SymbolDiff:
    """How the interface of one library changed; mangled names. `changed` says how, per name."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, str]

    def summary(self) -> str:
        """``3 added, 1 removed``."""
        counts = (("added", self.added), ("removed", self.removed), ("changed", self.changed))
        return ", ".join(f"{len(names)} {what}" for what, names in counts if names)

    def text(self, shown: int) -> str:
        """One line per name: ``- at::add(...)``; after `shown` lines of a kind, how many follow."""
        lines: list[str] = []
        for sign, names in (("-", self.removed), ("~", tuple(self.changed)), ("+", self.added)):
            readable = sorted((demangled(name), name) for name in names)
            for text, name in readable[:shown]:
                lines.append(f"{sign} {text}" + (f": {self.changed[name]}" if sign == "~" else ""))
            if len(readable) > shown:
                lines.append(f"{sign} ... and {len(readable) - shown} more")
        return "\n".join(lines)


def compare(old: Mapping[str, Symbol], new: Mapping[str, Symbol]) -> SymbolDiff:
    """The difference between two interfaces."""
    changed: dict[str, str] = {}
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name], new[name]
        if before.kind != after.kind:
            changed[name] = f"{before.kind}, now {after.kind}"
        elif before.size != after.size:
            changed[name] = f"{before.size} bytes, now {after.size}"
    return SymbolDiff(tuple(sorted(new.keys() - old.keys())), tuple(sorted(old.keys() - new.keys())), changed)


def exported_symbols(case: Case) -> Iterator[Finding]:
    """No release drops or changes what another release of the same version exports; other changes are shown."""
    previous = case.surroundings.previous if case.surroundings else None
    if previous is None:
        return
    policy = case.policies.symbols
    old, new = interfaces(previous, policy), interfaces(case.facts, policy)
    severity = _severity(str(previous.index.get("version")), str(case.facts.index.get("version")))
    cure = "keep what others link to, or give the package another version, so that they are built again"
    for path in sorted(old):
        if path not in new:
            message = f"{previous.name} has this library, with {len(old[path])} symbols; it is gone"
            yield case.finding(severity, "symbols", path, message, cure)
            continue
        diff = compare(old[path], new[path])
        if diff.removed or diff.changed or diff.added:
            breaks = bool(diff.removed or diff.changed)
            message = f"exports other symbols than in {previous.name}: {diff.summary()}"
            detail = diff.text(policy.shown)
            yield case.finding(
                severity if breaks else NOTE, "symbols", path, message, cure if breaks else "", detail=detail
            )


def interfaces(facts: PackageFacts, policy: Symbols) -> dict[str, dict[str, Symbol]]:
    """Library path -> its public symbols."""
    private = re.compile("|".join(f"(?:{pattern})" for pattern in policy.private) or "(?!)")
    return {
        entry.path: {name: symbol for name, symbol in entry.elf.exports.items() if not private.match(name)}
        for entry in facts.files
        if entry.elf and entry.elf.dynamic and any(match_name(pattern, entry.path) for pattern in policy.libraries)
    }


def _severity(old_version: str, new_version: str) -> Severity:
    """How bad it is to break an interface: a new version may, a pre-release promises little, a release all."""
    if old_version != new_version:
        return NOTE
    return WARNING if _PRE_RELEASE.search(new_version) else ERROR
