"""Archives of sources, unpacked as conda-build does: one folder that holds all the rest is left out."""

from __future__ import annotations

import posixpath
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError, RecipeError
from slipway.base.links import find_leaving_link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.source.url import Fetched

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz", ".tar.lzma")
ZIP_SUFFIXES = (".zip",)
REFUSED_SUFFIXES = (".7z", ".tar.zst", ".tar.z", ".rar")


def unpack(fetched: Fetched, folder: Path, *, hoist: bool = True) -> None:
    """Make `folder` hold what is in the archive; a file that is none is put there as it is.

    Raises:
        IntegrityError: the archive is damaged, or would write outside of `folder`.
        RecipeError: archives of that kind cannot be unpacked.
    """
    name = fetched.name.lower()
    if name.endswith(REFUSED_SUFFIXES):
        raise RecipeError(f"`{fetched.name}`: archives of this kind cannot be unpacked",
                          hint="take a .tar.gz, .tar.bz2, .tar.xz or .zip, or `expand: false`")  # fmt: skip
    folder.mkdir(parents=True)
    if not name.endswith((*TAR_SUFFIXES, *ZIP_SUFFIXES)):
        shutil.copyfile(fetched.path, folder / fetched.name)
        return
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unpacked-") as scratch:
        whole = Path(scratch) / "whole"
        whole.mkdir()
        try:
            if name.endswith(ZIP_SUFFIXES):
                _unzip(fetched.path, whole)
            else:
                _untar(fetched.path, whole)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, LZMAError, ValueError) as error:
            raise IntegrityError(f"the source `{fetched.name}` cannot be unpacked: {error}",
                                 where=str(fetched.path)) from error  # fmt: skip
        inner = list(whole.iterdir())
        root = inner[0] if hoist and len(inner) == 1 and inner[0].is_dir() and not inner[0].is_symlink() else whole
        for path in root.iterdir():
            path.rename(folder / path.name)


def _untar(path: Path, folder: Path) -> None:
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        _check_names(
            [member.name for member in members],
            {member.name: member.linkname for member in members if member.issym()},
        )
        files = set[str]()
        for member in members:
            if member.islnk() and posixpath.normpath(member.linkname) not in files:
                raise ValueError(f"`{member.name}` is a hard link to `{member.linkname}`, which is no file of it")
            if member.isreg() or member.islnk():
                files.add(posixpath.normpath(member.name))
        archive.extractall(folder, members, filter="data")


def _unzip(path: Path, folder: Path) -> None:
    """zipfile keeps what it writes inside of `folder`, but forgets modes and links."""
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        links = {info.filename: archive.read(info).decode() for info in infos if _is_link(info)}
        _check_names([info.filename for info in infos], links)
        for info in infos:
            place = folder / info.filename
            if info.filename in links:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(links[info.filename])
            else:
                archive.extract(info, folder)
                if not info.is_dir():
                    place.chmod(0o755 if info.external_attr >> 16 & 0o111 else 0o644)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _check_names(names: Sequence[str], links: Mapping[str, str]) -> None:
    """Before anything is written: every name is below the folder, none below a link, and no link leaves.

    Raises:
        ValueError: one does.
    """
    for name in names:
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"`{name}` lies outside of it")
    targets = {posixpath.normpath(name): target for name, target in links.items()}
    leaving = find_leaving_link(targets)
    if leaving is not None:
        raise ValueError(f"`{leaving}` is a link that leads out of it, to `{targets[leaving]}`")
    places = [posixpath.normpath(name) for name in names]
    for place in places:
        parent = next((str(parent) for parent in PurePosixPath(place).parents if str(parent) in targets), None)
        if parent is not None:
            raise ValueError(f"`{place}` is written through the link `{parent}`")
    counts = Counter(places)
    twice = next((place for place in targets if counts[place] > 1), None)
    if twice is not None:
        raise ValueError(f"`{twice}` is a link and something else")
