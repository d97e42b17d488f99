"""The channel folder: packages under ``linux-64`` and ``noarch``, with the index that solvers read."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

from slipway.channel.package_writer import to_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from slipway.bootstrap.assemble import AssembledPackage

SUBDIRS = ("linux-64", "noarch")


def write_channel(folder: Path, packages: Iterable[AssembledPackage]) -> None:
    """Fill an empty `folder` with the packages (hard links where the disk allows) and their repodata.json."""
    entries: dict[str, dict[str, object]] = {subdir: {} for subdir in SUBDIRS}
    for subdir in SUBDIRS:
        (folder / subdir).mkdir(parents=True)
    for package in packages:
        target = folder / package.subdir / package.path.name
        _link_or_copy(package.path, target)
        entries[package.subdir][package.path.name] = {
            **package.index,
            "md5": package.md5,
            "sha256": package.sha256,
            "size": package.size,
        }
    for subdir in SUBDIRS:
        repodata = {
            "info": {"subdir": subdir},
            "packages": {},
            "packages.conda": entries[subdir],
            "removed": [],
            "repodata_version": 1,
        }
        (folder / subdir / "repodata.json").write_bytes(to_json(repodata))


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        shutil.copyfile(source, target)
