"""A hash that tells whether a secret changed, and nothing about it to who lacks the key.

The key is a random file in the user's cache. Without it, say on another machine, the same value has another hash: what
is made with a secret is then made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from typing import TYPE_CHECKING

from slipway.base.errors import HostError
from slipway.base.user_folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KEY_FILE = "digest.key"
MARK = "keyed-sha256:"
"""In front of such a hash."""

_KEY_BYTES = 32


def hash_with_key(name: str, value: str, environ: Mapping[str, str] = os.environ) -> str:
    """The hash of `value`, which is known as `name`.

    Raises:
        HostError: the key cannot be read.
    """
    key = _read_key(cache_folder(environ) / KEY_FILE)
    return MARK + hmac.new(key, f"{name}={value}".encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()


def _read_key(path: Path) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        beside = path.with_name(f".{KEY_FILE}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(secrets.token_bytes(_KEY_BYTES))
            os.link(beside, path)  # fails where another process was first: its key counts
        finally:
            beside.unlink()
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise HostError("the key that secrets are hashed with is damaged", where=str(path),
                        hint="remove the file: packages that are made with secrets are made again")  # fmt: skip
    return key
