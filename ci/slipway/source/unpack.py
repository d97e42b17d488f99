"""Archives of sources, unpacked as conda-build does: one folder that holds all the rest is left out."""

from __future__ import annotations

import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from lzma import LZMAError
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError, RecipeError

if TYPE_CHECKING:
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
                with tarfile.open(fetched.path) as archive:
                    archive.extractall(whole, filter="data")
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, LZMAError, ValueError) as error:
            raise IntegrityError(f"the source `{fetched.name}` cannot be unpacked: {error}",
                                 where=str(fetched.path)) from error  # fmt: skip
        inner = list(whole.iterdir())
        root = inner[0] if hoist and len(inner) == 1 and inner[0].is_dir() and not inner[0].is_symlink() else whole
        for path in root.iterdir():
            path.rename(folder / path.name)


def _unzip(path: Path, folder: Path) -> None:
    """zipfile keeps what it writes inside of `folder`, but forgets modes and links."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if stat.S_ISLNK(mode):
                target = archive.read(info).decode()
                place = folder / info.filename
                ends = (place.parent.resolve(), (place.parent / target).resolve())
                if not all(end.is_relative_to(folder.resolve()) for end in ends):
                    raise zipfile.BadZipFile(f"`{info.filename}` is a link that leads out of it")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(target)
            else:
                written = Path(archive.extract(info, folder))
                if not info.is_dir():
                    written.chmod(0o755 if mode & 0o111 else 0o644)
