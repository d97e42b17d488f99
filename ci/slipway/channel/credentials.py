"""Rattler's file of credentials, which says who asks at channels elsewhere: RATTLER_AUTH_FILE, or the one at home."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from slipway.base.errors import HostError
from slipway.base.secrets import remember_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

CREDENTIALS = Path("~/.rattler/credentials.json")
"""Where rattler looks if RATTLER_AUTH_FILE names no file."""


def find_credentials(url: str) -> Mapping[str, Any]:
    """What the file has for `url`: by ``SCHEME://HOST``, by the host's name, or as ``*.example.org``.

    Raises:
        HostError: it cannot be read. One that is not there has nothing.
    """
    place = _place()
    parts = urlsplit(url)
    host = parts.hostname or ""
    above = host.split(".")
    names = [f"{parts.scheme}://{host}", host, *("*." + ".".join(above[index:]) for index in range(len(above)))]
    try:
        known = json.loads(Path(place).expanduser().read_bytes())
    except (FileNotFoundError, RuntimeError):  # none, or no home
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(getattr(error, "strerror", None) or "it is no JSON") from error
    if not isinstance(known, dict):
        raise _unreadable("it holds no names of hosts")
    found: Any = next((known[name] for name in names if name in known), {})
    if not isinstance(found, dict):
        raise _unreadable(f"what it has for {host} is no entry of rattler's")
    for kind in found.values():
        for name, value in kind.items() if isinstance(kind, dict) else (("token", kind),):
            remember_secret(str(value), name)
    return found


def read_authorization(url: str) -> dict[str, str]:
    """The header that says who asks at `url`, if the file of credentials knows.

    Raises:
        HostError: that file cannot be read.
    """
    given = find_credentials(url)
    if "BearerToken" in given:
        return {"Authorization": f"Bearer {given['BearerToken']}"}
    if "BasicHTTP" not in given:
        return {}
    try:
        return basic_authorization(given["BasicHTTP"]["username"], given["BasicHTTP"]["password"])
    except (KeyError, TypeError):
        raise _unreadable("an entry BasicHTTP has no username, or no password") from None


def basic_authorization(user: str, password: str) -> dict[str, str]:
    """The header that says a user and a password."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def _place() -> str:
    return os.environ.get("RATTLER_AUTH_FILE") or str(CREDENTIALS)


def _unreadable(problem: str) -> HostError:
    return HostError(f"the file of credentials cannot be read: {problem}", where=_place())
