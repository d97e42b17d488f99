"""A channel in a bucket of S3, or of a server that speaks as it does.

The environment says who asks and where (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_SESSION_TOKEN``,
``AWS_REGION``, ``AWS_ENDPOINT_URL``; the role of a machine does, too), or rattler's file of credentials.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import obstore
from obstore import exceptions
from obstore.store import S3Store

from slipway.base.errors import NetworkError, UsageError
from slipway.base.secrets import names_a_secret, remember_secret
from slipway.channel.credentials import find_credentials
from slipway.channel.stores.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from obstore.store import S3Config

RETRIES = 3
"""How often a request is made again that the server could not answer."""


class BucketStore:
    """``s3://BUCKET/PREFIX``. A file is there whole or not at all; the server compares what is sent by its checksum."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        if not parts.netloc:
            raise UsageError("the address names no bucket", where=address, hint="s3://BUCKET/PATH")
        self.address = f"s3://{parts.netloc}/{parts.path.strip('/')}".rstrip("/")
        for name, value in os.environ.items():
            if name.startswith("AWS_") and names_a_secret(name):
                remember_secret(value, name)
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
        given = find_credentials(self.address).get("S3Credentials", {})
        config: S3Config = {"checksum_algorithm": "SHA256"}
        if endpoint:
            config["endpoint"] = endpoint
        if given:
            config |= {"access_key_id": given["access_key_id"], "secret_access_key": given["secret_access_key"]}
        if given.get("session_token"):
            config["session_token"] = given["session_token"]
        self._store = S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            client_options={"allow_http": endpoint.startswith("http://")},
            retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=60)},
            config=config,
        )

    def read(self, name: str) -> Stored | None:
        """See `ChannelStore`."""
        with self._errors(name):
            try:
                found = obstore.get(self._store, name)
                content = bytes(found.bytes())
            except FileNotFoundError:
                return None
            self._check_size(name, len(content), int(found.meta["size"]))
            return Stored(content, str(found.meta["e_tag"] or ""))

    def hash_file(self, name: str) -> str:
        """See `ChannelStore`."""
        digest, size = hashlib.sha256(), 0
        with self._errors(name):
            found = obstore.get(self._store, name)
            for chunk in found:
                digest.update(chunk)
                size += len(chunk)
            self._check_size(name, size, int(found.meta["size"]))
        return digest.hexdigest()

    def write(self, name: str, content: bytes | Path) -> None:
        """See `ChannelStore`."""
        self._put(name, content, "overwrite")

    def exchange(self, name: str, content: bytes | Path, before: Stored | None) -> bool:
        """See `ChannelStore`."""
        try:
            self._put(name, content, "create" if before is None else {"e_tag": before.version})
        except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
            return False
        return True

    def remove(self, name: str) -> None:
        """See `ChannelStore`."""
        with self._errors(name):
            obstore.delete(self._store, name)

    def _put(self, name: str, content: bytes | Path, mode: Any) -> None:
        with self._errors(name):
            put = obstore.put(self._store, name, content, mode=mode, use_multipart=False)
            there = obstore.head(self._store, name)
            if there["e_tag"] == put["e_tag"]:  # else somebody else has written since
                size = len(content) if isinstance(content, bytes) else content.stat().st_size
                self._check_size(name, int(there["size"]), size)

    def _check_size(self, name: str, actual: int, expected: int) -> None:
        if actual != expected:
            message = f"the server has {actual} bytes of a file of {expected}"
            raise NetworkError(message, where=f"{self.address}/{name}", hint="run the same command again")

    @contextmanager
    def _errors(self, name: str) -> Iterator[None]:
        try:
            yield
        except (exceptions.AlreadyExistsError, exceptions.PreconditionError):
            raise
        except (exceptions.BaseError, OSError, ValueError) as error:
            text = str(error).partition("\n\nDebug source")[0].partition("\n")[0]
            refused = isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError)
            # Without a key, the machine's own service for them is asked (`/latest/api/token`), and there may be none.
            refused = refused or any(one in str(error) for one in ("Token", "InvalidAccessKeyId", "/latest/api/token"))
            hint = "nothing that readers see has changed; run the same command again"
            if refused:
                hint = (
                    "the key or its token (AWS_ACCESS_KEY_ID and others) is missing, wrong, expired, or may not write"
                )
            raise NetworkError(
                f"the bucket did not do it: {text}", where=f"{self.address}/{name}", hint=hint
            ) from error
