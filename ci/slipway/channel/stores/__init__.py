"""Where a published channel lies: a folder, a bucket, a server. Each kind reads, writes and exchanges files by name.

`open_store` finds the kind by the address. What can be done at once differs: a folder changes as a whole; elsewhere
each file changes alone, and `slipway.channel.publishing` writes them in an order that readers can live with.
"""

from __future__ import annotations

import difflib
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from slipway.base.errors import UsageError
from slipway.channel.stores import oci, s3, web
from slipway.channel.stores.folder import FolderStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slipway.channel.stores.stored import Stored

SCHEMES = ("file", "s3", "http", "https", "oci", "oci+http")
"""What addresses begin with that `open_store` knows; a path is as good as ``file``."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
"""What a path does not begin with, unless it says ``./`` before; one letter is a drive."""


class ChannelStore(Protocol):
    """Files by name (``linux-64/repodata.json``).

    All methods raise NetworkError where a server cannot be reached, refuses, or does not keep what it was given.
    """

    address: str

    def read(self, name: str) -> Stored | None:
        """A file as it is now; None if there is none."""

    def hash_file(self, name: str) -> str:
        """The sha256 of a file that is there, in hex."""

    def write(self, name: str, content: bytes | Path) -> None:
        """Put a file there, whatever was there before."""

    def exchange(self, name: str, content: bytes | Path, before: Stored | None) -> bool:
        """Put a file there if what is there is still `before` (None: nothing); whether it was so."""

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""


def scheme_of(address: str) -> str:
    """The scheme of an address (``s3`` of ``s3://...``, and of ``s3:...`` as well); ``file`` for a path."""
    found = _SCHEME.match(address)
    return found[1].lower() if found else "file"


def check_scheme(address: str, known: Sequence[str] = SCHEMES) -> None:
    """See to it that an address is one, and of a known kind.

    Raises:
        UsageError: it is not.
    """
    try:
        if not address.strip():
            raise ValueError("it is empty")
        urlsplit(address).port  # noqa: B018 - looked at, so that nonsense shows here
        address.encode()
    except ValueError as error:
        raise UsageError(f"this is no address of a channel: {error}", where=address) from error
    if (scheme := scheme_of(address)) not in known:
        close = difflib.get_close_matches(scheme, known, n=1)
        listed = ", ".join(f"{one}://" for one in known)
        hint = f"did you mean `{close[0]}:`?" if close else f"known: a folder, {listed}"
        raise UsageError(f"nothing can be published to `{scheme}:`", where=address, hint=hint)


@contextmanager
def open_store(address: str, *, alone: bool = False) -> Iterator[ChannelStore]:
    """The store at `address`; changes of a folder take place when the block ends without an error.

    Args:
        alone: nobody else changes it meanwhile, so a server that cannot tell two writers apart will do.

    Raises:
        UsageError: the address is of no kind that is known.
    """
    store = find_store(address, alone=alone)
    if isinstance(store, FolderStore):
        with store.changing():
            yield store
    else:
        yield store


def find_store(address: str, *, alone: bool = False) -> ChannelStore:
    """The same, to be read; a folder may change meanwhile.

    Raises:
        UsageError: the address is of no kind that is known.
    """
    check_scheme(address)
    scheme = scheme_of(address)
    if scheme == "s3":
        return s3.BucketStore(address)
    if scheme in ("oci", "oci+http"):
        return oci.RegistryStore(address)
    if scheme in ("http", "https"):
        return web.WebStore(address, alone=alone)
    return FolderStore(Path(unquote(urlsplit(address).path) if _SCHEME.match(address) else address).resolve())
