"""Archives that would write outside of their folder, or bring files of this machine into it."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError
from slipway.source.unpack import unpack
from slipway.source.url import Fetched

if TYPE_CHECKING:
    from pathlib import Path

FILE, LINK, HARD = "file", "link", "hard link"

HOSTILE = {
    "a link to this machine": [("LICENSE", LINK, "/etc/hostname")],
    "a link over the top": [("x/LICENSE", LINK, "../../outside")],
    "a link to nothing outside": [("x/LICENSE", LINK, "../../no/such/thing")],
    "a link through a link": [("d", LINK, "sub"), ("sub/keep", FILE, ""), ("x", LINK, "d/../../outside")],
    "a file through a link": [("sub/keep", FILE, ""), ("d", LINK, "sub"), ("d/planted", FILE, "planted")],
    "a file through a link that comes later": [("d/planted", FILE, "planted"), ("d", LINK, "/tmp")],
    "a link and a file of one name": [("keep", FILE, ""), ("a", LINK, "keep"), ("a", FILE, "planted")],
    "a link written twice": [("keep", FILE, ""), ("a", LINK, "keep"), ("./a", LINK, "/etc/hostname")],
    "a name over the top": [("x/../../planted", FILE, "planted")],
    "an absolute name": [("/tmp/slipway-planted", FILE, "planted")],
    "a hard link to this machine": [("a", HARD, "/etc/hostname")],
    "a hard link over the top": [("a", HARD, "../outside")],
    "a hard link to a link": [("keep", FILE, ""), ("a", LINK, "keep"), ("b", HARD, "a")],
}


def write_tar(path: Path, members: list[tuple[str, str, str]]) -> None:
    kinds = {FILE: tarfile.REGTYPE, LINK: tarfile.SYMTYPE, HARD: tarfile.LNKTYPE}
    with tarfile.open(path, "w:gz") as archive:
        for name, kind, text in members:
            info = tarfile.TarInfo(name)
            info.type = kinds[kind]
            info.linkname = "" if kind == FILE else text
            info.size = len(text) if kind == FILE else 0
            archive.addfile(info, io.BytesIO(text.encode()) if kind == FILE else None)


def write_zip(path: Path, members: list[tuple[str, str, str]]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, kind, text in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = ((stat.S_IFLNK if kind == LINK else stat.S_IFREG) | 0o644) << 16
            archive.writestr(info, text)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives(tmp_path: Path, name: str, kind: str) -> None:
    members = HOSTILE[name]
    if kind == "zip" and any(member[1] == HARD for member in members):
        pytest.skip("zip knows no hard links")
    (tmp_path / "outside").write_text("PLANTED", encoding="utf-8")
    path = tmp_path / f"a.{kind}"
    (write_tar if kind == "tar.gz" else write_zip)(path, members)
    before = set(tmp_path.rglob("*")) | {tmp_path / "out"}
    with pytest.raises(IntegrityError, match="cannot be unpacked") as caught:
        unpack(Fetched(path, path.name, ""), tmp_path / "out")
    assert any(f"`{member[0].removeprefix('./')}`" in caught.value.message for member in members)
    assert set(tmp_path.rglob("*")) == before
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
def test_links_inside(tmp_path: Path, kind: str) -> None:
    members = [("top/sub/file", FILE, "text"), ("top/link", LINK, "sub/file"), ("top/up", LINK, "sub/..")]
    if kind == "tar.gz":
        members.append(("top/hard", HARD, "top/sub/file"))
    path = tmp_path / f"a.{kind}"
    (write_tar if kind == "tar.gz" else write_zip)(path, members)
    unpack(Fetched(path, path.name, ""), tmp_path / "out")
    assert str((tmp_path / "out/link").readlink()) == "sub/file"
    assert (tmp_path / "out/link").read_text() == "text"
    assert kind == "zip" or (tmp_path / "out/hard").read_text() == "text"
