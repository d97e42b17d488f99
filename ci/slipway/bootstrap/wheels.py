"""Fetches wheels with pip, the only downloader here: the user's own pip configuration decides from where."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.base.files import hash_file, says_disk_full
from slipway.base.http import DownloadWatch, read_limits
from slipway.base.platform import LINUX_64, PLATFORMS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.base.proc import Answer, Processes
    from slipway.bootstrap.lock import LockedWheel

RELEASES = ("_2_28", "_2_27", "_2_17", "2014", "_2_12", "2010", "_2_5", "1")
"""What platform tags say of a glibc that the channel's serves, newest first."""


SPARE_BYTES = 64_000_000
"""What pip may write beside the files that it is to fetch."""


def fetch(
    wheels: Sequence[LockedWheel],
    python: str,
    processes: Processes,
    scratch: Path,
    store: Path,
    cpu: str = LINUX_64.cpu,
) -> None:
    """Download locked wheels into `store` (``store/SHA256/FILE``), all with one run of pip.

    Args:
        python: the Python X.Y that the wheels must serve.
        scratch: an empty folder on the same disk as `store`.
        cpu: the processor that they must serve.

    Raises:
        NetworkError, IntegrityError, DiskFullError: nothing half done is left in `store`.
    """
    requirements = scratch / "requirements.txt"
    requirements.write_text(
        "".join(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels)
    )
    named = ", ".join(f"{wheel.project} {wheel.version}" for wheel in wheels)
    # pip keeps a file twice for a moment, and may look into others of the same version.
    most = 2 * sum(wheel.size for wheel in wheels) + SPARE_BYTES
    outcome = _pip(["--require-hashes", "-r", str(requirements)], python, processes, scratch, named, most, cpu=cpu)
    if outcome.status != 0:
        raise failure(outcome, named, scratch)
    for wheel in wheels:
        path = scratch / wheel.file
        if not path.exists():
            raise errors.IntegrityError(
                f"the lock promises `{wheel.file}`, but pip chose another file",
                hint="run `slipway bootstrap --update-lock`",
                detail=outcome.tail,
            )
        store_download(path, wheel.sha256, store)


def resolve(
    project: str,
    version: str | None,
    python: str,
    processes: Processes,
    scratch: Path,
    *,
    pure: bool = False,
    cpu: str = LINUX_64.cpu,
) -> tuple[Path, str, int]:
    """Download whatever wheel pip finds for ``project==version``; returns its path, sha256 and size in bytes.

    Args:
        version: None for the newest.
        pure: only one that holds Python alone.
        cpu: the processor that it must serve.
    """
    wanted, named = (project, project) if version is None else (f"{project}=={version}", f"{project} {version}")
    outcome = _pip([wanted], python, processes, scratch, named, pure=pure, cpu=cpu)
    if outcome.status != 0:
        raise failure(outcome, named, scratch)
    (path,) = scratch.glob("*.whl")
    return path, hash_file(path), path.stat().st_size


def own_tag(python: str) -> str:
    """``cp311``, what files for that Python only are called."""
    return f"cp{python.replace('.', '')}"


def tag_of(file: str, python: str) -> str:
    """What a file serves, as `slipway.bootstrap.lock.LockedWheel` has it."""
    own = own_tag(python)
    tag = own if re.search(rf"-{own}-{own}-", file) else "any"
    other = next((known.cpu for known in PLATFORMS.values() if known.debian and file.endswith(f"_{known.cpu}.whl")), "")
    return tag if other in ("", LINUX_64.cpu) else f"{tag}-{other}"


def store_download(path: Path, sha256: str, store: Path) -> Path:
    """Verify a finished download and move it to its place; a wrong one is removed."""
    if (found := hash_file(path)) != sha256:
        path.unlink()
        raise errors.IntegrityError(
            f"`{path.name}` has sha256 {found}, but {sha256} was promised",
            hint="the download was damaged or the source was tampered with; try again",
        )
    folder = store / sha256
    folder.mkdir(parents=True, exist_ok=True)
    path.replace(folder / path.name)
    return folder / path.name


def _pip(
    arguments: Sequence[str],
    python: str,
    processes: Processes,
    scratch: Path,
    what: str,
    most: int | None = None,
    *,
    pure: bool = False,
    cpu: str = LINUX_64.cpu,
) -> Answer:
    if not any(importlib.metadata.distributions(name="pip")):
        raise errors.HostError(
            "the Python that runs slipway has no pip", where=sys.executable, hint="install pip for it: `ensurepip`"
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    limits = read_limits()
    command += [f"--timeout={limits.silent_seconds}", "--disable-pip-version-check", "--no-input", "--progress-bar=off"]
    command += [f"--python-version={python}", "--abi=none", "--platform=any"]
    if not pure:
        command += ["--implementation=cp", f"--abi={own_tag(python)}", "--abi=abi3"]
        command += [f"--platform=manylinux{release}_{cpu}" for release in RELEASES]
    # pip unpacks into the temporary folder; keep it on the cache's disk, and out of the way of other programs.
    temporary = scratch / "tmp"
    temporary.mkdir()
    try:
        return processes.run(
            [*command, f"--dest={scratch}", *arguments],
            cwd=scratch,
            what="fetching wheels",
            env={**os.environ, "TMPDIR": str(temporary), "LC_ALL": "C.UTF-8"},
            watch=DownloadWatch(scratch, what, limits, most),
        )
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def failure(outcome: Answer, what: str, folder: Path) -> errors.SlipwayError:
    """The typed error for a failed run of pip, which wrote to `folder`."""
    if "THESE PACKAGES DO NOT MATCH THE HASHES" in outcome.text:
        return errors.IntegrityError(
            f"pip was offered other bytes than the lock promises, for {what}",
            hint="if the project replaced its files, `slipway bootstrap --update-lock`; else check your package index",
            detail=outcome.tail,
        )
    if says_disk_full(outcome.text):
        return errors.DiskFullError(
            "the disk filled up while pip was downloading", where=str(folder), detail=outcome.tail
        )
    return errors.NetworkError(
        f"pip cannot download {what}",
        hint="check the network and pip's configuration (`pip config list`), then run the same command again",
        detail=outcome.tail,
    )
