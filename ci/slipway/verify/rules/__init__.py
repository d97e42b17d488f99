"""The rules: each looks at the facts about one package, what is around it, and one policy, and yields findings.

A rule is a generator with a docstring that says what it holds a package to; `RULES` is the list of them. Those that
need to know the package's environment yield nothing where it is unknown (`Case.surroundings` is None).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.verify.rules import contents, cuda, linking, python, sizes, symbols, versions
from slipway.verify.rules.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from slipway.base.events import Finding

__all__ = ["RULES", "Case", "judge"]

Rule = "Callable[[Case], Iterator[Finding]]"

RULES: Mapping[str, Callable[[Case], Iterator[Finding]]] = {
    "paths": contents.paths,
    "names": contents.names,
    "modes": contents.modes,
    "broken-elf": contents.broken_elf,
    "build-path": contents.build_paths,
    "user-name": contents.user_names,
    "secret": contents.secrets,
    "licence": contents.licences,
    "run-path": linking.run_paths,
    "linking": linking.needed_libraries,
    "undeclared": linking.undeclared,
    "unused": linking.unused,
    "openmp": linking.openmp,
    "version-floor": versions.floors,
    "device-code": cuda.device_code,
    "symbols": symbols.exported_symbols,
    "size": sizes.budgets,
    "python-metadata": python.metadata,
    "python-stubs": python.stubs,
    "python-version": python.other_pythons,
}
"""Name, as findings give it -> rule."""


def judge(case: Case) -> Iterator[Finding]:
    """Every finding about one package."""
    for name, rule in RULES.items():
        for finding in rule(case):
            assert finding.rule == name, f"`{name}` calls itself `{finding.rule}`"
            yield finding
