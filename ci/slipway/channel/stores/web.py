"""A channel on a web server that takes files by PUT; a WebDAV server makes it safer, and folders where they lack.

Two publishers are told apart by a lock where the server has locks, else by conditional requests (``If-Match``). What
is uploaded is read back. A server of folders (``MKCOL``, ``MOVE``) gets a package under another name first, so that a
cut-off upload is never taken for the package.
"""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from slipway.base.errors import BusyError, ChannelError, NetworkError
from slipway.base.files import hash_file
from slipway.base.http import PAGE_HINT, is_page
from slipway.base.secrets import remember_url
from slipway.channel.credentials import basic_authorization, read_authorization
from slipway.channel.stores.asking import TRIES, Server, ServerAnswer
from slipway.channel.stores.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LOCK_SECONDS = 30
"""When the server lets go of a lock whose owner is gone."""

_LOCK = b"""<?xml version="1.0" encoding="utf-8"?>
<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>"""


class WebStore:
    """``http(s)://HOST/PATH``; the address or rattler's file of credentials say who asks.

    Args:
        alone: whether nobody else publishes there meanwhile.
    """

    def __init__(self, address: str, *, alone: bool = False) -> None:
        remember_url(address)
        parts = urlsplit(address)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")
        user = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        self._server = Server(basic_authorization(*user) if user else read_authorization(address))
        self._alone = alone
        self._made: set[str] = set()

    def read(self, name: str) -> Stored | None:
        """See `ChannelStore`."""
        answer = self._ask("GET", name, accept=(200, 404), keep=True)
        if is_page(answer.content) and not name.endswith(".html"):
            raise NetworkError(
                "the server answers with a page instead of the file", where=self._url(name), hint=PAGE_HINT
            )
        return Stored(answer.content, answer.headers.get("ETag", "")) if answer.status == 200 else None

    def hash_file(self, name: str) -> str:
        """See `ChannelStore`."""
        return self._ask("GET", name, accept=(200,)).sha256

    def write(self, name: str, content: bytes | Path) -> None:
        """See `ChannelStore`."""
        for _ in range(TRIES):  # somebody else may write it at the same time
            self._put(name, content)
            if self._is_there(name, content):
                return
        raise NetworkError(
            "the server did not keep what it was given: what comes back has other bytes",
            where=self._url(name),
            hint="run the same command again; if that does not help, ask who runs the server",
        )

    def exchange(self, name: str, content: bytes | Path, before: Stored | None) -> bool:
        """See `ChannelStore`."""
        if before is None and not isinstance(content, bytes) and self._has_folders:
            return self._move_there(name, content)
        if self._has_locks:
            with self._lock(f"{name}.lock"):
                now = self.read(name)
                if (now and now.content) != (before and before.content):
                    return False
                self.write(name, content)
                return True
        if self._alone:
            if (before is None) != (self.read(name) is None):
                return False
            self.write(name, content)
            return True
        if not self._heeds_conditions:
            raise ChannelError(
                "the server cannot tell two publishers apart: it has no locks, and heeds no conditions of requests",
                where=self.address,
                hint="if nobody else publishes there at the same time, say so: --alone",
            )
        condition = {"If-None-Match": "*"} if before is None else {"If-Match": before.version}
        # What comes back is another one where somebody else exchanged it since, or the server lost a part.
        return self._put(name, content, condition) and self._is_there(name, content)

    def remove(self, name: str) -> None:
        """See `ChannelStore`."""
        self._ask("DELETE", name, accept=(200, 202, 204, 404))

    @cached_property
    def _abilities(self) -> tuple[str, str]:
        """What the server says of itself: classes of WebDAV, and methods."""
        url = f"{self.address}/"
        while True:
            answer = self._server.ask("OPTIONS", url, accept=(200, 204, 404, 405, 501))
            above = url.rstrip("/").rpartition("/")[0] + "/"
            if answer.status != 404 or above.endswith(
                "://"
            ):  # what is not there yet says nothing; the folder above does
                break
            url = above
        return answer.headers.get("DAV", ""), answer.headers.get("Allow", "")

    @property
    def _has_locks(self) -> bool:
        return "2" in re.split(r"[\s,]+", self._abilities[0])

    @property
    def _has_folders(self) -> bool:
        return "1" in re.split(r"[\s,]+", self._abilities[0])

    @cached_property
    def _heeds_conditions(self) -> bool:
        probe = f".probe-{uuid.uuid4().hex}"
        self._put(probe, b"1")
        heeds = not self._put(probe, b"1", {"If-None-Match": "*"}) and not self._put(probe, b"1", {"If-Match": '"0"'})
        self.remove(probe)
        return heeds

    def _move_there(self, name: str, content: Path) -> bool:
        """Upload under another name, see that it is whole, and rename; whether the name was free."""
        folder, _, file = name.rpartition("/")
        beside = f"{folder}/.{file}.{uuid.uuid4().hex}.part".lstrip("/")
        try:
            self.write(beside, content)
            headers = {"Destination": self._url(name), "Overwrite": "F"}
            return self._ask("MOVE", beside, headers=headers, accept=(201, 204, 412)).status != 412
        finally:
            self.remove(beside)

    def _put(self, name: str, content: bytes | Path, condition: Mapping[str, str] | None = None) -> bool:
        """Whether the server took it; False where it is not what the condition says."""
        self._make_folders(name)
        answer = self._ask("PUT", name, body=content, headers=condition, accept=(200, 201, 204, 412))
        return answer.status != 412

    def _make_folders(self, name: str) -> None:
        """Make the folders on the way to a file, from the server's root on; most are there, some are not ours.

        Before anything is sent: a server that misses one breaks off in the middle of a file.
        """
        root = urlsplit(self._url(name))
        folders = root.path.strip("/").split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            path = "/" + "/".join(folders[:depth])
            if self._has_folders and path not in self._made:
                self._made.add(path)
                self._server.ask_once("MKCOL", root._replace(path=path).geturl(), None, self._server.headers)

    def _is_there(self, name: str, content: bytes | Path) -> bool:
        """Whether what was put there comes back."""
        expected = hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else hash_file(content)
        return self.hash_file(name) == expected

    @contextmanager
    def _lock(self, name: str) -> Iterator[None]:
        deadline = time.monotonic() + 2 * LOCK_SECONDS
        headers = {"Timeout": f"Second-{LOCK_SECONDS}", "Depth": "0", "Content-Type": "application/xml"}
        self._make_folders(name)
        while True:
            answer = self._ask("LOCK", name, body=_LOCK, headers=headers, accept=(200, 201, 423))
            if answer.status < 300:
                break
            if time.monotonic() > deadline:
                raise BusyError("somebody else publishes there, and does not come to an end", where=self._url(name))
            time.sleep(0.2)
        token = answer.headers.get("Lock-Token", "")
        try:
            yield
        finally:
            self._ask("DELETE", name, headers={"If": f"({token})"}, accept=(200, 204, 404))

    def _url(self, name: str) -> str:
        return f"{self.address}/{quote(name, safe='/+!=')}"

    def _ask(
        self,
        method: str,
        name: str,
        *,
        accept: tuple[int, ...],
        body: bytes | Path | None = None,
        headers: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> ServerAnswer:
        return self._server.ask(method, self._url(name), accept=accept, body=body, headers=headers, keep=keep)
