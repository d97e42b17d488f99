"""Every store keeps the same promises."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, NetworkError, UsageError
from slipway.base.files import hash_file
from slipway.channel.stores import check_scheme, open_store

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.channel.stores import ChannelStore

KINDS = [
    "folder",
    pytest.param("webdav", marks=pytest.mark.integration),
    pytest.param("s3", marks=pytest.mark.integration),
    pytest.param("registry", marks=pytest.mark.integration),
]


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place of each kind, with nothing in it."""
    if request.param == "folder":
        return str(tmp_path / "channel")
    if request.param == "webdav":
        return f"{request.getfixturevalue('webdav')[0]}/{uuid.uuid4().hex}/ch"
    place = request.getfixturevalue("registry" if request.param == "registry" else "bucket")
    return f"{place}/{uuid.uuid4().hex}/ch"


def content_of(store: ChannelStore, name: str) -> bytes | None:
    found = store.read(name)
    return found.content if found is not None else None


def test_promises_of_a_store(address: str, tmp_path: Path) -> None:
    file = tmp_path / "package"
    file.write_bytes(b"p" * 100_000)
    with open_store(address) as store:
        assert store.read("linux-64/a.json") is None
        store.write("linux-64/a.json", b"1")
        store.write("linux-64/a.json", b"2")
        assert content_of(store, "linux-64/a.json") == b"2"
        assert store.exchange("noarch/p+1!2-0.conda", file, None)
        assert not store.exchange("noarch/p+1!2-0.conda", file, None), "something is there"
        assert store.hash_file("noarch/p+1!2-0.conda") == hash_file(file)
        assert store.exchange("c.json", b"first", None)
        first = store.read("c.json")
        assert not store.exchange("c.json", b"second", None)
        assert store.exchange("c.json", b"second", first)
        assert content_of(store, "c.json") == b"second"
        store.remove("c.json")
        store.remove("c.json")
        assert store.read("c.json") is None
    with open_store(address) as store:
        assert content_of(store, "linux-64/a.json") == b"2"


@pytest.mark.parametrize("kind", ["webdav", "s3"])
@pytest.mark.integration
def test_who_was_slower_is_told(kind: str, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue("webdav")[0] if kind == "webdav" else request.getfixturevalue("bucket")
    with open_store(f"{place}/{uuid.uuid4().hex}") as one, open_store(one.address if kind == "s3" else place) as other:
        if kind == "webdav":
            one = other
        assert one.exchange("slow.json", b"first", None)
        seen = one.read("slow.json")
        assert one.exchange("slow.json", b"of somebody else", seen)
        assert not one.exchange("slow.json", b"mine", seen)
        assert content_of(one, "slow.json") == b"of somebody else"
        one.remove("slow.json")


@pytest.mark.integration
def test_wrong_password_and_wrong_bucket(webdav: tuple[str, Path], bucket: str) -> None:
    with (
        open_store(webdav[0].replace("s3cretword", "guess1234")) as store,
        pytest.raises(NetworkError, match="401") as caught,
    ):
        store.read("x")
    assert "token has expired" in (caught.value.hint or "")
    assert "guess1234" not in f"{caught.value} {caught.value.where} {caught.value.hint}"
    with open_store(f"{bucket}-of-nobody/ch") as store, pytest.raises(NetworkError, match="the bucket did not do it"):
        store.write("x", b"1")


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("s3:/bucket/ch", "names no bucket"),
        ("s4://bucket/ch", "known"),
        ("ftp://host/ch", "known"),
        ("gopher:ch", "known"),
        ("HTTPSS://host/ch", "did you mean `https:`"),
        ("", "it is empty"),
        (" ", "it is empty"),
        ("https://[::1", "no address"),
        ("s3://[::1/ch", "no address"),
        ("https://host:port/ch", "no address"),
        ("file://\udcff", "no address"),
    ],
)
def test_unknown_addresses_are_errors(address: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught, open_store(address):
        pass
    assert hint in f"{caught.value} {caught.value.hint}"


def test_paths_are_no_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for address in ("ch", "./s3:odd", "C:/x", f"file://{tmp_path}/c%20h"):
        check_scheme(address)
    with open_store(f"file://{tmp_path}/c%20h") as store:
        store.write("a", b"1")
    assert (tmp_path / "c h/a").read_bytes() == b"1"


def test_folder_of_other_things_is_no_channel(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/notes.txt").write_text("mine", encoding="utf-8")
    with (
        pytest.raises(ChannelError, match="holds other things, and is no channel"),
        open_store(str(tmp_path / "work")) as store,
    ):
        store.write("a", b"1")
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["notes.txt"]


def test_links_in_a_folder_stay(tmp_path: Path) -> None:
    folder = tmp_path / "channel"
    with open_store(str(folder)) as store:
        store.write("catalogue.json", b"1")
    (folder / "latest").symlink_to("catalogue.json")
    (folder / "lost").symlink_to("nowhere")
    with open_store(str(folder)) as store:
        store.write("a", b"1")
    assert {str(path.readlink()) for path in folder.iterdir() if path.is_symlink()} == {"catalogue.json", "nowhere"}


def test_folder_changes_at_the_end_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "channel"
    with open_store(str(folder)) as store:
        store.write("catalogue.json", b"1")
        store.write("a", b"1")
        assert not folder.exists()
    try:
        with open_store(str(folder)) as store:
            store.write("a", b"2")
            raise ChannelError("half way")
    except ChannelError:
        pass
    assert (folder / "a").read_bytes() == b"1"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".channel.lock", "channel"]
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ChannelError, match="not a folder"), open_store(str(tmp_path / "file")):
        pass
