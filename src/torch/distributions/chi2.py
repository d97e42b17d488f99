"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from torch.distributions import constraints
from torch.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    arg_constraints: ClassVar[dict[str, Any]] = {"df": constraints.positive}
    _batched = ("concentration", "rate")

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2
