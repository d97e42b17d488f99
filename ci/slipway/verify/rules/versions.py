"""The oldest system and compiler runtimes that a package runs with, and what it declares."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slipway.base.events import ERROR
from slipway.channel import rattler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base.events import Finding
    from slipway.verify.policies import Floor
    from slipway.verify.rules.case import Case

_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)*")


def floors(case: Case) -> Iterator[Finding]:
    """The symbol versions that are needed (GLIBC_2.34, GLIBCXX_3.4.30, CXXABI_1.3.13) are in the releases declared."""
    for floor in case.policies.floors.floors:
        declared = _declared(case, floor)
        for entry in case.facts.files:
            needed = _highest_need(entry.elf.versions if entry.elf else {}, floor.prefix)
            if needed is None:
                continue
            symbol, library = needed
            release = _release(floor, symbol)
            need = f"needs {floor.prefix}{symbol} ({floor.package} {release})"
            if release is None:
                cure = "add the release that brought it to ci/slipway/verify/data/floors.yaml"
                message = f"needs {floor.prefix}{symbol} of {library}, which no known release has"
            elif declared is None:
                cure = f"declare it: `{floor.package} >={release}`, as run_exports of the compiler or the sysroot do"
                message = f"{need}, and `{floor.package}` is not declared"
            elif rattler.Version(release) > declared:
                cure = f"build against the older one, or declare `{floor.package} >={release}`"
                message = f"{need}, and {floor.package} {declared} is allowed"
            else:
                continue
            yield case.finding(ERROR, "version-floor", entry.path, message, cure)


def _highest_need(versions: dict[str, tuple[str, ...]], prefix: str) -> tuple[str, str] | None:
    """The highest symbol version of a family, and the library that it is needed from."""
    found = [
        (tuple(map(int, rest.split("."))), rest, library)
        for library, names in versions.items()
        for name in names
        if name.startswith(prefix) and _PLAIN.fullmatch(rest := name.removeprefix(prefix))
    ]
    if not found:
        return None
    _, symbol, library = max(found)
    return symbol, library


def _release(floor: Floor, symbol: str) -> str | None:
    """The first release of the package that has a symbol version; None where the table does not know it."""
    return symbol if floor.releases is None else floor.releases.get(symbol)


def _declared(case: Case, floor: Floor) -> rattler.Version | None:
    """The lowest release of a package that the dependencies let in."""
    bounds = [
        bound
        for spec in (*case.facts.depends, *map(str, case.facts.index.get("constrains") or ()))
        if spec.split()[:1] == [floor.package]
        for bound in [lowest_version(spec)]
    ]
    if not bounds:
        return rattler.Version(floor.unless_declared) if floor.unless_declared else None
    return max(*bounds, rattler.Version(floor.oldest))


def lowest_version(spec: str) -> rattler.Version:
    """The lowest version that a match spec lets in; 0 where it says nothing."""
    words = spec.split()
    alternatives = (words[1] if len(words) > 1 else "").split("|")
    lowest = []
    for alternative in alternatives:
        bound = rattler.Version("0")
        for part in alternative.strip("()").split(","):
            match = re.fullmatch(r"(>=|>|==|=|~=)?([0-9][\w.!+]*?)(?:\.?\*)?", part)
            if match:
                bound = max(bound, rattler.Version(match[2]))
        lowest.append(bound)
    return min(lowest)
