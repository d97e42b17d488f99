"""The solver's truth table: what it must choose for requests on hosts of all kinds, as data that people can read.

A table is a YAML file (tests/integration/solver_truth.yaml). `read_table` checks that its rows cover every request on
every host exactly once; `judge` compares one row with what the solver did; `as_markdown` prints it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import yaml
from rattler import BuildString, GenericVirtualPackage, PackageName, Version

from slipway.base.errors import SolveError, UsageError
from slipway.channel.environments import Solution, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path


NO_DRIVER = "none"
ROW_KEYS = frozenset(["request", "driver", "glibc", "blas", "picks", "never", "just_one", "refused", "why"])


@dataclass(frozen=True)
class SimulatedHost:
    """A machine as the solver sees it: the CUDA version of its driver, or None, and its glibc."""

    driver: str | None
    glibc: str

    def __str__(self) -> str:
        return f"glibc {self.glibc}, " + (f"driver for CUDA {self.driver}" if self.driver else "no driver")

    def virtual_packages(self) -> list[GenericVirtualPackage]:
        """Exactly what a Linux machine of this kind would report."""
        facts = [
            ("__unix", "0", "0"),
            ("__linux", "6.1", "0"),
            ("__glibc", self.glibc, "0"),
            ("__archspec", "1", "x86_64_v3"),
            *([("__cuda", self.driver, "0")] if self.driver else []),
        ]
        return [
            GenericVirtualPackage(PackageName(name), Version(version), BuildString(build))
            for name, version, build in facts
        ]


@dataclass(frozen=True)
class SolverCase:
    """One question: a request, in the words of a user, on one host."""

    request: str
    blas: str
    host: SimulatedHost
    specs: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.request}; BLAS {self.blas}; {self.host}"


@dataclass(frozen=True)
class Row:
    """One expectation for several cases.

    Attributes:
        picks: package name to a pattern that its build string or its version matches.
        never: packages that must not be there.
        just_one: packages of which exactly one must be there.
        refused: a word of the solver's reasons, or None where there is a solution.
    """

    cases: tuple[SolverCase, ...]
    picks: Mapping[str, str]
    never: tuple[str, ...]
    just_one: tuple[str, ...]
    refused: str | None
    why: str


@dataclass(frozen=True)
class Table:
    """All rows; together they answer every case once."""

    rows: tuple[Row, ...]


def read_table(path: Path) -> Table:
    """Read and check a table.

    Raises:
        UsageError: an unknown key or value, or a case that no row answers, or two.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    known = {
        "request": list(content["requests"]),
        "driver": [str(driver) for driver in content["hosts"]["driver"]],
        "glibc": [str(version) for version in content["hosts"]["glibc"]],
        "blas": list(content["blas"]),
    }
    rows = tuple(_row(entry, number, known, content, path) for number, entry in enumerate(content["rows"], 1))
    answered: dict[SolverCase, int] = {}
    for number, row in enumerate(rows, 1):
        for case in row.cases:
            if case in answered:
                raise UsageError(f"rows {answered[case]} and {number} both answer: {case}", where=str(path))
            answered[case] = number
    for words in itertools.product(*known.values()):
        case = _case(dict(zip(known, words, strict=True)), content)
        if case not in answered:
            raise UsageError(f"no row answers: {case}", where=str(path))
    return Table(rows)


def _row(
    entry: Mapping[str, Any], number: int, known: Mapping[str, list[str]], content: Mapping[str, Any], path: Path
) -> Row:
    def wrong(problem: str) -> UsageError:
        return UsageError(f"row {number}: {problem}", where=str(path))

    if unknown := set(entry) - ROW_KEYS:
        raise wrong(f"there is no key `{min(unknown)}`")
    if ("refused" in entry) == ("picks" in entry):
        raise wrong("needs either `picks` or `refused`")
    chosen = {key: [str(value) for value in entry.get(key, values)] for key, values in known.items()}
    for key, values in chosen.items():
        if strange := [value for value in values if value not in known[key]]:
            raise wrong(f"`{strange[0]}` is no {key}; there is {', '.join(known[key])}")
    cases = [_case(dict(zip(chosen, words, strict=True)), content) for words in itertools.product(*chosen.values())]
    return Row(
        cases=tuple(cases),
        picks={str(name): str(pattern) for name, pattern in entry.get("picks", {}).items()},
        never=tuple(entry.get("never", ())),
        just_one=tuple(entry.get("just_one", ())),
        refused=entry.get("refused"),
        why=str(entry["why"]),
    )


def _case(words: Mapping[str, str], content: Mapping[str, Any]) -> SolverCase:
    driver = None if words["driver"] == NO_DRIVER else words["driver"]
    specs = (*content["requests"][words["request"]], *content["blas"][words["blas"]])
    return SolverCase(words["request"], words["blas"], SimulatedHost(driver, words["glibc"]), specs)


def judge(row: Row, case: SolverCase, channels: Sequence[str]) -> list[str]:
    """Ask the solver; returns what is not as the row says, as sentences. Empty means that it is."""
    try:
        solution = solve(case.specs, channels, case.host.virtual_packages())
    except SolveError as error:
        if row.refused is None:
            return [f"{case}: refused: {error.detail or error.message}"]
        reasons = str(error.detail or "")
        return [] if row.refused in reasons else [f"{case}: refused, but not for `{row.refused}`: {reasons}"]
    chosen = {package.name: (package.version, package.build) for package in solution.packages}
    if row.refused is not None:
        return [f"{case}: should be refused for `{row.refused}`, but installs {_listed(solution)}"]
    wrong = []
    for name, pattern in row.picks.items():
        if name not in chosen:
            wrong.append(f"{case}: no {name}, only {_listed(solution)}")
        elif not any(fnmatchcase(text, pattern) for text in chosen[name]):
            wrong.append(f"{case}: {name} {' '.join(chosen[name])} is not {pattern}")
    wrong += [f"{case}: {name} {' '.join(chosen[name])} must not be there" for name in row.never if name in chosen]
    found = [name for name in row.just_one if name in chosen]
    if row.just_one and len(found) != 1:
        wrong.append(f"{case}: one of {', '.join(row.just_one)} must be there, not {' and '.join(found) or 'none'}")
    return wrong


def _listed(solution: Solution) -> str:
    return ", ".join(f"{package.name} {package.version} {package.build}" for package in solution.packages)


def as_markdown(table: Table, *, source: str) -> str:
    """The table for people."""
    lines = [
        "# What the solver chooses",
        "",
        f"Written by `slipway ci truth` from `{source}`; a test asks the solver every line of it, on simulated hosts.",
        "",
        "| asked for | BLAS asked for | driver | glibc | result | never there | why |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in table.rows:
        columns = [
            _values(row, lambda case: case.request, table),
            _values(row, lambda case: case.blas, table),
            _values(row, lambda case: case.host.driver or "none", table),
            _values(row, lambda case: case.host.glibc, table),
            f"**refused** (`{row.refused}`)" if row.refused else _picks(row),
            ", ".join(row.never),
            row.why,
        ]
        lines.append("| " + " | ".join(columns) + " |")
    cases = sum(len(row.cases) for row in table.rows)
    return "\n".join([*lines, "", f"{cases} cases in {len(table.rows)} rows.", ""])


def _values(row: Row, value: Callable[[SolverCase], str], table: Table) -> str:
    own = list(dict.fromkeys(value(case) for case in row.cases))
    everything = dict.fromkeys(value(case) for other in table.rows for case in other.cases)
    return "any" if len(own) == len(everything) else ", ".join(own)


def _picks(row: Row) -> str:
    lines = [f"{name} `{pattern}`" for name, pattern in row.picks.items()]
    lines += [f"one of {', '.join(row.just_one)}"] if row.just_one else []
    return "<br>".join(lines)
