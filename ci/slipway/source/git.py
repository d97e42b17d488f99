"""Git repositories: a revision becomes a commit, and a commit becomes a tree of files in the cache.

What was fetched is kept in two places of the cache: ``git/mirrors`` has the repositories' history, ``git/trees`` the
files of each commit that was asked for, with those of its submodules and without ``.git``.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from packaging.version import InvalidVersion, Version

from slipway.base.errors import DiskFullError, HostError, IntegrityError, NetworkError, RecipeError
from slipway.base.files import says_disk_full
from slipway.base.http import ServerLimitError, read_limits
from slipway.base.json_file import read_json
from slipway.base.locks import hold_lock
from slipway.base.proc import Answer, capture
from slipway.source.tree import SourceTree, check_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
                "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_TEMPLATE_DIR", "GIT_CONFIG")  # fmt: skip
"""Variables that would have git work on another repository than it is told."""

SETTINGS = ("core.hooksPath=/dev/null", "core.autocrlf=false", "core.eol=lf", "core.symlinks=true", "gc.auto=0",
            "advice.detachedHead=false")  # fmt: skip
"""The user's own configuration counts (credentials, proxies, other addresses), but not for the files' bytes."""

LIMITED = 'ulimit -f "$0" && exec "$@"'
"""For sh: becomes the program in ``$@``, which writes no file of more than so many blocks of 512 bytes."""

COMMIT = re.compile(r"[0-9a-f]{40}")
HEAD = "refs/slipway/HEAD"
REFERENCES = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", f"+HEAD:{HEAD}")
KNOWN = "slipway.json"


@dataclass(frozen=True)
class Found:
    """A commit, and what ``git describe --tags --long`` says of it; None where no tag leads to it."""

    commit: str
    describe: str | None


def resolve(
    url: str, revision: str | None, depth: int | None, cache: Path, *, offline: bool, environ: Mapping[str, str]
) -> Found:
    """The commit that `revision` (None for the repository's HEAD) means now; its files are kept in the cache.

    Raises:
        RecipeError: there is no such repository on this machine, or no such revision in it.
        NetworkError: the repository cannot be reached.
        HostError: there is no git.
    """
    folder = _local(url)
    if folder is not None and not folder.exists():
        raise RecipeError("the recipe's source does not exist: no git repository here", where=str(folder))
    mirrors = cache / "git" / "mirrors"
    with _alone(cache):
        mirror = mirrors / f"{hashlib.sha256(f'{url} {depth or 0}'.encode()).hexdigest()[:16]}.git"
        git = _Git(url, mirror, environ)
        if revision is None or not COMMIT.fullmatch(revision) or git.commit(revision) is None:
            _fetch(git, revision, depth, offline=offline)
        commit = git.commit(revision or "HEAD") or git.commit(f"refs/heads/{(revision or '').removeprefix('origin/')}")
        if commit is None:
            close = difflib.get_close_matches(revision or "HEAD", git.names(), n=3, cutoff=0.5)
            raise RecipeError(
                f"the git repository has no revision `{revision or 'HEAD'}`",
                where=url,
                hint=f"did you mean {' or '.join(f'`{name}`' for name in close)}?" if close
                else "name a tag, a branch or a commit in `git_rev`",
            )  # fmt: skip
        describe = git.ask("describe", "--tags", "--long", "--abbrev=7", commit)
        if not is_kept(commit, cache):
            _keep(git, commit, cache)
    return Found(commit, describe)


def _fetch(git: _Git, revision: str | None, depth: int | None, *, offline: bool) -> None:
    if offline:
        if git.commit("HEAD") is not None:
            return  # the branches and tags as they were when they were last looked at
        raise NetworkError(
            "a git repository is not in the cache, and `--offline` forbids to fetch it", where=git.url,
            hint="run the command without `--offline` once",
        )  # fmt: skip
    if git.ask("rev-parse", "--git-dir") is None:  # there is none yet, or it is damaged
        shutil.rmtree(git.folder, ignore_errors=True)
        git.folder.mkdir(parents=True)
        git.run("init", "--quiet", "--bare", ".")
    wanted = [*REFERENCES, *([f"+{revision}:{revision}"] if revision and revision.startswith("refs/") else [])]
    shallow = (git.folder / "shallow").exists()
    reach = [f"--depth={depth}"] if depth else []
    git.run("fetch", "--quiet", "--prune", "--no-tags", *reach, "--", git.url, *wanted)
    if revision and git.commit(revision) is None:
        if reach or shallow:  # deeper than that
            git.run("fetch", "--quiet", "--prune", "--no-tags", "--unshallow", "--", git.url, *wanted)
        if COMMIT.fullmatch(revision) and git.commit(revision) is None:
            # It is on no branch; some servers give it all the same.
            git.ask("fetch", "--quiet", "--no-tags", "--", git.url, revision)


def is_kept(commit: str, cache: Path) -> bool:
    """Whether the cache has the commit's files, undamaged."""
    known = read_json(_kept(commit, cache) / KNOWN)
    return known is not None and bool(known == _tree(_kept(commit, cache)).digest)


def copy_kept(commit: str, cache: Path, folder: Path) -> None:
    """Write the files of a commit, which `resolve` found, to `folder`."""
    _tree(_kept(commit, cache)).copy_to(folder)


def copy_tree(commit: str, cache: Path, target: Path) -> None:
    """Make the cache `target` hold the files of a commit that the cache `cache` has.

    Raises:
        IntegrityError: it has not.
    """
    if is_kept(commit, target):
        return
    if not is_kept(commit, cache):
        raise IntegrityError("a git source has vanished, or was damaged", where=str(_kept(commit, cache)),
                             hint="run the same command again: it is fetched anew")  # fmt: skip
    place = _kept(commit, target)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".", ignore_cleanup_errors=True) as name:
        made = Path(name) / "made"
        shutil.copytree(_kept(commit, cache), made, symlinks=True)
        shutil.rmtree(place, ignore_errors=True)  # a damaged one
        made.rename(place)


def _kept(commit: str, cache: Path) -> Path:
    return cache / "git" / "trees" / commit


def _tree(folder: Path) -> SourceTree:
    """All files that were checked out, also those that a ``.gitignore`` among them names."""
    root = folder / "files"
    paths = (Path(parent) / name for parent, folders, names in os.walk(root) for name in (*folders, *names))
    found = (path for path in paths if path.is_symlink() or not path.is_dir())
    return SourceTree(root, tuple(sorted(path.relative_to(root).as_posix() for path in found)))


def _keep(git: _Git, commit: str, cache: Path) -> None:
    """Check the commit out beside its place, its submodules too, and rename.

    Raises:
        RecipeError: a link in it leads out of it, or a file has a name that no package can hold.
    """
    target = _kept(commit, cache)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".", ignore_cleanup_errors=True) as name:
        files = Path(name) / "made" / "files"
        files.mkdir(parents=True)
        work = _Git(git.url, files, git.environ)
        work.run("init", "--quiet", ".")
        work.run("fetch", "--quiet", "--no-tags", "--", str(git.folder), commit, local=True)
        work.run("checkout", "--quiet", "--detach", commit)
        if (files / ".gitmodules").exists():
            work.run("remote", "add", "origin", git.url)  # which submodules with relative addresses are relative to
            work.run("submodule", "--quiet", "update", "--init", "--recursive", local=_local(git.url) is not None)
        for path in sorted(files.rglob(".git")):
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        made = files.parent
        check_names(_tree(made).files, f"{git.url} at {commit}")
        _tree(made).check_links(f"{git.url} at {commit}")
        (made / KNOWN).write_text(json.dumps(_tree(made).digest), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)  # a damaged one
        made.rename(target)


def variables(commit: str, describe: str | None) -> dict[str, str]:
    """What conda-build tells build scripts of the commit."""
    found = {"GIT_FULL_HASH": commit}
    if describe is not None:
        tag, number, short = describe.rsplit("-", 2)
        found |= {
            "GIT_DESCRIBE_TAG": tag,
            "GIT_DESCRIBE_NUMBER": number,
            "GIT_DESCRIBE_HASH": short,
            "GIT_DESCRIBE_TAG_PEP440": _as_version(tag, number, short),
            "GIT_BUILD_STR": f"{number}_{short}",
        }
    return found


def _as_version(tag: str, number: str, short: str) -> str:
    """``v1.2`` and 3 commits since -> ``1.2.post3+gabc1234``; a tag that is no version stays as it is."""
    match = re.search(r"\d.*", tag)
    try:
        version = str(Version(match[0] if match else tag))
    except InvalidVersion:
        return tag
    return version if number == "0" else f"{version}.post{number}+{short}"


def _local(url: str) -> Path | None:
    if url.startswith("file://"):
        return Path(unquote(urlsplit(url).path))
    return Path(url) if url.startswith("/") else None


@contextmanager
def _alone(cache: Path) -> Iterator[None]:
    with hold_lock(cache / "git" / ".lock", patience=math.inf):
        yield


@dataclass(frozen=True)
class _Git:
    """The host's git in a folder."""

    url: str
    folder: Path
    environ: Mapping[str, str]

    def names(self) -> list[str]:
        """Branches and tags."""
        answer = self.ask("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags")
        return (answer or "").split()

    def commit(self, revision: str) -> str | None:
        """What `revision` means, if it means anything."""
        named = re.sub(r"^HEAD\b", HEAD, revision)  # the mirror's own says nothing
        return self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")

    def ask(self, *words: str) -> str | None:
        """What git answers, or None where it fails."""
        if not self.folder.exists():
            return None
        answer = self._call(words, local=False)
        return answer.text.strip() if answer.status == 0 else None

    def run(self, *words: str, local: bool = False) -> None:
        """Have git do something.

        Raises:
            NetworkError: it fails; RecipeError: in a repository of this machine; DiskFullError: for want of room.
        """
        answer = self._call(words, local=local)
        if answer.status == 0:
            return
        detail = answer.errors.decode(errors="replace").strip()
        if says_disk_full(detail) or "quota exceeded" in detail:
            raise DiskFullError("the disk is full, so a git source could not be fetched", where=str(self.folder),
                                hint="make room and run the same command again", detail=detail)  # fmt: skip
        if _local(self.url) is not None and "submodule" not in words:
            raise RecipeError("git cannot read the recipe's source", where=self.url, detail=detail,
                              hint="git's own words are above")  # fmt: skip
        raise NetworkError(
            "a git source cannot be fetched", where=self.url, detail=detail,
            hint="git's own words are above; is the network up, and may you read the repository?",
        )  # fmt: skip

    def _call(self, words: Sequence[str], *, local: bool) -> Answer:
        program = shutil.which("git", path=self.environ.get("PATH"))
        if program is None:
            raise HostError(
                "git is not installed", where=self.url,
                hint="install git: slipway fetches a recipe's git sources with the host's, before the build",
            )  # fmt: skip
        kept = {key: value for key, value in self.environ.items() if not key.startswith(REDIRECTIONS)}
        limits = read_limits(self.environ)
        speed = (f"http.lowSpeedLimit={limits.least_speed}", f"http.lowSpeedTime={limits.speed_seconds}")
        settings = [*SETTINGS, *(["protocol.file.allow=always"] if local else []), *speed]
        blocks = "unlimited" if _local(self.url) else str(limits.file_bytes // 512 + 1)
        command = [program, *(word for setting in settings for word in ("-c", setting)), *words]
        try:
            answer = self._capture(["/bin/sh", "-c", LIMITED, blocks, *command], kept, limits.git_seconds)
        except subprocess.TimeoutExpired:
            what = f"git has fetched for {limits.git_seconds} seconds"
            raise ServerLimitError(what, self.url, "git_seconds") from None
        said = answer.errors.decode(errors="replace")
        if answer.status != 0 and "Operation too slow" in said:
            raise ServerLimitError("a git server is too slow", self.url, "least_speed")
        if answer.status != 0 and (answer.status == -signal.SIGXFSZ or f"signal {signal.SIGXFSZ:d}" in said):
            what = f"a git repository has more than the {limits.file_bytes} bytes that are allowed"
            raise ServerLimitError(what, self.url, "file_bytes")
        return answer

    def _capture(self, command: Sequence[str], kept: dict[str, str], seconds: int) -> Answer:
        return capture(
            command,
            env=kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(self.folder.parent)},
            what="fetching a source",
            cwd=self.folder,
            seconds=seconds,
        )
