"""The description of a package of Debian's is what these say of themselves."""

from __future__ import annotations

import dataclasses
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError
from slipway.base.schema import read_yaml
from slipway.bootstrap.adding_debs import Asked, DebFacts, DebianNames, describe, plain_name, read_deb, upstream_version
from slipway.bootstrap.choices import DATA

if TYPE_CHECKING:
    from pathlib import Path

COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2020 somebody
License: Expat and GPL-2+

Files: debian/*
License: Zlib

License: GPL-2+
 See /usr/share/common-licenses/GPL-2.
"""
CONTROL = """\
Package: libthing1
Version: 2:1.2.13.dfsg-1
Architecture: amd64
Maintainer: somebody <nobody@example.org>
Depends: libc6 (>= 2.34), libother5 | libanother, zlib1g
Homepage: https://example.org/
Description: things, and
 more of them
"""


def deb(folder: Path, *, copyright_text: str = COPYRIGHT) -> DebFacts:
    """The facts of a package that is made here."""
    root = folder / "root"
    texts = {
        "DEBIAN/control": CONTROL,
        "DEBIAN/shlibs": "libthing 1 libthing1 (>= 1.2)\n",
        "usr/share/doc/libthing1/copyright": copyright_text,
        "usr/lib/x86_64-linux-gnu/libthing.so.1": "",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    built = folder / "libthing1.deb"
    subprocess.run(["dpkg-deb", "--build", root, built], check=True, capture_output=True)
    (folder / "scratch").mkdir()
    return read_deb(built, folder / "scratch")


@pytest.fixture(scope="module")
def names() -> DebianNames:
    return read_yaml(DATA / "debian.yaml", DebianNames)


def test_what_a_package_says(tmp_path: Path, names: DebianNames) -> None:
    facts = deb(tmp_path)
    assert facts.depends == ("libc6", "libother5", "zlib1g")
    assert describe("libthing", [facts], ("libzlib",), Asked(("libthing1",)), names) == {
        "name": "libthing",
        "version": "1.2.13",
        "summary": "things, and",
        "home": "https://example.org/",
        "license": "MIT AND GPL-2.0-or-later",
        "depends": ["libzlib"],
        "run_exports": {"weak": ["libthing >=1.2.13,<2.0a0"]},
        "sources": [
            {"deb": "libthing1", "install": True},
            {"deb": "base-files", "licenses": ["usr/share/common-licenses/GPL-2"]},
        ],
    }


@pytest.mark.parametrize(("number", "pin", "bound"), [
    ("1", None, "2.0a0"), ("1.2", None, "1.3.0a0"), ("16", None, "1.3.0a0"), ("16", "x.x.x", "1.2.14.0a0"),
])  # fmt: skip
def test_the_number_of_a_library_says_how_long_it_fits(
    number: str, pin: str | None, bound: str, tmp_path: Path, names: DebianNames
) -> None:
    facts = dataclasses.replace(deb(tmp_path), libraries=(("libthing", number),))
    described = describe("libthing", [facts], (), Asked(("libthing1",), pin=pin), names)
    assert described["run_exports"] == {"weak": [f"libthing >=1.2.13,<{bound}"]}


def test_what_cannot_be_described(tmp_path: Path, names: DebianNames) -> None:
    facts = deb(tmp_path, copyright_text="do as you like")
    with pytest.raises(ChannelError, match="does not say its licence"):
        describe("libthing", [facts], (), Asked(("libthing1",)), names)
    assert describe("libthing", [facts], (), Asked(("libthing1",), licence="MIT"), names)["license"] == "MIT"
    with pytest.raises(ChannelError, match="goes into a prefix"):
        describe("libthing", [dataclasses.replace(facts, holds=0)], (), Asked(("libthing1",)), names)


@pytest.mark.parametrize(("given", "expected"), [
    ("libssh2-1", "libssh2"), ("libpsl5", "libpsl"), ("libldap-2.5-0", "libldap"), ("libfmt-dev", "libfmt"),
    ("m4", "m4"),
])  # fmt: skip
def test_names(given: str, expected: str) -> None:
    assert plain_name(given) == expected


@pytest.mark.parametrize(("given", "expected"), [
    ("1:1.2.13.dfsg-1", "1.2.13"), ("3.0.22-1~deb12u2", "3.0.22"), ("1.63.0+dfsg1-2", "1.63.0"),
    ("20220623.1-1", "20220623.1"),
])  # fmt: skip
def test_versions(given: str, expected: str) -> None:
    assert upstream_version(given) == expected
