"""What a rule is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.events import Finding

if TYPE_CHECKING:
    from slipway.base.events import Severity
    from slipway.verify.facts import PackageFacts
    from slipway.verify.policies import Policies
    from slipway.verify.surroundings import Surroundings


@dataclass(frozen=True)
class Case:
    """One package, what is around it when it runs (None: unknown), and what it is held to."""

    facts: PackageFacts
    surroundings: Surroundings | None
    policies: Policies

    def finding(
        self, severity: Severity, rule: str, where: str, message: str, cure: str, *, detail: str = ""
    ) -> Finding:
        """A finding about this package."""
        return Finding(severity, self.facts.name, rule, where, message, cure, detail)
