"""The archive that a bundle is: files by name, a list of what each of them is known by in front, and nothing else.

It is a tar archive with nothing in it of when, where and by whom it was made. One that was made since an earlier one
lacks the files whose content that one has; it names the earlier one, which lies beside it when it is opened.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError, RecipeError, UsageError
from slipway.base.files import is_disk_full
from slipway.base.scratch import scratch_folder
from slipway.channel.package_writer import to_json
from slipway.source.tree import SourceTree, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTENTS = "bundle.json"
FORMAT = 1
FORMAT_SINCE = 2
"""Of a bundle that needs an earlier one."""


def pack_files(path: Path, members: Mapping[str, Path], since: Path | None = None) -> None:
    """Write the archive `path` of `members`, files by their names in it, with their list of contents in front.

    Args:
        since: an earlier bundle; files that it has are in the list alone.
    """
    known = {name: fingerprint(file) for name, file in members.items()}
    listing: dict[str, Any] = {"format": FORMAT, "files": known}
    if since is not None:
        earlier = read_contents(since)
        there = set(json.loads(earlier)["files"].values())
        members = {name: file for name, file in members.items() if known[name] not in there}
        origin = {"name": since.name, "contents": hashlib.sha256(earlier).hexdigest()}
        listing |= {"format": FORMAT_SINCE, "since": origin}
    contents = to_json(listing)
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        head = tarfile.TarInfo(CONTENTS)
        head.size = len(contents)
        archive.addfile(_without_origin(head), io.BytesIO(contents))
        for name, file in sorted(members.items()):
            member = archive.gettarinfo(file, name)
            if member.isfile() or member.islnk():  # a hard link, which is a file to us
                member.type, member.linkname, member.size = tarfile.REGTYPE, "", file.stat().st_size
                with file.open("rb") as stream:
                    archive.addfile(_without_origin(member), stream)
            else:
                archive.addfile(_without_origin(member))


def _without_origin(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.mode & 0o111 else 0o644
    return member


def read_contents(path: Path) -> bytes:
    """The list of contents of the bundle `path`, as it stands in front.

    Raises:
        UsageError: there is no such file.
        IntegrityError: it is no bundle.
    """
    if not path.is_file():
        raise UsageError("there is no such bundle", where=str(path))
    try:
        with path.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            head = archive.next()
            if head is None or head.name != CONTENTS or not _is_whole_file(head):
                raise _damaged(path, f"{CONTENTS} does not stand in front")
            content = archive.extractfile(head)
            if content is None:
                raise _damaged(path, f"{CONTENTS} does not stand in front")
            return content.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise _damaged(path, f"it cannot be read: {error}") from error


def _is_whole_file(member: tarfile.TarInfo) -> bool:
    """Not one with holes either: those take room and time that an archive of this size may not ask for."""
    return member.isreg() and not member.issparse()


def _take_from_earlier(path: Path, folder: Path, contents: Mapping[str, Any], beside: Path) -> None:
    """Put the files into `folder` that the bundle `path` lists and an earlier one has."""
    since = contents["since"]
    earlier = beside / Path(since["name"]).name
    if not earlier.is_file():
        raise UsageError(
            f"the bundle needs an earlier one, {since['name']}", where=str(path), hint=f"put that into {beside}"
        )
    if hashlib.sha256(read_contents(earlier)).hexdigest() != since["contents"]:
        raise IntegrityError(
            f"another bundle is called {since['name']} than the one it was made since", where=str(path)
        )
    with scratch_folder("bundle") as unpacked:
        unpack_files(earlier, unpacked, beside)
        files = json.loads((unpacked / CONTENTS).read_bytes())["files"]
        places = {known: unpacked / place for place, known in files.items()}
        for place, known in contents["files"].items():
            target = folder / place
            if not target.parent.resolve().is_relative_to(folder.resolve()):
                raise _damaged(path, f"`{place}` leads out of it")
            if known in places and not (target.exists() or target.is_symlink()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(places[known], target, follow_symlinks=False)


def unpack_files(path: Path, folder: Path, beside: Path) -> None:
    """Unpack `path` and compare every file with the list of contents.

    Args:
        beside: where earlier bundles lie.
    """
    try:
        with path.open("rb") as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                if not (member.issym() or _is_whole_file(member)):
                    raise _damaged(path, f"`{member.name}` is neither a file nor a link")
                archive.extract(member, folder, filter="data")
        contents = json.loads((folder / CONTENTS).read_bytes())
        if contents["format"] == FORMAT_SINCE:
            _take_from_earlier(path, folder, contents, beside)
        form, known = contents["format"], dict(contents["files"])
        # Listed by walking: a source tree may hold what git or .gitignore would leave out.
        files = [file for file in folder.rglob("*") if file.is_symlink() or not file.is_dir()]
        tree = SourceTree(folder, tuple(file.relative_to(folder).as_posix() for file in files))
        found = {name: one for name, one in tree.fingerprints.items() if name != CONTENTS}
    except (tarfile.TarError, EOFError, ValueError, KeyError, TypeError, RecursionError, OSError, RecipeError) as error:
        if is_disk_full(error):
            raise
        raise _damaged(path, f"it cannot be read: {error}") from error
    if form not in (FORMAT, FORMAT_SINCE):
        raise IntegrityError(
            f"the bundle has format {form}, and this slipway reads up to {FORMAT_SINCE}", where=str(path)
        )
    for name in sorted(known.keys() | found.keys()):
        if known.get(name) != found.get(name):
            state = "is missing" if name not in found else "does not belong there" if name not in known else "differs"
            raise _damaged(path, f"`{name}` {state}")


def _damaged(path: Path, what: str) -> IntegrityError:
    return IntegrityError(
        f"the bundle is damaged: {what}", where=str(path), hint="take another copy of it, or make it again"
    )
