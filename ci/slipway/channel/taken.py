"""Packages that are taken from channels: fetched, checked, judged and unpacked, before anything is linked from them.

    archives/SHA256/FILE        packages of channels elsewhere, as they came
    unpacked/SHA256/files       each package's files, which environments of users have links to
    for-builds/SHA256/files     the same once more: what a script writes into these, no environment of a user's has
    judged/SHA256.json          what an archive holds, and which file on disk that was read from

The chain of trust begins at the index, which promises the sha256 of an archive. What the archive holds is read from it
once and then remembered for as long as the file on disk stays the one that was read: its inode, size, and times of
change in nanoseconds, one of which nobody can set. Unpacked files are compared with that each time that they are taken:
their names, kinds and sizes one by one, and what they hold by a seal over all of it, which only the user's key can make
(`slipway.base.seal`). Whatever is not as it should be is removed, and fetched or unpacked again.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from slipway.base import seal
from slipway.base.cache_room import mark_used
from slipway.base.errors import ChannelError, IntegrityError, NetworkError
from slipway.base.files import disk_errors, hash_file, identify_file, write_file
from slipway.base.locks import hold_lock
from slipway.base.scratch import spread_folders
from slipway.base.user_folders import cache_folder
from slipway.channel import limited_access, rattler
from slipway.channel.archive import Kind, Member
from slipway.channel.judgement import FoundMember, JudgedPackage, judge_package
from slipway.channel.package import read_info

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TRIES = 3
"""How often a package is asked for that cannot be fetched."""

JUDGEMENT = 2
"""Goes up when packages are to be judged anew, because they are held to more."""


@dataclass(frozen=True)
class SolvedPackage:
    """One package of a solution: what its channel's index says."""

    name: str
    version: str
    build: str
    sha256: str
    size: int
    url: str


@dataclass(frozen=True)
class TakenPackage:
    """A package whose files lie in `folder`, each as its archive, which has the promised bytes, holds it."""

    sha256: str
    archive: Path
    folder: Path
    judged: JudgedPackage

    @property
    def entry(self) -> str:
        """``name-version-build``."""
        index = self.judged.index
        return f"{index['name']}-{index['version']}-{index['build']}"


ENVIRONMENTS, BUILDS = "unpacked", "for-builds"
"""The folders of unpacked files."""


def take_packages(
    packages: Sequence[SolvedPackage], environ: Mapping[str, str] = os.environ, *, shelf: str = ENVIRONMENTS
) -> list[TakenPackage]:
    """Fetch, check, judge and unpack `packages`, as far as that is not done.

    Args:
        shelf: `ENVIRONMENTS` or `BUILDS`: who is going to link them.

    Raises:
        IntegrityError: one has other bytes than its channel's index promises, or is made to do harm.
        NetworkError: one cannot be fetched.
        ChannelError: a local channel lacks one.
        DiskFullError: there is no room to unpack one.
    """
    store = _Store(environ, shelf)
    full = disk_errors("the disk is full, so packages could not be unpacked", where=store.root,
                       hint="make room and run the same command again")  # fmt: skip
    with full, hold_lock(store.root / "taken.lock", patience=1800):
        # What is there is compared by this thread alone: with others, Python would do that no faster but slower.
        kept = {package: store.kept(package) for package in packages}
        missing = [package for package, found in kept.items() if found is None]
        if missing:
            with ThreadPoolExecutor(os.cpu_count()) as executor:
                kept |= zip(missing, executor.map(store.take, missing), strict=True)
        return [taken for package in packages if (taken := kept[package]) is not None]


@contextmanager
def linked_cache(packages: Sequence[TakenPackage], environ: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """A folder to give to rattler as its cache of packages: it holds `packages`, and none that nobody checked."""
    root = cache_folder(environ) / "linked"
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, ignore_cleanup_errors=True) as folder:
        fill_linked_cache(packages, Path(folder))
        yield Path(folder)


def fill_linked_cache(packages: Sequence[TakenPackage], folder: Path) -> None:
    """Make `packages` known to rattler, whose cache of packages is the empty `folder`."""
    for package in packages:
        entry = folder / package.entry
        if not entry.exists():  # else it is one package of two environments
            entry.symlink_to(package.folder)
            _write_lock(package, folder)


def _write_lock(package: TakenPackage, folder: Path) -> None:
    """How rattler says of what package a folder is: a revision, and the archive's sha256."""
    (folder / f"{package.entry}.lock").write_bytes((1).to_bytes(8, "big") + bytes.fromhex(package.sha256))


def fill_cache_with_links(packages: Sequence[TakenPackage], folder: Path) -> None:
    """As `fill_linked_cache`, by a link to each file: rattler links them further where it sees no other folder.

    On another file system than the cache's, the packages' folders are linked, and rattler copies what is in them.
    """
    for package in packages:
        partial = folder / f".{package.entry}"
        try:
            _link_members(package, partial)
        except OSError:
            shutil.rmtree(partial, ignore_errors=True)
            fill_linked_cache([package], folder)
        else:
            partial.rename(folder / package.entry)
            _write_lock(package, folder)


def _link_members(package: TakenPackage, target: Path) -> None:
    """Make `target` hold what the package's folder does, the files as links to its own."""
    source, made = str(package.folder), set[str]()
    for member in package.judged.members:
        path = f"{target}/{member.path}"
        parent = path.rpartition("/")[0]
        if parent not in made:
            Path(parent).mkdir(parents=True, exist_ok=True)
            made.add(parent)
        if member.kind == Kind.LINK:
            Path(path).symlink_to(member.target)
        else:
            os.link(f"{source}/{member.path}", path)


def fetch_archive(url: str, sha256: str, environ: Mapping[str, str] = os.environ, *, offline: bool = False) -> Path:
    """The archive of a package of a channel elsewhere, which is kept; nothing of it is unpacked.

    Raises:
        NetworkError: it cannot be fetched, or is not here and `offline` is asked for.
        IntegrityError: it is another one.
    """
    archive = _place_of(cache_folder(environ), url, sha256)
    if archive.is_file() and hash_file(archive) == sha256:
        return archive
    if offline:
        hint = "run the command without `--offline` once"
        raise NetworkError("not in the cache, and `--offline` forbids to fetch it", where=url, hint=hint)
    _fetch(url, archive, 0)
    actual = hash_file(archive)
    if actual != sha256:
        archive.unlink()
        text = f"a file is not the one that the channel promises: sha256 {actual} instead of {sha256}"
        raise IntegrityError(text, where=url)
    return archive


def run_exports_of(package: SolvedPackage, record: rattler.RepoDataRecord) -> Mapping[str, Sequence[str]]:
    """What a package adds to those that are built with it, specs by kind; few indexes say it, all packages do.

    Raises:
        NetworkError, IntegrityError: the package has to be read for that, and cannot be had.
    """
    said = json.loads(record.to_json()).get("run_exports")
    if said is None:
        archive = archive_of(package.url) or fetch_archive(package.url, package.sha256)
        try:
            said = _read_run_exports(archive, package.sha256)
        except ChannelError:
            _Store(os.environ, BUILDS).check(archive, package)  # whose word goes first: it may be another file
            raise
    return said if isinstance(said, dict) else {}


@functools.cache
def _read_run_exports(archive: Path, sha256: str) -> Any:
    """What the file with these bytes says in itself; most outputs of a recipe ask the same packages."""
    return json.loads(read_info(archive, "run_exports.json") or b"{}")


def _place_of(cache: Path, url: str, sha256: str) -> Path:
    return cache / "archives" / sha256 / Path(unquote(urlsplit(url).path)).name


def archive_of(url: str) -> Path | None:
    """The file of a package of a local channel; None for what is not of this machine."""
    return Path(unquote(urlsplit(url).path)) if url.startswith("file://") else None


class _Store:
    """The folders below `root`, the user's cache."""

    def __init__(self, environ: Mapping[str, str], shelf: str) -> None:
        self.root = cache_folder(environ)
        self._shelf = shelf
        self._key = seal.key_of_user(environ)
        self._other = ENVIRONMENTS if shelf == BUILDS else BUILDS

    def kept(self, package: SolvedPackage) -> TakenPackage | None:
        """One package, if it is there as it should be."""
        archive = archive_of(package.url) or _place_of(self.root, package.url, package.sha256)
        sha256, judged, sealed = self._remembered(archive, package.sha256)
        if sha256 is None or judged is None:
            return None
        folder = self.root / self._shelf / sha256 / "files"
        if not self._is_whole(folder, judged, sealed):
            return None
        if archive_of(package.url) is None:
            mark_used(archive.parent)
        mark_used(folder.parent)
        _check_identity(judged, package, archive)  # another index may call the same bytes something else
        return TakenPackage(sha256, archive, folder, judged)

    def take(self, package: SolvedPackage) -> TakenPackage:
        """One package, which is fetched or unpacked for that."""
        archive = archive_of(package.url)
        if archive is not None:
            return self._take_from(archive, package)
        archive = _place_of(self.root, package.url, package.sha256)
        mark_used(archive.parent)
        if archive.exists() and package.sha256:
            with suppress(IntegrityError):  # damaged since: it is gone now, and is fetched again
                return self._take_from(archive, package)
        _fetch(package.url, archive, package.size)
        return self._take_from(archive, package)

    def _take_from(self, archive: Path, package: SolvedPackage) -> TakenPackage:
        sha256, judged, sealed = self._remembered(archive, package.sha256)
        if sha256 is None:
            sha256 = self.check(archive, package)
        folder = self.root / self._shelf / sha256 / "files"
        mark_used(folder.parent)
        if judged is not None and self._copy(sha256, folder, judged, sealed):
            _check_identity(judged, package, archive)
            return TakenPackage(sha256, archive, folder, judged)
        before = identify_file(archive)
        judged, sealed = self._unpack(archive, package, folder)
        facts = {"judgement": JUDGEMENT, "archive": before, "sha256": sha256, "seal": sealed, **asdict(judged)}
        write_file(self._memory(sha256), json.dumps(facts))
        return TakenPackage(sha256, archive, folder, judged)

    def _is_whole(self, folder: Path, judged: JudgedPackage, sealed: str) -> bool:
        """Whether `folder` holds just what the archive does."""
        if not _has_members(folder, judged):
            return False
        with suppress(ValueError):
            return seal.seal_files(self._key, _file_paths(folder, judged), like=sealed) == sealed
        return False

    def _copy(self, sha256: str, folder: Path, judged: JudgedPackage, sealed: str) -> bool:
        """Take the files from the other shelf, which is faster than to unpack them; whether they are whole there."""
        source = self.root / self._other / sha256 / "files"
        if not source.is_dir():
            return False
        self._make_place(folder.parent)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as scratch:
            copied = Path(scratch) / "files"
            with suppress(shutil.Error):
                shutil.copytree(source, copied, symlinks=True, copy_function=shutil.copy)
                if self._is_whole(copied, judged, sealed):
                    shutil.rmtree(folder, ignore_errors=True)
                    copied.rename(folder)
                    return True
        return False

    def _make_place(self, folder: Path) -> None:
        """Make the folder of one package on the shelf."""
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            spread_folders(folder.parent)
            folder.mkdir(exist_ok=True)

    def _memory(self, sha256: str) -> Path:
        return self.root / "judged" / f"{sha256}.json"

    def _remembered(self, archive: Path, sha256: str) -> tuple[str | None, JudgedPackage | None, str]:
        """What is known of the file as it lies there now: its hash, what it holds, and the seal of that."""
        try:
            facts = json.loads(self._memory(sha256).read_bytes())
            known = facts["judgement"], facts["archive"], facts["sha256"], type(facts["seal"])
            if known != (JUDGEMENT, identify_file(archive), sha256, str):
                return None, None, ""
            members = tuple(FoundMember(**{**one, "kind": Kind(one["kind"])}) for one in facts["members"])
            judged = JudgedPackage(facts["index"], members, tuple(facts["linked"]), tuple(facts["programs"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # none, or damaged: it is read again
            return None, None, ""
        return sha256, judged, str(facts["seal"])

    def check(self, archive: Path, package: SolvedPackage) -> str:
        """The sha256 of a package's archive.

        Raises:
            IntegrityError: it is not the one that was solved for.
            ChannelError: there is no such file.
        """
        try:
            actual = hash_file(archive)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise ChannelError("the channel's index names a package that is not there", where=str(archive)) from None
        if actual == package.sha256 or not package.sha256:
            return actual
        hint = "`slipway ship` builds a damaged package of its channel again"
        if archive.is_relative_to(self.root):
            archive.unlink()  # so that it is missed, and made or fetched again
            hint = "run the same command again: it is fetched or made anew"
        raise IntegrityError(
            f"the package is not the one that was indexed: sha256 {actual} instead of {package.sha256}",
            where=str(archive) if archive_of(package.url) else package.url,
            hint=hint,
        )

    def _unpack(self, archive: Path, package: SolvedPackage, folder: Path) -> tuple[JudgedPackage, str]:
        """Judge a package while its files are written to a scratch folder, which takes its place if all is well.

        Returns what was found, and the seal of its files.
        """
        self._make_place(folder.parent)
        with tempfile.TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as scratch:
            writer = _Writer(Path(scratch) / "files")
            judged = judge_package(archive, writer.write)
            _check_identity(judged, package, archive)
            sealed = seal.seal_files(self._key, _file_paths(writer.root, judged))  # before anybody has links to them
            shutil.rmtree(folder, ignore_errors=True)
            writer.root.rename(folder)
        return judged, sealed


def _check_identity(judged: JudgedPackage, package: SolvedPackage, archive: Path) -> None:
    """That a package is the one that its channel's index speaks of."""
    said = str(judged.index["name"]).lower(), judged.index["version"], judged.index["build"]
    if said != (package.name, package.version, package.build):
        promised = f"{package.name}-{package.version}-{package.build}"
        raise IntegrityError(
            f"the package calls itself {'-'.join(said)}, and its channel's index {promised}",
            where=str(archive),
            hint="ask who publishes the channel; do not install this package",
        )


class _Writer:
    """Puts members of an archive, whose names were judged, into the new folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def write(self, member: Member) -> None:
        """One member; those before it are there."""
        path = self.root / member.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.kind == Kind.LINK:
            path.symlink_to(member.target)
        elif member.kind == Kind.HARD_LINK:
            os.link(self.root / member.target, path)
        else:
            path.write_bytes(member.content)
            path.chmod(_mode(member.mode))


def _mode(mode: int) -> int:
    """Of an unpacked file: nobody's rights but its owner's to change it, and nobody's rights given."""
    return (mode & 0o755) | 0o644


def _has_members(folder: Path, judged: JudgedPackage) -> bool:
    """Whether `folder` holds files and links of just the names, kinds, sizes and modes of the archive's."""
    read: dict[str, FoundMember] = {}
    for member in judged.members:  # what a hard link leads to comes before it
        read[member.path] = read[member.target] if member.kind == Kind.HARD_LINK else member
    expected = {f"{folder}/{path}": member for path, member in read.items()}
    found, waiting = 0, [str(folder)]
    with suppress(FileNotFoundError, NotADirectoryError):
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        continue
                    if entry.path not in expected or not _is_as_read(entry, expected[entry.path]):
                        return False
                    found += 1
    return found == len(expected)


def _is_as_read(entry: os.DirEntry[str], member: FoundMember) -> bool:
    if member.kind == Kind.LINK:
        return entry.is_symlink() and str(Path(entry).readlink()) == member.target
    status = entry.stat(follow_symlinks=False)
    return status.st_mode == stat.S_IFREG | _mode(member.mode) and status.st_size == member.size


def _file_paths(folder: Path, judged: JudgedPackage) -> list[Path]:
    """All that have bytes of their own."""
    return [folder / member.path for member in judged.members if member.kind != Kind.LINK]


def _fetch(url: str, archive: Path, size: int) -> None:
    """Download a package; what comes is checked by whoever reads it."""
    channel = url.rsplit("/", 2)[0]
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent, ignore_cleanup_errors=True) as folder:
        partial = Path(folder) / "partial"
        for attempt in range(TRIES):
            try:
                with limited_access.limited_access([channel], {url: size} if size else {}) as access:
                    rattler.run(rattler.package_streaming.download_to_path(access.client(), url, partial))
                break
            except Exception as error:  # py-rattler's types differ by what went wrong below
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                if attempt == TRIES - 1:
                    text = f"a package cannot be fetched: {access.explain(str(error))}"
                    hint = "ask who publishes the channel" if "its channel promises" in text else "is the network up?"
                    raise NetworkError(text, where=url, hint=hint) from error
        partial.replace(archive)
