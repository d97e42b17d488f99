"""How large a package may become before somebody has to say that it is all right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.events import ERROR
from slipway.base.text import human_size
from slipway.verify.policies import match_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base.events import Finding
    from slipway.verify.rules.case import Case

_CURE = (
    "find what grew (`slipway report` shows it); "
    "if it is worth it, raise the budget in ci/slipway/verify/data/sizes.yaml"
)


def budgets(case: Case) -> Iterator[Finding]:
    """The package file, its files together, and single files stay within the budget for the package's name."""
    budget = next(
        (found for found in case.policies.sizes.budgets if match_name(found.package, case.facts.package)), None
    )
    if budget is None:
        return
    installed = sum(entry.size for entry in case.facts.files)
    for what, size, most in (
        ("the package", case.facts.size, budget.package_bytes),
        ("its files together", installed, budget.installed_bytes),
    ):
        if most is not None and size > most:
            yield case.finding(ERROR, "size", case.facts.name, _message(what, size, most), _CURE)
    for entry in case.facts.files:
        most = next((most for pattern, most in budget.files.items() if match_name(pattern, entry.path)), None)
        if most is not None and entry.size > most:
            yield case.finding(ERROR, "size", entry.path, _message("the file", entry.size, most), _CURE)


def _message(what: str, size: int, most: int) -> str:
    return f"{what} has {human_size(size)}, {human_size(size - most)} more than the budget of {human_size(most)}"
