"""How the kernel is told what runs another platform's programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError
from slipway.base.log import NullReporter
from slipway.base.platform import find_platform
from slipway.engines import emulation

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
TARGET = find_platform("linux-aarch64")


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with what the packages bring."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib/binfmt.d").mkdir(parents=True)
    (tmp_path / "lib/binfmt.d/qemu-aarch64.conf").write_text(
        f":qemu-aarch64:M::{MAGIC}:{MASK}:/usr/libexec/qemu:OPF\n", encoding="ascii"
    )
    monkeypatch.setattr(emulation, "install_tools", lambda *_: tmp_path)
    return tmp_path


def test_the_rule_is_the_emulators_and_starts_it_with_our_sysroot(prefix: Path) -> None:
    found = emulation.find_emulation(TARGET, (), os.environ, NullReporter())
    starter = prefix / "bin/run-aarch64"
    assert found.rule == f":qemu-aarch64:M::{MAGIC}:{MASK}:{starter}:P"
    sysroot = prefix / "aarch64-conda-linux-gnu/sysroot"
    assert f'exec {prefix}/bin/qemu-aarch64 -L {sysroot} -0 "$name" "$program" "$@"' in starter.read_text()
    assert os.access(starter, os.X_OK)


def test_a_system_that_does_not_let_us(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "_REGISTER", "echo no such thing >&2; false")
    with pytest.raises(HostError, match="programs for linux-aarch64 cannot be started here: no such thing"):
        emulation.find_emulation(TARGET, (), os.environ, NullReporter())
    assert (prefix / "binfmt").is_dir()
