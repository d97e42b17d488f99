"""One answer to what is a secret, for templates, messages and what packages may not hold."""

from __future__ import annotations

import pytest

from slipway.base.secrets import names_a_secret


@pytest.mark.parametrize(
    "name",
    [
        *("GITHUB_TOKEN", "DB_PASSWORD", "API_KEY", "APIKEY", "SECRET", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"),
        *("SCCACHE_AZURE_CONNECTION_STRING", "GOOGLE_APPLICATION_CREDENTIALS", "token"),
    ],
)
def test_secrets(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize("name", ["TOKENIZERS_PARALLELISM", "PATH", "KEYBOARD", "SECRETARY", "SCCACHE_BUCKET"])
def test_others(name: str) -> None:
    assert not names_a_secret(name)
