"""One answer to what is a secret, for templates, messages and what packages may not hold."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from slipway.base.errors import SlipwayError
from slipway.base.secrets import names_a_secret, redact, redact_values, remember_secret, remember_url


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


SECRET = "PLANTED-s3cret/+="


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:{}@host/a.tar.gz", "https://user:***@host/a.tar.gz"),
        ("https://{}@host/a.git", "https://***@host/a.git"),
        ("s3://id:{}@bucket/a", "s3://id:***@bucket/a"),
        ("postgres+ssl://id:{}@host", "postgres+ssl://id:***@host"),
        ("git+ssh://git@host/a?key={}", "git+ssh://git@host/a?key=***"),
        ("https://host/a?token={}&page=2", "https://host/a?token=***&page=***"),
        ("https://host/a?{}", "https://host/a?***"),
        ("https://host/a?X-Amz-Signature={}#access_token={}", "https://host/a?X-Amz-Signature=***#access_token=***"),
        ("https://host/t/{}/channel/linux-64", "https://host/t/***/channel/linux-64"),
        ("file:///home/t/projects/channel", "file:///home/t/projects/channel"),
        ("ssh://git@host/a", "ssh://git@host/a"),
        ("https://host/page#section", "https://host/page#section"),
    ],
)
def test_urls_lose_their_secrets_wherever_they_stand(url: str, shown: str) -> None:
    value = quote(SECRET, safe="")
    text = f'see "{url.format(value, value)}", or not'
    assert redact(text) == f'see "{shown}", or not'


def test_values_of_a_url_are_hidden_apart_from_it() -> None:
    remember_url("https://me:pass-word-1@host/t/conda-token/x?anything=query-value&sha256=0123456789#fragment-value")
    for value in ("pass-word-1", "conda-token", "query-value", "fragment-value"):
        assert redact(f"it says {value}.") == "it says ***."
    remember_url("file:///home/t/my-projects/channel")
    assert redact("0123456789 and me, my-projects") == "0123456789 and me, my-projects"


def test_values_are_hidden_once_remembered() -> None:
    assert redact(SECRET) == SECRET
    remember_secret(SECRET)
    remember_secret("1")
    assert redact(f"<{SECRET}> {quote(SECRET, safe='')} 1") == "<***> *** 1"
    assert redact_values({"a": [SECRET, 1, (f"x{SECRET}",)]}) == {"a": ["***", 1, ("x***",)]}


@pytest.mark.parametrize(
    ("name", "value", "text", "shown"),
    [
        ("PIN", "12", "export PIN=12; [12/120] steps", "export PIN=***; [12/120] steps"),
        ("PIN", "12", '{"PIN": "12", "pin": 12}', '{"PIN": "***", "pin": 12}'),
        ("PIN", "12", "PIN: '12' MY_PIN=12 PIN=123", "PIN: '***' MY_PIN=12 PIN=123"),
        ("MODE", "fast", "MODE=fast is fast", "MODE=*** is fast"),
        ("DB_PASSWORD", "s3kr", "it is s3kr, not s3krets", "it is ***, not s3krets"),
        ("DB_PASSWORD", "abc", "abc DB_PASSWORD=abc", "abc DB_PASSWORD=***"),
        ("A_TOKEN", "a.*b", "axxb a.*b", "axxb ***"),
    ],
)
def test_short_values_are_hidden_beside_their_names(name: str, value: str, text: str, shown: str) -> None:
    remember_secret(value, name)
    assert redact(text) == shown


def test_texts_of_others_keep_harmless_parameters() -> None:
    text = "https://host/?page=2&api_token=PLANTED#x=1"
    assert redact(text, parameters=False) == "https://host/?page=2&api_token=***#x=1"


def test_errors_hold_no_secrets() -> None:
    remember_secret(SECRET)
    error = SlipwayError(SECRET, where=f"https://a:b@host/{SECRET}", hint=SECRET, detail=f"{SECRET}\n{SECRET}")
    for text in (str(error), error.message, error.where, error.hint, error.detail):
        assert text is not None
        assert SECRET not in text
        assert "***" in text
