"""Models and weights from elsewhere: repositories with a `hubconf.py`, and files by their address."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import uuid
import warnings
import zipfile
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import ContentTooShortError, HTTPError, URLError
from urllib.parse import urlparse as urlparse  # libraries import it from here
from urllib.request import Request, urlopen

import torch

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # in a file's name, the beginning of its SHA-256
READ_DATA_CHUNK = 128 * 1024  # bytes

_GITHUB = "https://github.com"
_GITHUB_API = "https://api.github.com"
_TRUSTED_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
_TRUSTED_LIST = "trusted_list"

_directory: str | None = None


class _Percents:
    """Progress where the package tqdm is not installed: percents on stderr, or bytes if nobody knows how many come."""

    def __init__(self, total: int | None = None, disable: bool = False, **options: Any) -> None:
        self.total, self.disable, self.done = total, disable, 0

    def update(self, n: int = 1) -> None:
        """`n` more bytes are there."""
        self.done += n
        if not self.disable:
            shown = f"{100 * self.done / self.total:.1f}%" if self.total else f"{self.done} bytes"
            sys.stderr.write(f"\r{shown}")
            sys.stderr.flush()

    def close(self) -> None:
        """Ends the line."""
        if not self.disable:
            sys.stderr.write("\n")

    def __enter__(self) -> _Percents:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class tqdm:
    """tqdm's, or percents where that package is not installed."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            from tqdm import tqdm as shown
        except ImportError:
            return _Percents(*args, **kwargs)
        return shown(*args, **kwargs)


class _Repository(NamedTuple):
    owner: str
    name: str
    ref: str

    @property
    def label(self) -> str:
        """What it is called in the list of those that are trusted."""
        return f"{self.owner}_{self.name}"

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return Path(get_dir()) / "_".join((self.owner, self.name, self.ref.replace("/", "_")))


def _get_torch_home() -> str:
    """The folder of torch's own files: `$TORCH_HOME`, or `torch` in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path("~/.cache").expanduser()))
    return str(Path(os.environ.get("TORCH_HOME", f"{cache}/torch")).expanduser())


def get_dir() -> str:
    """The folder of files that were downloaded: `$TORCH_HOME/hub`, or `torch/hub` in the user's cache."""
    return _directory if _directory is not None else str(Path(_get_torch_home()) / "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Sets that folder."""
    global _directory
    _directory = str(Path(d).expanduser())


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: bool | str = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What a repository's `hubconf.py` makes for the name `model`, called with the arguments after it.

    The repository is `"owner/name"` or `"owner/name:ref"` on GitHub, downloaded if it is not there yet, or with
    `source="local"` a folder. Its code is run: who is not trusted yet (`trust_repo="check"`) is asked about; `True`
    asks nothing, and `False` always. `force_reload` downloads anew; `skip_validation` does not ask GitHub first
    whether the ref is one of the repository itself, and not of somebody's fork.

    ValueError for another source or ref; RuntimeError where `model` or a package of `dependencies` is missing; the
    errors of `urllib` where nothing could be downloaded.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    folder = Path(repo_or_dir)
    if source == "github":
        folder = _fetch_repository(repo_or_dir, force_reload, trust_repo, verbose, skip_validation)
    module = _import_hubconf(folder)
    return _find_entry(module, model)(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str = "check",
    verbose: bool = True,
) -> Any:
    """The names that a repository's `hubconf.py` offers; see `load`."""
    module = _import_hubconf(_fetch_repository(github, force_reload, trust_repo, verbose, skip_validation))
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str = "check",
) -> Any:
    """The docstring of one of them."""
    folder = _fetch_repository(github, force_reload, trust_repo, verbose=True, skip_validation=skip_validation)
    return _find_entry(_import_hubconf(folder), model).__doc__


def _import_hubconf(folder: Path) -> ModuleType:
    path = folder / "hubconf.py"
    spec = spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"torch.hub: {path} is not there")
    module = module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def _find_entry(module: ModuleType, name: str) -> Any:
    if not isinstance(name, str):
        raise ValueError("Invalid input: model should be a string of function name")
    missing = [package for package in getattr(module, "dependencies", ()) if find_spec(package) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    function = getattr(module, name, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return function


def _fetch_repository(
    address: str, force_reload: bool, trust_repo: bool | str, verbose: bool, skip_validation: bool
) -> Path:
    """The folder of a repository, downloaded if it is not there."""
    repository = _parse_address(address)
    hub = Path(get_dir())
    hub.mkdir(parents=True, exist_ok=True)
    _check_trust(repository, trust_repo)
    if repository.folder.is_dir() and not force_reload:
        if verbose:
            sys.stderr.write(f"Using cache found in {repository.folder}\n")
        return repository.folder
    if not skip_validation:
        _check_ref(repository)
    work = hub / f"{repository.folder.name}.{uuid.uuid4().hex}.partial"
    work.mkdir()
    try:
        _download_archive(repository, work / "archive.zip")
        (work / "content").mkdir()
        with zipfile.ZipFile(work / "archive.zip") as archive:
            _extract(archive, work / "content")
        tops = [*(work / "content").iterdir()]
        if len(tops) != 1 or not tops[0].is_dir():
            raise RuntimeError(f"torch.hub: the archive of {address} is not that of a repository: it has no one folder")
        shutil.rmtree(repository.folder, ignore_errors=True)
        tops[0].rename(repository.folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return repository.folder


def _parse_address(address: str) -> _Repository:
    found = re.fullmatch(r"([^/:]+)/([^/:]+)(?::(.+))?", address)
    if found is None:
        raise ValueError(f'torch.hub: a repository is "owner/name" or "owner/name:ref", not {address!r}')
    owner, name, ref = found.groups()
    return _Repository(owner, name, ref or _default_branch(owner, name))


def _default_branch(owner: str, name: str) -> str:
    """`main` where the repository has that, else `master`; where nobody answers, the one that was downloaded before."""
    try:
        with urlopen(f"{_GITHUB}/{owner}/{name}/tree/main/"):
            return "main"
    except HTTPError as error:
        if error.code != 404:
            raise
        return "master"
    except URLError as error:
        for branch in ("main", "master"):
            if _Repository(owner, name, branch).folder.is_dir():
                return branch
        raise RuntimeError(
            f"It looks like there is no internet connection and the repo could not be found in the cache ({get_dir()})"
        ) from error


def _check_trust(repository: _Repository, trust_repo: bool | str) -> None:
    """Asks the user about a repository nobody has trusted here yet, and writes the answer down."""
    known = Path(get_dir()) / _TRUSTED_LIST
    trusted = (
        repository.owner in _TRUSTED_OWNERS
        or repository.folder.is_dir()
        or (known.is_file() and repository.label in known.read_text(encoding="utf-8").split())
    )
    if trust_repo is False or (trust_repo == "check" and not trusted):
        answer = input(
            f"The repository {repository.label} does not belong to the list of trusted repositories and as such cannot "
            "be downloaded. Do you trust this repository and wish to add it to the trusted list of repositories (y/N)?"
        ).lower()
        if answer in ("n", "no", ""):
            raise Exception("Untrusted repository.")  # PyTorch's class, which programs catch
        if answer not in ("y", "yes"):
            raise ValueError(f"Unrecognized response {answer}.")
    if not trusted:
        with known.open("a", encoding="utf-8") as stream:
            stream.write(f"{repository.label}\n")


def _check_ref(repository: _Repository) -> None:
    """ValueError where the ref is no branch, tag or commit at the end of one: GitHub shows forks' commits, too."""
    for kind in ("branches", "tags"):
        for page in range(1, sys.maxsize):
            path = f"repos/{repository.owner}/{repository.name}/{kind}?per_page=100&page={page}"
            found = _ask_github(f"{_GITHUB_API}/{path}")
            if not found:
                break
            if any(one["name"] == repository.ref or one["commit"]["sha"].startswith(repository.ref) for one in found):
                return
    raise ValueError(
        f"Cannot find {repository.ref} in {_GITHUB}/{repository.owner}/{repository.name}. "
        "If it's a commit from a forked repo, please call hub.load() with forked repo directly."
    )


def _ask_github(url: str) -> Any:
    headers = {"Accept": "application/vnd.github.v3+json"}
    token = os.environ.get("GITHUB_TOKEN")
    if token:
        try:
            with urlopen(Request(url, headers=headers | {"Authorization": f"token {token}"})) as answer:
                return json.load(answer)
        except HTTPError:
            pass  # a token may have fewer rights than nobody
    with urlopen(Request(url, headers=headers)) as answer:
        return json.load(answer)


def _download_archive(repository: _Repository, path: Path) -> None:
    url = f"{_GITHUB}/{repository.owner}/{repository.name}/zipball/"
    sys.stdout.write(f'Downloading: "{url}{repository.ref}" to {path}\n')
    try:
        download_url_to_file(url + repository.ref, str(path), progress=False)
    except HTTPError as error:
        if error.code != 300:
            raise
        warnings.warn(
            f"The ref {repository.ref} is a tag and a branch of the repository; the branch is taken. "
            "refs/heads/NAME or refs/tags/NAME say which is meant, with skip_validation=True.",
            stacklevel=4,
        )
        download_url_to_file(f"{url}refs/heads/{repository.ref}", str(path), progress=False)


def _extract(archive: zipfile.ZipFile, folder: Path) -> None:
    """Unpacks an archive, whose files may not leave `folder`: ValueError."""
    for member in archive.infolist():
        name = member.filename.replace("\\", "/")
        if name.startswith("/") or re.match("[A-Za-z]:", name):
            raise ValueError(f"Archive entry has absolute path: {member.filename}")
        if ".." in PurePosixPath(name).parts:
            raise ValueError(f"Archive entry contains directory traversal: {member.filename}")
    archive.extractall(folder)


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Downloads a file; until it is whole it lies beside `dst`, under another name.

    RuntimeError where its SHA-256 does not begin with `hash_prefix`; the errors of `urllib` where it cannot be had.
    """
    path = Path(dst).expanduser()
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    sha256 = hashlib.sha256()
    try:
        with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as answer, beside.open("xb") as stream:
            total = int(answer.headers.get("Content-Length") or 0) or None
            with tqdm(total=total, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024) as shown:
                while chunk := answer.read(READ_DATA_CHUNK):
                    stream.write(chunk)
                    sha256.update(chunk)
                    shown.update(len(chunk))
            if total is not None and stream.tell() != total:
                raise ContentTooShortError(f"{url} ended after {stream.tell()} of {total} bytes", ("", answer.headers))
        digest = sha256.hexdigest()
        if hash_prefix is not None and not digest.startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest}")')
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """What the file of this address holds, as `torch.load` reads it, downloaded to `model_dir` if it is not there.

    `model_dir` is `get_dir()/checkpoints` by default, and the file's name the address's last part. With `check_hash`
    a new file must have the SHA-256 whose beginning is in that name (`resnet18-f37072fd.pth`). A file of other pickles
    than weights needs `weights_only=False`, which runs what is in them.
    """
    folder = Path(model_dir) if model_dir is not None else Path(get_dir()) / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (file_name or Path(urlparse(url).path).name)
    if not path.exists():
        sys.stdout.write(f'Downloading: "{url}" to {path}\n')
        hashed = HASH_REGEX.search(path.name) if check_hash else None
        download_url_to_file(url, str(path), hashed.group(1) if hashed else None, progress=progress)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            # One file is what somebody compressed; torch.save's own archives have several.
            if len(members) == 1 and not members[0].is_dir():
                _extract(archive, folder)
                path = folder / members[0].filename
    return torch.load(path, map_location=map_location, weights_only=weights_only)
