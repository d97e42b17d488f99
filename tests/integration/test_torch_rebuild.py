"""Our own packages, built again: another checkout, another home, other times, another folder to build in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from slipway.channel.package import read_info
from slipway.source.tree import read_tree

from .conftest import CHECKOUT, ShipTorch


def test_libtorch_and_pytorch_have_the_same_bytes_again(ship_torch: ShipTorch, tmp_path: Path) -> None:
    checkout = tmp_path / "another" / "place"
    tree = read_tree(CHECKOUT)
    tree.copy_to(checkout)
    for name in tree.files:
        os.utime(checkout / name, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    (checkout / ".venv").symlink_to(CHECKOUT / ".venv")
    channel = checkout / "dist/channel"
    with ship_torch("--no-install") as dist:
        shutil.copytree(dist / "channel", channel)
    pytorch = max(channel.glob("*/pytorch-2*.conda"), key=lambda path: path.stat().st_mtime)
    needed = json.loads(read_info(pytorch, "slipway.json") or b"")["needed"]
    (libtorch,) = (key for key in needed if key.startswith("libtorch-"))

    home = tmp_path / "home"
    home.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {
        "HOME": str(home),
        "USER": "somebody",
        "TZ": "Asia/Tokyo",
        "SLIPWAY_BUILD_FOLDER": str(tmp_path / "a-folder-with-a-longer-name"),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
    }
    command = ["./slipway", "rebuild", libtorch, pytorch.name.removesuffix(".conda"), "--isolation", "off", "--json"]
    answer = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert [entry["identical"] for entry in json.loads(answer.stdout)] == [True, True]
