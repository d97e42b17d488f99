"""What nobody may print or write down: which values are secrets, and texts without them.

Whoever meets a secret says so here (`remember_secret`, `remember_url`), and whatever leaves slipway as text passes
`redact`: errors, logs, journals and so reports, manifests, and what stands beside a package's files. A URL gives its
secrets away by its form, so it is redacted remembered or not.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote, urlsplit

_SECRET = re.compile(
    r"(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|(API|ACCESS)_?KEY|CONNECTION_STRING|CREDENTIALS?)(_|$)", re.IGNORECASE
)

HIDDEN = "***"
"""What stands where a secret was."""

LEAST_LENGTH = 8
"""A shorter value is too much like parts of other words to be looked for in texts. It is hidden beside its name."""

LEAST_WORD = 4
"""Where the name says that it is a secret, a value from here on is hidden as a word of its own, too."""

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>`|\\^{}]+")
_USER = re.compile(r"(?<=://)([^/?#@:]*)(:[^/?#]*)?@")
_CONDA_TOKEN = re.compile(r"(?<=/t/)[^/?#\s]+")
_PARAMETER = re.compile(r"(?P<name>[^?&=#;]+)=(?P<value>[^&#;]*)")
_SECRET_PARAMETER = re.compile(r"token|key|sig|secret|pass|pwd|auth|cred|session|jwt|sas|code", re.IGNORECASE)
_PUBLIC_PARAMETER = re.compile(
    r"md5|sha\d+|file(name)?|name|path|version|ref|branch|tag|format|archive|egg|subdirectory", re.IGNORECASE
)

_known: set[str] = set()
_patterns: dict[tuple[str, str], re.Pattern[str]] = {}


def names_a_secret(variable: str) -> bool:
    """Whether an environment variable of this name holds what nobody may print: ``GITHUB_TOKEN``, ``DB_PASSWORD``."""
    return _SECRET.search(variable) is not None


def remember_secret(value: str, name: str = "") -> None:
    """From now on `redact` hides `value` wherever it stands, if it is long enough to be told from other words.

    Args:
        name: the variable that holds it: beside that it is hidden however short it is (``PIN=12``, ``"PIN": "12"``).
    """
    if value:
        _known.update({value, quote(value, safe=""), value.strip()} - {""})
        _known.update(line.strip() for line in value.splitlines() if len(line.strip()) >= LEAST_LENGTH)
    short = value.strip()
    if name and short and len(short) < LEAST_LENGTH:
        _patterns[name, short] = _short_pattern(name, short)


def _short_pattern(name: str, value: str) -> re.Pattern[str]:
    beside = rf"(?<!\w){re.escape(name)}[\"']?\s*[=:]\s*\\?[\"']?"
    anywhere = r"|(?<!\w)" if names_a_secret(name) and len(value) >= LEAST_WORD else ""
    return re.compile(rf"(?P<before>{beside}{anywhere}){re.escape(value)}(?!\w)")


def remember_url(url: str) -> None:
    """Remember the password, the token and the parameters of `url`, which may come back without the rest of it."""
    parts = urlsplit(url if "://" in url else "")
    found = [parts.password or ""]
    if parts.scheme.startswith("http") and parts.username and not parts.password:
        found.append(parts.username)
    if parts.scheme != "file":
        found += _CONDA_TOKEN.findall(parts.path)
    for text in (parts.query, parts.fragment):
        values = [(match["name"], match["value"]) for match in _PARAMETER.finditer(text)]
        found += [value for name, value in values if not _PUBLIC_PARAMETER.fullmatch(name)]
        if text and not values:
            found.append(text)
    for value in found:
        if len(value) >= LEAST_LENGTH:
            remember_secret(value)
            remember_secret(unquote(value))


def redact(text: str, *, parameters: bool = True) -> str:
    """`text` without remembered secrets, and without the passwords, tokens and parameters of URLs.

    Args:
        parameters: whether every parameter of a URL is hidden, or only those whose name tells that they are secrets:
            texts that others wrote, such as a package's home page, keep the rest.
    """
    for value in sorted((value for value in _known if len(value) >= LEAST_LENGTH and value in text), key=len)[::-1]:
        text = text.replace(value, HIDDEN)
    for (_, value), pattern in _patterns.items():
        if value in text:
            text = pattern.sub(rf"\g<before>{HIDDEN}", text)
    return _URL.sub(lambda found: _redacted_url(found[0], parameters), text) if "://" in text else text


def redact_values(value: Any, *, parameters: bool = True) -> Any:
    """The same for every string in a JSON value; keys stay."""
    if isinstance(value, str):
        return redact(value, parameters=parameters)
    if isinstance(value, dict):
        return {key: redact_values(one, parameters=parameters) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redact_values(one, parameters=parameters) for one in value)
    return value


def _redacted_url(url: str, parameters: bool) -> str:
    is_web = url.lower().startswith("http")

    def hide_user(found: re.Match[str]) -> str:
        if found[2] is not None:
            return f"{found[1]}:{HIDDEN}@"
        return f"{HIDDEN}@" if is_web else found[0]

    def hide_parameter(found: re.Match[str]) -> str:
        hide = parameters or _SECRET_PARAMETER.search(found["name"])
        return f"{found['name']}={HIDDEN}" if hide else found[0]

    url = _USER.sub(hide_user, url, count=1)
    url = url if url.lower().startswith("file:") else _CONDA_TOKEN.sub(HIDDEN, url)
    start = min((at for at in (url.find("?"), url.find("#")) if at >= 0), default=len(url))
    address, rest = url[:start], url[start:]
    if parameters and rest.startswith("?") and "=" not in rest.partition("#")[0]:
        _, mark, fragment = rest.partition("#")
        rest = f"?{HIDDEN}{mark}{fragment}"
    return address + _PARAMETER.sub(hide_parameter, rest)
