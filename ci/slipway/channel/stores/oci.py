"""A channel in a registry of containers (OCI), as conda's tools read it there.

A package is a repository of its own, CHANNEL/SUBDIR/NAME, and a tag, VERSION-BUILD; a subdir's index is
CHANNEL/SUBDIR/repodata.json, with its forms as layers. Everything else lies in CHANNEL/files. A registry compares what
it gets by its sha256.

It has no conditional writes: the catalogue is read once more just before it is written, and again after the indexes
are. Only a publisher that is held up for long between reading and writing could lose what another one wrote meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from slipway.base.errors import NetworkError, UsageError
from slipway.base.files import hash_file
from slipway.base.http import PAGE_HINT, is_same_server
from slipway.base.json_file import parse_json
from slipway.base.secrets import remember_secret, remember_url
from slipway.channel.credentials import basic_authorization, read_authorization
from slipway.channel.stores.asking import TRIES, Server, ServerAnswer
from slipway.channel.stores.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
INDEXES = {
    "repodata.json": "application/vnd.conda.repodata.v1+json",
    "repodata.json.zst": "application/vnd.conda.repodata.v1+json+zst",
}
PACKAGES = {".conda": "application/vnd.conda.package.v2", ".tar.bz2": "application/vnd.conda.package.v1"}
ANY = "application/octet-stream"
TITLE = "org.opencontainers.image.title"

_PACKAGE = re.compile(r"[^/]+/(?P<name>.+)-(?P<tag>[^-/]+-[^-/]+)(?P<kind>\.conda|\.tar\.bz2)")
_SPELLED = {"+": "__p__", "!": "__e__", "=": "__eq__", "/": "__s__"}
_LONGEST_TAG = 128


class RegistryStore:
    """``oci://HOST/CHANNEL``; ``oci+http://`` is for registries without TLS."""

    def __init__(self, address: str) -> None:
        remember_url(address)
        parts = urlsplit(address)
        channel = parts.path.strip("/")
        if not parts.hostname or not channel:
            raise UsageError("the address names no channel of a registry", where=address, hint="oci://HOST/CHANNEL")
        place = parts.netloc.rpartition("@")[2]
        self.address = f"{parts.scheme}://{place}/{channel}"
        self._root = f"{'http' if parts.scheme == 'oci+http' else 'https'}://{place}/v2"
        self._channel = channel
        user = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        self._known = basic_authorization(*user) if user else read_authorization(self.address)
        self._server = Server({})

    def read(self, name: str) -> Stored | None:
        """See `ChannelStore`."""
        repository, tag, kind = locate(self._channel, name)
        layer = find_layer(self._manifest(repository, tag), kind)
        if layer is None:
            return None
        url = f"{self._root}/{repository}/blobs/{layer['digest']}"
        answer = self._ask("GET", url, repository, accept=(200,), keep=True)
        if f"sha256:{answer.sha256}" != layer["digest"]:
            raise NetworkError("the registry gave other bytes than it promised", where=f"{self.address}/{name}")
        return Stored(answer.content, str(layer["digest"]))

    def hash_file(self, name: str) -> str:
        """See `ChannelStore`; what the registry gives is read, whatever it says of it."""
        repository, tag, kind = locate(self._channel, name)
        layer = find_layer(self._manifest(repository, tag), kind)
        if layer is None:
            return ""
        return self._ask("GET", f"{self._root}/{repository}/blobs/{layer['digest']}", repository, accept=(200,)).sha256

    def write(self, name: str, content: bytes | Path) -> None:
        """See `ChannelStore`."""
        repository, tag, kind = locate(self._channel, name)
        layer = self._upload(repository, content, kind, name)
        self._tag(repository, tag, layer)

    def exchange(self, name: str, content: bytes | Path, before: Stored | None) -> bool:
        """See `ChannelStore`; what is compared is read after everything was uploaded."""
        repository, tag, kind = locate(self._channel, name)
        layer = self._upload(repository, content, kind, name)
        there = (find_layer(self._manifest(repository, tag), kind) or {}).get("digest")
        if there != (f"sha256:{hashlib.sha256(before.content).hexdigest()}" if before is not None else None):
            return False
        self._tag(repository, tag, layer)
        return True

    def remove(self, name: str) -> None:
        """See `ChannelStore`."""
        repository, tag, _ = locate(self._channel, name)
        url = f"{self._root}/{repository}/manifests"
        found = self._ask("GET", f"{url}/{tag}", repository, accept=(200, 404), headers={"Accept": MANIFEST})
        if found.status == 200:
            self._ask("DELETE", f"{url}/sha256:{found.sha256}", repository, accept=(200, 202, 404))

    def _manifest(self, repository: str, tag: str) -> dict[str, Any]:
        url = f"{self._root}/{repository}/manifests/{tag}"
        answer = self._ask("GET", url, repository, accept=(200, 404), headers={"Accept": MANIFEST}, keep=True)
        found = parse_json(answer.content) if answer.status == 200 else {}
        if not isinstance(found, dict):
            raise NetworkError("the registry answers with something else than a manifest", where=url, hint=PAGE_HINT)
        return found

    def _upload(self, repository: str, content: bytes | Path, kind: str, title: str) -> dict[str, Any]:
        """Upload a blob, if it is not there; the layer that names it."""
        if isinstance(content, bytes):
            sha256, size = hashlib.sha256(content).hexdigest(), len(content)
        else:
            sha256, size = hash_file(content), content.stat().st_size
        digest = f"sha256:{sha256}"
        blobs = f"{self._root}/{repository}/blobs"
        if self._ask("HEAD", f"{blobs}/{digest}", repository, accept=(200, 404)).status == 404:
            begun = self._ask("POST", f"{blobs}/uploads/", repository, accept=(202,), body=b"")
            place = urljoin(f"{blobs}/", begun.headers.get("Location", ""))
            place += f"{'&' if '?' in place else '?'}digest={quote(digest)}"
            if is_same_server(blobs, place):
                self._ask("PUT", place, repository, accept=(201,), body=content)
            else:  # a store of its own, whose address says what it has to know
                Server({}).ask("PUT", place, accept=(201,), body=content)
        return {"mediaType": kind, "digest": digest, "size": size, "annotations": {TITLE: title.rpartition("/")[2]}}

    def _tag(self, repository: str, tag: str, layer: Mapping[str, Any]) -> None:
        """Let a tag hold a layer, beside those of other kinds that it has."""
        there = self._manifest(repository, tag).get("layers", [])
        others = [one for one in there if one["mediaType"] != layer["mediaType"]]
        config = self._upload(repository, b"{}", EMPTY, "config")
        del config["annotations"]
        layers = sorted([*others, layer], key=lambda one: str(one["mediaType"]))
        document = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers}
        url, kind = f"{self._root}/{repository}/manifests/{tag}", {"Content-Type": MANIFEST}
        for attempt in range(TRIES):
            # 400: a registry may not know a layer yet that somebody else uploads at the same time.
            accept = (200, 201) if attempt == TRIES - 1 else (200, 201, 400)
            answer = self._ask("PUT", url, repository, accept=accept, headers=kind, body=json.dumps(document).encode())
            if answer.status != 400:
                break
            time.sleep(0.5)

    def _ask(
        self,
        method: str,
        url: str,
        repository: str,
        *,
        accept: tuple[int, ...],
        body: bytes | Path | None = None,
        headers: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> ServerAnswer:
        """Ask, and say who asks if the registry wants to know."""
        given = {"body": body, "headers": headers, "keep": keep}
        answer = self._server.ask(method, url, accept=(*accept, 401), **given)  # type: ignore[arg-type]
        if answer.status != 401:
            return answer
        self._server.headers.update(self._authorize(answer.headers.get("WWW-Authenticate", ""), repository))
        return self._server.ask(method, url, accept=accept, **given)  # type: ignore[arg-type]

    def _authorize(self, challenge: str, repository: str) -> dict[str, str]:
        """What the registry wants to hear: a user and a password, or a token that somebody else gives for them."""
        kind, _, rest = challenge.partition(" ")
        if kind.lower() != "bearer":
            return self._known
        told = dict(re.findall(r'(\w+)="([^"]*)"', rest))
        scope = f"repository:{repository}:pull,push,delete"
        asked = f"service={quote(told.get('service', ''))}&scope={quote(told.get('scope') or scope)}"
        realm = told.get("realm", "")
        url = f"{realm}{'&' if '?' in realm else '?'}{asked}"
        answer = Server(self._known_at(realm)).ask("GET", url, accept=(200,), keep=True)
        document = parse_json(answer.content)
        token = (document.get("token") or document.get("access_token")) if isinstance(document, dict) else None
        if not isinstance(token, str):
            raise NetworkError("the registry's place for tokens gave none", where=realm)
        remember_secret(token, "token")
        return {"Authorization": f"Bearer {token}"}

    def _known_at(self, realm: str) -> dict[str, str]:
        """What the place that gives tokens is told of who asks.

        Any server can name any place. Docker tells each of them the password; here it goes to the registry's own host,
        or behind TLS to one of its domain, as auth.docker.io is of registry-1.docker.io.
        """
        place = urlsplit(realm)
        if place.scheme not in ("https", urlsplit(self._root).scheme) or not place.hostname:
            raise NetworkError("the registry names no place that gives tokens", where=self.address)
        if not self._known or is_same_server(self._root, realm):
            return self._known
        if place.scheme == "https" and _domain(place.hostname) == _domain(urlsplit(self._root).hostname or ""):
            return self._known
        if given := read_authorization(realm):
            return given
        raise NetworkError(
            f"the registry wants your password to be told to another server, {place.netloc}",
            where=self.address,
            hint=f"if that is right, say who you are there: an entry for {place.hostname} in the file of credentials "
            "(RATTLER_AUTH_FILE) is what it is told",
        )


def _domain(host: str) -> str:
    """The domain that somebody has registered, roughly: two labels, three below one as co.uk; a number is its own."""
    labels = host.split(".")
    if ":" in host or labels[-1].isdecimal():
        return host
    below_country = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3
    return ".".join(labels[-3 if below_country else -2 :])


def locate(channel: str, name: str) -> tuple[str, str, str]:
    """Repository, tag and kind of the layer of a channel's file."""
    subdir, _, file = name.rpartition("/")
    if file in INDEXES:
        return f"{channel}/{subdir}/repodata.json", "latest", INDEXES[file]
    found = _PACKAGE.fullmatch(name)
    if found is not None:
        package = f"zzz{found['name']}" if found["name"].startswith("_") else found["name"]
        return f"{channel}/{subdir}/{package}", _spell(found["tag"]), PACKAGES[found["kind"]]
    return f"{channel}/files", _spell(name), ANY


def find_layer(manifest: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """The layer of a kind."""
    return next((one for one in manifest.get("layers", []) if one.get("mediaType") == kind), None)


def _spell(text: str) -> str:
    """A text as a tag: what tags cannot hold is spelled out, and one that is too long is its hash."""
    spelled = "".join(_SPELLED.get(letter, letter) for letter in text)
    return spelled if len(spelled) <= _LONGEST_TAG else hashlib.sha256(text.encode()).hexdigest()
