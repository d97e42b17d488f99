"""Files by their address, with mirrors: downloaded once, known by their sha256, kept in the cache."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import urllib.error
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from slipway.base.cache_room import mark_used
from slipway.base.errors import DiskFullError, IntegrityError, NetworkError, RecipeError, SlipwayError
from slipway.base.files import copy_file, hash_file, is_disk_full
from slipway.base.http import DOWNLOAD_ERRORS, ServerLimitError, open_url, read_chunks, read_limits

if TYPE_CHECKING:
    from slipway.model import Source

TRIES = 3
"""How often an address is asked that answers with an error of its own, or stops in the middle."""


class _RefusedError(NetworkError):
    """The server understood and said no: asking again is no use."""


@dataclass(frozen=True)
class Fetched:
    """A file in the cache, and the name that the recipe knows it by."""

    path: Path
    name: str
    sha256: str


def file_name(source: Source) -> str:
    """`fn`, or the last part of the address."""
    name = source.fn or Path(unquote(urlsplit(source.url or "").path)).name
    if not name or "/" in name or name in (".", ".."):
        raise RecipeError(f"`{source.url}` names no file", hint="give its name as `fn`")
    return name


def fetch(source: Source, recipe: Path, cache: Path, *, offline: bool) -> Fetched:
    """The file of `source`, from the cache or from the first of its addresses that has it.

    Raises:
        IntegrityError: the file is another one than the recipe promises.
        NetworkError: no address gives it.
        RecipeError: it is a file of this machine that does not exist.
    """
    name = file_name(source)
    if source.sha256 is not None:
        found = _find(cache, source.sha256.lower(), name)
        if found is not None:
            return found
    if offline and not all(map(_is_local, (source.url or "", *source.mirrors))):
        raise NetworkError(
            "not in the cache, and `--offline` forbids to fetch it", where=source.url,
            hint="run the command without `--offline` once"
            + ("" if source.sha256 else "; what has no `sha256` is looked at each time"),
        )  # fmt: skip
    failures: list[SlipwayError] = []
    for address in (source.url or "", *source.mirrors):
        try:
            return _download(_absolute(address, recipe), name, source, cache)
        except (IntegrityError, NetworkError, RecipeError) as error:
            failures.append(error)
    raise next((error for error in failures if isinstance(error, IntegrityError)), failures[0])


def kept(source: Source, cache: Path) -> Fetched:
    """What `fetch` has put into the cache for `source`, whose sha256 is known.

    Raises:
        IntegrityError: it has gone since.
    """
    name = file_name(source)
    found = _find(cache, (source.sha256 or "").lower(), name)
    if found is None:
        raise IntegrityError("a source has vanished from the cache, or was damaged there", where=str(cache / "sources"),
                             hint="run the same command again: it is fetched anew")  # fmt: skip
    return found


def copy_kept(source: Source, cache: Path, target: Path) -> None:
    """Make the cache `target` hold the file of `source`, which the cache `cache` has; see `kept`."""
    found = kept(source, cache)
    if _find(target, found.sha256, found.name) is None:
        copy_file(found.path, target / "sources" / found.sha256)


def place(fetched: Fetched, target: Path) -> None:
    """A copy of the file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(fetched.path, target)


def _find(cache: Path, sha256: str, name: str) -> Fetched | None:
    path = cache / "sources" / sha256
    try:
        actual = hash_file(path)
    except FileNotFoundError:
        return None
    if actual != sha256:  # damaged: it is fetched again
        path.unlink()
        return None
    mark_used(path)
    return Fetched(path, name, sha256)


def _is_local(address: str) -> bool:
    return "://" not in address or address.startswith("file://")


def _absolute(address: str, recipe: Path) -> str:
    return address if "://" in address else (recipe / Path(address).expanduser()).resolve().as_uri()


def _download(address: str, name: str, source: Source, cache: Path) -> Fetched:
    folder = cache / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".", ignore_cleanup_errors=True) as scratch:
        partial = Path(scratch) / "partial"
        for attempt in range(TRIES):
            try:
                _transfer(address, partial)
                break
            except NetworkError as error:
                if attempt == TRIES - 1 or isinstance(error, _RefusedError | ServerLimitError):
                    raise
        content = partial.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        for kind, promised in (("sha256", source.sha256), ("sha1", source.sha1), ("md5", source.md5)):
            actual = hashlib.new(kind, content, usedforsecurity=False).hexdigest()
            if promised is not None and promised.lower() != actual:
                raise IntegrityError(
                    f"a file is not the one that the recipe promises: {kind} {actual} instead of {promised}",
                    where=address,
                    hint="correct the recipe if you trust the new file; else ask who publishes it",
                )
        partial.replace(folder / sha256)
    return Fetched(folder / sha256, name, sha256)


def _transfer(address: str, target: Path) -> None:
    limits = read_limits()
    headers = {"User-Agent": "slipway", "Accept-Encoding": "identity"}
    try:
        with open_url(address, limits, headers) as answer, target.open("wb") as stream:
            for chunk in read_chunks(answer, address, limits, most=limits.file_bytes):
                stream.write(chunk)
            promised = answer.headers.get("Content-Length")
            if promised is not None and int(promised) != stream.tell():
                raise NetworkError(f"a download stopped after {stream.tell()} of {promised} bytes", where=address)
    except urllib.error.HTTPError as error:
        error.close()
        kind = NetworkError if error.code >= 500 else _RefusedError
        raise kind(f"a file cannot be fetched: HTTP {error.code} {error.reason}", where=address) from error
    except DOWNLOAD_ERRORS as error:
        if is_disk_full(error):
            raise DiskFullError("the disk is full, so a source could not be fetched", where=str(target.parent),
                                hint="make room and run the same command again") from error  # fmt: skip
        reason = getattr(error, "reason", error)
        if address.startswith("file:"):
            raise RecipeError(f"the recipe's source cannot be read: {reason}", where=address) from error
        raise NetworkError(f"a file cannot be fetched: {reason}", where=address, hint="is the network up?") from error
