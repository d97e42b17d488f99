"""What nobody may print or write down."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|(API|ACCESS)_?KEY|CONNECTION_STRING|CREDENTIALS?)(_|$)", re.IGNORECASE
)


def names_a_secret(variable: str) -> bool:
    """Whether an environment variable of this name holds what nobody may print: ``GITHUB_TOKEN``, ``DB_PASSWORD``."""
    return _SECRET.search(variable) is not None
