"""Only basic tools of the host, whatever else it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError
from slipway.engines import host_tools as hosttools

if TYPE_CHECKING:
    from pathlib import Path


def test_holds_the_basics_and_no_compiler(tmp_path: Path) -> None:
    folder = hosttools.make_host_tools(tmp_path / "tools")
    names = {path.name for path in folder.iterdir()}
    assert set(hosttools.REQUIRED_TOOLS) <= names
    assert names.isdisjoint(
        {"gcc", "cc", "g++", "c++", "ld", "make", "cmake", "python3", "python", "perl", "git", "curl"}
    )


def test_stray_link_is_removed_and_wrong_one_corrected(tmp_path: Path) -> None:
    folder = hosttools.make_host_tools(tmp_path)
    (folder / "gcc").symlink_to("/usr/bin/gcc")
    (folder / "sed").unlink()
    (folder / "sed").symlink_to("/nowhere")
    hosttools.make_host_tools(folder)
    assert not (folder / "gcc").is_symlink()
    assert (folder / "sed").exists()


def test_missing_required_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosttools, "REQUIRED_TOOLS", ("no-such-tool",))
    with pytest.raises(HostError, match="`no-such-tool` is not installed"):
        hosttools.make_host_tools(tmp_path)
