"""Rattler's file of credentials, which says who asks at channels elsewhere: RATTLER_AUTH_FILE, or the one at home."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from slipway.base.secrets import remember_secret

if TYPE_CHECKING:
    from collections.abc import Mapping

CREDENTIALS = Path("~/.rattler/credentials.json")
"""Where rattler looks if RATTLER_AUTH_FILE names no file."""


def find_credentials(url: str) -> Mapping[str, Any]:
    """What the file has for `url`: by ``SCHEME://HOST``, by the host's name, or as ``*.example.org``."""
    place = os.environ.get("RATTLER_AUTH_FILE") or CREDENTIALS
    parts = urlsplit(url)
    host = parts.hostname or ""
    above = host.split(".")
    names = [f"{parts.scheme}://{host}", host, *("*." + ".".join(above[index:]) for index in range(len(above)))]
    try:
        known = json.loads(Path(place).expanduser().read_text(encoding="utf-8"))
        found: Any = next((known[name] for name in names if name in known), {})
    except (OSError, RuntimeError, ValueError, TypeError):  # none, or no home
        return {}
    for kind in found.values() if isinstance(found, dict) else ():
        for name, value in kind.items() if isinstance(kind, dict) else (("token", kind),):
            remember_secret(str(value), name)
    return found if isinstance(found, dict) else {}


def read_authorization(url: str) -> dict[str, str]:
    """The header that says who asks at `url`, if the file of credentials knows."""
    given = find_credentials(url)
    try:
        if "BearerToken" in given:
            return {"Authorization": f"Bearer {given['BearerToken']}"}
        if "BasicHTTP" in given:
            return basic_authorization(given["BasicHTTP"]["username"], given["BasicHTTP"]["password"])
    except (KeyError, TypeError):
        pass
    return {}


def basic_authorization(user: str, password: str) -> dict[str, str]:
    """The header that says a user and a password."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}
