"""The folder of an environment: which of its files are ours, and what goes when an installation was cut off.

Ours is what a record in ``conda-meta`` names, and, while an installation is under way, what its packages are about to
bring: that is written down before the first file is linked. Everything else belongs to somebody, and stays.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from slipway.channel.judgement import JudgedPackage

INCOMPLETE = "slipway-incomplete"
"""Below ``conda-meta`` while an installation is under way: the packages that it brings, and their paths."""

COMPLETE = "slipway-environment"
"""Below ``conda-meta`` once an installation ended: this environment is ours."""

_LOCKS = frozenset({".lock"})
"""What lies below ``conda-meta`` before anything is installed."""


class Prefix:
    """The environment at `folder`, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._meta = folder / "conda-meta"

    @property
    def is_incomplete(self) -> bool:
        """Whether an installation was begun and not ended."""
        return (self._meta / INCOMPLETE).exists()

    @property
    def is_ours(self) -> bool:
        """Whether an installation of ours was at least begun here."""
        return self.is_incomplete or (self._meta / COMPLETE).exists()

    def check(self, *, into_existing: bool) -> None:
        """Whether an environment may be made, or changed, here.

        Raises:
            UsageError: the folder holds other things and no environment of ours, and that was not asked for.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError("the prefix is no folder", where=str(self.folder), hint="give another --prefix")
        if self.is_ours or into_existing or not self.folder.exists():
            return
        found = next(self._strangers(), None)
        if found is not None:
            raise UsageError(
                f"the folder holds `{found}`, and no environment of slipway's",
                where=str(self.folder),
                hint="give an empty or a new folder; or, with --into-existing, install beside what is there: "
                "files stay, but packages that another program installed are replaced",
            )

    def _strangers(self) -> Iterator[str]:
        """What lies here before any installation of ours."""
        for entry in sorted(self.folder.iterdir()):
            if entry.name != "conda-meta" or entry.is_symlink() or not entry.is_dir():
                yield entry.name
                continue
            yield from (f"conda-meta/{one.name}" for one in sorted(entry.iterdir()) if not _is_scratch(one.name))

    def begin(self, packages: Sequence[tuple[str, Iterable[str]]]) -> None:
        """Write down what is about to be installed: ``name-version-build`` of each package, and its paths.

        Raises:
            UsageError: a file of somebody else lies where one of them is to be.
        """
        pending = {entry: sorted(paths) for entry, paths in packages}
        ours = set(self._recorded())
        for entry, paths in pending.items():
            for path in paths:
                if path not in ours and (hindrance := self._hindrance(path)) is not None:
                    raise UsageError(
                        f"`{hindrance}` is in the way: it is not ours, and `{entry}` brings `{path}`",
                        where=str(self.folder),
                        hint="move it elsewhere, or install into another folder",
                    )
        write_file(self._meta / INCOMPLETE, json.dumps({"packages": pending}))

    def finish(self) -> None:
        """The installation ended."""
        write_file(self._meta / COMPLETE, "")
        (self._meta / INCOMPLETE).unlink()

    def clear(self) -> None:
        """Take out what is ours, after an installation that was cut off; folders go that are empty then."""
        pending = self._pending()
        paths = {*self._recorded(), *(path for paths in pending.values() for path in paths)}
        clashes = [f"__clobber-from-{entry.rsplit('-', 2)[0]}" for entry in pending]
        folders = set()
        for path in sorted(paths):
            for name in (path, *(path + clash for clash in clashes)):
                if self._is_inside(name) and _is_file(self.folder / name):
                    (self.folder / name).unlink()
            folders.add((self.folder / path).parent)
        for record in self._records():
            record.unlink()
        for entry in pending:  # a record that was cut off itself
            (self._meta / f"{entry}.json").unlink(missing_ok=True)
        for folder in sorted(folders, key=lambda path: -len(path.parts)):
            self._remove_empty(folder)
        (self._meta / INCOMPLETE).unlink()
        write_file(self._meta / COMPLETE, "")

    def _remove_empty(self, folder: Path) -> None:
        while folder != self.folder and folder.is_relative_to(self.folder):
            try:
                folder.rmdir()
            except OSError:  # it holds something, is a link, or is gone
                if folder.exists():
                    return
            folder = folder.parent

    def _pending(self) -> dict[str, list[str]]:
        try:
            packages = json.loads((self._meta / INCOMPLETE).read_bytes())["packages"]
            return {str(entry): [str(path) for path in paths] for entry, paths in packages.items()}
        except (ValueError, KeyError, TypeError, AttributeError):  # written by an earlier version, or damaged
            return {}

    def _records(self) -> Iterator[Path]:
        """The files that are records of installed packages."""
        for path in sorted(self._meta.glob("*.json")):
            if _read_record(path) is not None:
                yield path

    def _recorded(self) -> Iterator[str]:
        """The paths that records name."""
        for path in self._records():
            yield from _read_record(path) or ()

    def _is_inside(self, path: str) -> bool:
        """Whether `path` lies in the folder, whatever links there are on the way to it."""
        root = self.folder.resolve()
        parent = (self.folder / path).parent.resolve()
        return ".." not in path.split("/") and (parent == root or parent.is_relative_to(root))

    def _hindrance(self, path: str) -> str | None:
        """What keeps a package from putting its file there; None if nothing does."""
        if not self._is_inside(path):
            return path.split("/", 1)[0]
        if os.path.lexists(self.folder / path):
            return None if path.endswith(".pyc") else path  # Python makes those anew
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = self.folder.joinpath(*parts[:depth])
            if os.path.lexists(parent) and not parent.is_dir():
                return "/".join(parts[:depth])
        return None


def installed_paths(judged: JudgedPackage, site_packages: str) -> list[str]:
    """The paths that a package takes in a prefix, whose Python looks for modules in `site_packages`."""
    if judged.index.get("noarch") != "python":
        return list(judged.linked)
    moved = {"site-packages": site_packages, "python-scripts": "bin"}
    found = []
    for path in judged.linked:
        first, slash, rest = path.partition("/")
        found.append(f"{moved.get(first, first)}{slash}{rest}")
    return [*found, *(f"bin/{program}" for program in judged.programs)]


def _read_record(path: Path) -> list[str] | None:
    """The paths that the record of an installed package names; None for what is no such record."""
    try:
        record = json.loads(path.read_bytes())
        if not all(isinstance(record[key], str) for key in ("name", "version", "build")):
            return None
        entries = [*record.get("files", ()), *(entry["_path"] for entry in record["paths_data"]["paths"])]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return [entry for entry in entries if isinstance(entry, str) and not entry.startswith("/")]


def _is_scratch(name: str) -> bool:
    return name in _LOCKS or name.startswith((f".{INCOMPLETE}.", f".{COMPLETE}."))


def _is_file(path: Path) -> bool:
    """A file or a link, not a folder."""
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
