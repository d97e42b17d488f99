"""A package says what it is made from, and what it installs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError
from slipway.channel.package import is_whole, package_name, read_info, read_package_digest, read_paths

if TYPE_CHECKING:
    from pathlib import Path


def test_digest_is_read_back(package: Path) -> None:
    digest = read_package_digest(package)
    assert digest is not None
    assert len(digest) == 64
    assert read_info(package, "slipway.json") is not None
    assert read_info(package, "no-such-file") is None


def test_name_and_files(package: Path) -> None:
    assert package_name(package) == "libtoy"
    assert read_paths(package) == {"lib/toy.txt"}


def test_what_is_no_package(package: Path) -> None:
    assert is_whole(package)
    content = package.read_bytes()
    package.write_bytes(content[:-40] + bytes(40))
    assert not is_whole(package)
    package.write_bytes(b"garbage")
    with pytest.raises(ChannelError, match="not a readable package") as caught:
        read_info(package, "index.json")
    assert caught.value.where == str(package)
