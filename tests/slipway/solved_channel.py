"""The channel of the solved golden answers: packages without files, from `tests/golden/solved/channel.yaml`.

`python tests/slipway/solved_channel.py DIR` writes it for the real tool.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from slipway.channel.folder import Channel
from slipway.channel.package_writer import PackageRecord, write_package

if TYPE_CHECKING:
    from collections.abc import Mapping

SOLVED = Path(__file__).parents[1] / "golden" / "solved"


def write_channel(folder: Path, described: Mapping[str, dict[str, Any]] | None = None) -> Channel:
    """The channel in `folder`, whole and indexed; with packages as channel.yaml describes them, by default those."""
    channel = Channel(folder)
    if described is None:
        described = yaml.load((SOLVED / "channel.yaml").read_text("utf-8"), yaml.BaseLoader)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "tree").mkdir()
        packages = []
        for name, exports in described.items():
            version = exports.pop("version")
            record = PackageRecord(name, version, "0", 0, "linux-64", (), (), "MIT", noarch_python=False)
            packages.append(("linux-64", Path(scratch) / record.file_name))
            info = {"run_exports.json": json.dumps(exports).encode(), "about.json": b"{}"}
            write_package(Path(scratch) / "tree", record, packages[-1][1], placeholder="/", info=info, level=1)
        channel.publish(packages)
    return channel


if __name__ == "__main__":
    write_channel(Path(sys.argv[1]))
