"""Packages for another processor: compiled here, tested under emulation, installed, and run."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.base.log import NullReporter
from slipway.base.platform import find_platform
from slipway.bootstrap.choices import ChannelRequest
from slipway.bootstrap.ensure import ensure_channel
from slipway.engines.emulation import Emulation, find_emulation
from slipway.verify.elf import read_elf

from .conftest import RECIPES, ShipTorch, Slipway

if TYPE_CHECKING:
    from pathlib import Path

TARGET = find_platform("linux-aarch64")
PROGRAM = "import platform, torch; print(platform.machine(), torch.arange(6.0).reshape(2, 3).softmax(1).sum().item())"


@pytest.fixture(scope="module")
def emulation() -> Emulation:
    """Emulation by the embedded channel's tools."""
    channel = ensure_channel(ChannelRequest(names=TARGET.emulation), NullReporter())
    return find_emulation(TARGET, [channel.url], os.environ, NullReporter())


def run(emulation: Emulation, *words: str | Path) -> str:
    """What a program prints."""
    command = emulation.command([str(word) for word in words])
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_library_in_four_packages(slipway: Slipway, emulation: Emulation, tmp_path: Path) -> None:
    """Its tests, which compile a consumer with CMake and run it, pass while it is shipped, and in the clean room."""
    dist, prefix = tmp_path / "dist", tmp_path / "env"
    shipped = slipway("ship", RECIPES / "c_library", "--platform", TARGET.subdir, "--dist", dist)
    assert shipped.returncode == 0, shipped.stdout + shipped.stderr
    index = json.loads((dist / "channel" / TARGET.subdir / "repodata.json").read_text(encoding="utf-8"))
    records = {record["name"]: record for record in index["packages.conda"].values()}
    assert (records["editdistance"]["subdir"], records["editdistance"]["arch"]) == (TARGET.subdir, TARGET.cpu)
    installed = slipway(
        "install", "editdistance", "python", "--platform", TARGET.subdir, "--prefix", prefix, "--dist", dist
    )
    assert installed.returncode == 0, installed.stderr
    assert read_elf((prefix / "bin/editdistance").read_bytes()).machine == "EM_AARCH64"
    # A program of this machine starts one of the other, which starts one more: all of them are what they say.
    words = "import platform, subprocess as s; print(platform.machine(), s.check_output(['editdistance', 'a', 'bc']))"
    assert run(emulation, "/usr/bin/env", f"PATH={prefix}/bin", "python", "-c", words) == "aarch64 b'2\\n'\n"
    names = ("libeditdistance-devel", "editdistance")
    room = slipway("cleanroom", *names, "--platform", TARGET.subdir, "--dist", dist)
    assert room.returncode == 0, room.stdout + room.stderr
    again = slipway("plan", RECIPES / "c_library", "--platform", TARGET.subdir, "--dist", dist, "--json")
    assert {row["state"] for row in json.loads(again.stdout)} == {"up to date"}


def test_what_cannot_be_built_for_is_refused(slipway: Slipway, tmp_path: Path) -> None:
    answer = slipway("ship", RECIPES / "c_library", "--platform", "linux-ppc64le", "--dist", tmp_path / "dist")
    assert answer.returncode == 4
    assert "the embedded channel has no platform `linux-ppc64le`" in answer.stderr


@pytest.mark.skipif("SLIPWAY_TEST_CROSS" not in os.environ, reason="compiles torch once more: SLIPWAY_TEST_CROSS=1")
def test_torch(ship_torch: ShipTorch, slipway: Slipway, emulation: Emulation, tmp_path: Path) -> None:
    with ship_torch("--no-install", "--platform", TARGET.subdir) as dist:
        prefix = tmp_path / "env"
        installed = slipway("install", "pytorch", "--platform", TARGET.subdir, "--prefix", prefix, "--dist", dist)
        assert installed.returncode == 0, installed.stderr
        assert run(emulation, prefix / "bin/python", "-c", PROGRAM) == "aarch64 2.0\n"
