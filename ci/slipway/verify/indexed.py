"""Whether a package is what the index beside it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.base.errors import ChannelError, IntegrityError
from slipway.channel.repodata import read_records

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from slipway.verify.facts import PackageFacts

_CURE = "`slipway ship` or `slipway publish` writes the index again"


def read_index(folder: Path) -> Mapping[str, Mapping[str, Any]] | None:
    """File name -> record of the repodata.json in `folder`; None if there is no index.

    Raises:
        ChannelError: it is damaged.
    """
    return read_records(folder) if (folder / "repodata.json").exists() else None


def check_index(path: Path, facts: PackageFacts, index: Mapping[str, Mapping[str, Any]]) -> None:
    """Compare the package at `path` with its record.

    Raises:
        ChannelError: the index does not know it.
        IntegrityError: its bytes are not those that were indexed, or its dependencies are not.
    """
    record = index.get(path.name)
    if record is None:
        raise ChannelError("the package lies in a channel whose index does not know it", where=str(path), hint=_CURE)
    for key, actual in (("sha256", facts.sha256), ("size", facts.size)):
        if record.get(key) not in (None, actual):
            raise IntegrityError(
                f"the package is not the one that was indexed: {key} {actual} instead of {record[key]}",
                where=str(path),
                hint="somebody changed the file or the index; ship it again",
            )
    for key in ("name", "version", "build", "build_number"):
        if record.get(key) != facts.index.get(key):
            message = f"the index says {key} {record.get(key)}, and the package {facts.index.get(key)}"
            raise IntegrityError(message, where=str(path), hint=_CURE)
