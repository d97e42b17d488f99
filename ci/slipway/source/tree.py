"""What of a source folder belongs into a build: the files that git tracks or would track, nothing else.

A tree that someone developed in holds build folders, compiled libraries and caches. None of them may reach a package,
so a build gets a snapshot: in a git checkout what ``git ls-files`` names, elsewhere what the ``.gitignore`` files in
and above the folder leave. Pipes, sockets and devices are no sources, as for git. A link to a file outside of
the folder stands for that file: the snapshot lies elsewhere, and a change over there is a change of the source.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from slipway.base.errors import HostError, RecipeError
from slipway.base.links import find_leaving_link
from slipway.base.proc import capture
from slipway.source import patterns as file_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NEVER_SOURCE = frozenset({".git", ".hg", ".svn", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
"""Folders that are no source, whatever the ignore files say."""


@dataclass(frozen=True)
class SourceTree:
    """A folder (or a single file) of sources and the relative paths in it that count, sorted."""

    root: Path
    files: tuple[str, ...]

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """What each file is known by: ``kind:sha256:git``, where ``git`` is the name its content has in git's store."""
        self.check_links()
        base = self._base
        return {name: fingerprint(base / name) for name in self.files}

    @property
    def digest(self) -> str:
        """sha256 over names, execute bits and contents."""
        lines = (f"{name} {known}\n" for name, known in self.fingerprints.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def _base(self) -> Path:
        return self.root if self.root.is_dir() else self.root.parent

    def check_links(self, where: str | None = None) -> None:
        """See to it that no link leaves the folder; `where` the folder came from, for the message.

        Raises:
            RecipeError: one does.
        """
        base = self._base
        paths = {name: base / name for name in self.files}
        links = {name: str(path.readlink()) for name, path in paths.items() if path.is_symlink()}
        name = find_leaving_link(links)
        if name is not None:
            raise RecipeError(
                f"`{name}` in the source is a link that leads out of it, to `{links[name]}`",
                where=where or str(paths[name]),
                hint="put there what it leads to, make it a relative link to a file of the source, or take it out "
                "(a local source leaves out what .gitignore names)",
            )

    def without(self, patterns: Sequence[str]) -> SourceTree:
        """The same tree without the files that `patterns`, written as in ``.gitignore``, name."""
        if not patterns:
            return self
        spec = file_patterns.GitIgnoreSpec.from_lines(patterns)
        return SourceTree(self.root, tuple(name for name in self.files if not spec.match_file(name)))

    def copy_to(self, folder: Path) -> None:
        """Make `folder` hold exactly these files, with their times, so that an unchanged file looks unchanged."""
        self.check_links()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)  # also when an output reads none of the files
        for name in self.files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._base / name, target, follow_symlinks=False)


def check_names(names: Iterable[str], where: str) -> None:
    """See to it that packages can hold files of these names; `where` they lie, for the message.

    Raises:
        RecipeError: one is no text.
    """
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise RecipeError(
                "the name of a source file is not UTF-8",
                where=f"{where}/{os.fsencode(name).decode('utf-8', 'backslashreplace')}",
                hint="rename it: packages have no way to write such a name down",
            ) from None


def fingerprint(path: Path) -> str:
    """What a file, or a link itself, is known by; see `SourceTree.fingerprints`."""
    if path.is_symlink():
        content = os.fsencode(path.readlink())
        return _fingerprint("link", io.BytesIO(content), len(content))
    kind = "program" if os.access(path, os.X_OK) else "file"
    try:
        with path.open("rb") as stream:
            return _fingerprint(kind, stream, os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise HostError(
            f"a source file cannot be read: {error.strerror}",
            where=str(path),
            hint="give yourself the right to, or leave it out with .gitignore",
        ) from error


def _fingerprint(kind: str, stream: BinaryIO, size: int) -> str:
    sha256, git = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while block := stream.read(1 << 20):
        sha256.update(block)
        git.update(block)
    return f"{kind}:{sha256.hexdigest()}:{git.hexdigest()}"


def read_tree(root: Path, *, use_git: bool = True) -> SourceTree:
    """List the sources in `root`.

    Raises:
        RecipeError: there is nothing at `root`.
    """
    if root.is_file():
        return SourceTree(root, (root.name,))
    if not root.is_dir():
        raise RecipeError("the recipe's source does not exist", where=str(root))
    names = _git_files(root) if use_git else None
    if names is None:
        names = list(_walk(root))
    check_names(names, str(root))
    below_links = _LinkedFolders(root)
    kept = {name for name in names if NEVER_SOURCE.isdisjoint(Path(name).parts) and not below_links.hold(name)}
    found = {name for name in kept if _is_source(root / name)}
    for name in kept - found:
        if (root / name).is_dir():  # a submodule, which git names as a whole
            found |= {f"{name.rstrip('/')}/{inner}" for inner in read_tree(root / name, use_git=use_git).files}
    return SourceTree(root, tuple(sorted(found)))


class _LinkedFolders:
    """Folders of a tree that are links now: git still names files below them, which are no part of the tree."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known = {"": False}

    def hold(self, name: str) -> bool:
        """Whether one of the folders that `name` lies in is a link."""
        folder = name.rstrip("/").rpartition("/")[0]
        if folder not in self._known:
            self._known[folder] = self.hold(folder) or (self._root / folder).is_symlink()
        return self._known[folder]


def _is_source(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):  # git tracks it, and somebody deleted it
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _git_files(root: Path) -> list[str] | None:
    """What git tracks, plus what it does not ignore; None where git has no say."""
    git = shutil.which("git")
    if git is None:
        return None
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    command = [git, "-c", f"safe.directory={root}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    answer = capture(command, env=environment, what="listing sources", cwd=root)
    if answer.status != 0:
        return None
    names = [name for name in os.fsdecode(answer.output).split("\0") if name]
    # An untracked folder inside an ignored one lists nothing at all: then the ignore files are not about this folder.
    return names or None


def _walk(root: Path) -> Iterator[str]:
    """Every file that the ``.gitignore`` files from the file system's root down to the file do not exclude."""
    rules: list[tuple[Path, file_patterns.GitIgnoreSpec]] = []
    above = root.resolve()
    for folder in _repository_folders(above):
        rules.extend(_read_rules(folder))
    yield from _walk_folder(above, above, rules)


def _repository_folders(folder: Path) -> list[Path]:
    """The folders above `folder`, outermost first, up to the one that looks like the top of a source checkout."""
    above = list(folder.parents)
    for index, candidate in enumerate(above):
        if (candidate / ".git").exists() or (candidate / "pyproject.toml").exists():
            return above[: index + 1][::-1]
    return []


def _read_rules(folder: Path) -> list[tuple[Path, file_patterns.GitIgnoreSpec]]:
    try:
        lines = (folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [(folder, file_patterns.GitIgnoreSpec.from_lines(lines))]


def _walk_folder(root: Path, folder: Path, rules: list[tuple[Path, file_patterns.GitIgnoreSpec]]) -> Iterator[str]:
    here = [*rules, *_read_rules(folder)]
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        is_folder = entry.is_dir(follow_symlinks=False)
        if (is_folder and entry.name in NEVER_SOURCE) or _ignored(Path(entry.path), is_folder, here):
            continue
        if is_folder:
            yield from _walk_folder(root, Path(entry.path), here)
        else:
            yield os.path.relpath(entry.path, root)


def _ignored(path: Path, is_folder: bool, rules: list[tuple[Path, file_patterns.GitIgnoreSpec]]) -> bool:
    """The innermost ``.gitignore`` with an opinion decides, as in git."""
    for folder, spec in reversed(rules):
        verdict = spec.check_file(path.relative_to(folder).as_posix() + ("/" if is_folder else "")).include
        if verdict is not None:
            return verdict
    return False
