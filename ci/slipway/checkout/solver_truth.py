"""The solver's truth table: what it must choose for requests on hosts of all kinds, as data that people can read.

A table is a YAML file (tests/integration/solver_truth.yaml). `read_table` checks that its rows cover every request on
every host exactly once; `judge` compares one row with what the solver did; `as_markdown` prints it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping  # noqa: TC003 - these types are read when the file is converted to them
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from slipway.base.errors import SolveError
from slipway.base.schema import InvalidValueError, read_document
from slipway.channel import rattler
from slipway.channel.environments import Solution, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


NO_DRIVER = "none"


@dataclass(frozen=True)
class SimulatedHost:
    """A machine as the solver sees it: the CUDA version of its driver, or None, and its glibc."""

    driver: str | None
    glibc: str

    def __str__(self) -> str:
        return f"glibc {self.glibc}, " + (f"driver for CUDA {self.driver}" if self.driver else "no driver")

    def virtual_packages(self) -> list[rattler.GenericVirtualPackage]:
        """Exactly what a Linux machine of this kind would report."""
        facts = [
            ("__unix", "0", "0"),
            ("__linux", "6.1", "0"),
            ("__glibc", self.glibc, "0"),
            ("__archspec", "1", "x86_64_v3"),
            *([("__cuda", self.driver, "0")] if self.driver else []),
        ]
        return [
            rattler.GenericVirtualPackage(
                rattler.PackageName(name), rattler.Version(version), rattler.BuildString(build)
            )
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


@dataclass(frozen=True)
class _HostValues:
    """What hosts differ in."""

    driver: tuple[str, ...]
    glibc: tuple[str, ...]


@dataclass(frozen=True)
class _WrittenRow:
    """A row as it is written: it stands for the product of the first four, of which None means all values."""

    why: str
    request: tuple[str, ...] | None = None
    driver: tuple[str, ...] | None = None
    glibc: tuple[str, ...] | None = None
    blas: tuple[str, ...] | None = None
    picks: Mapping[str, str] | None = None
    never: tuple[str, ...] = ()
    just_one: tuple[str, ...] = ()
    refused: str | None = None

    def __post_init__(self) -> None:
        if (self.refused is None) == (self.picks is None):
            raise InvalidValueError("needs either `picks` or `refused`")


@dataclass(frozen=True)
class _WrittenTable:
    """The whole file; requests and BLAS are specs by the words that rows use for them."""

    hosts: _HostValues
    blas: Mapping[str, tuple[str, ...]]
    requests: Mapping[str, tuple[str, ...]]
    rows: tuple[_WrittenRow, ...]

    def cases(self, row: _WrittenRow | None = None) -> list[SolverCase]:
        """The cases that a row answers; without one, all."""
        known = (tuple(self.requests), self.hosts.driver, self.hosts.glibc, tuple(self.blas))
        chosen = (None,) * 4 if row is None else (row.request, row.driver, row.glibc, row.blas)
        for name, values, choices in zip(("request", "driver", "glibc", "blas"), chosen, known, strict=True):
            if unknown := [value for value in values or () if value not in choices]:
                raise InvalidValueError(f"`{unknown[0]}` is no {name}; there is {', '.join(choices)}", name)
        return [
            SolverCase(
                request,
                blas,
                SimulatedHost(None if driver == NO_DRIVER else driver, glibc),
                (*self.requests[request], *self.blas[blas]),
            )
            for request, driver, glibc, blas in itertools.product(
                *(choices if values is None else values for values, choices in zip(chosen, known, strict=True))
            )
        ]


def read_table(path: Path) -> Table:
    """Read and check a table.

    Raises:
        UsageError: an unknown key or value, or a case that no row answers, or two.
    """
    document = read_document(path)
    table = document.convert(_WrittenTable)
    rows = []
    answered: dict[SolverCase, int] = {}
    for number, row in enumerate(table.rows, 1):
        try:
            cases = tuple(table.cases(row))
        except InvalidValueError as problem:
            raise document.error(f"row {number}: {problem}", ("rows", number - 1, problem.key)) from None
        for case in cases:
            if case in answered:
                raise document.error(f"rows {answered[case]} and {number} both answer: {case}", ("rows", number - 1))
            answered[case] = number
        rows.append(Row(cases, row.picks or {}, row.never, row.just_one, row.refused, row.why))
    for case in table.cases():
        if case not in answered:
            raise document.error(f"no row answers: {case}")
    return Table(tuple(rows))


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
        return [f"{case}: should be refused for `{row.refused}`, but installs {_list_packages(solution)}"]
    wrong = []
    for name, pattern in row.picks.items():
        if name not in chosen:
            wrong.append(f"{case}: no {name}, only {_list_packages(solution)}")
        elif not any(fnmatchcase(text, pattern) for text in chosen[name]):
            wrong.append(f"{case}: {name} {' '.join(chosen[name])} is not {pattern}")
    wrong += [f"{case}: {name} {' '.join(chosen[name])} must not be there" for name in row.never if name in chosen]
    found = [name for name in row.just_one if name in chosen]
    if row.just_one and len(found) != 1:
        wrong.append(f"{case}: one of {', '.join(row.just_one)} must be there, not {' and '.join(found) or 'none'}")
    return wrong


def _list_packages(solution: Solution) -> str:
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
