"""The channel changes in one step or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, IntegrityError
from slipway.base.log import NullReporter
from slipway.channel import folder as module
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.base.paths import Workspace


def names(folder: Path) -> set[str]:
    """What the index of `folder` offers."""
    return set(json.loads((folder / "linux-64/repodata.json").read_text(encoding="utf-8"))["packages.conda"])


def test_empty_channel_has_every_index(tmp_path: Path) -> None:
    Channel(tmp_path / "c").publish()
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert files == [
        "c/linux-64/repodata.json",
        "c/linux-64/repodata.json.zst",
        "c/noarch/repodata.json",
        "c/noarch/repodata.json.zst",
    ]


def test_published_package_is_indexed_and_kept(tmp_path: Path, package: Path) -> None:
    folder = tmp_path / "c"
    Channel(folder).publish([("linux-64", package)])
    Channel(folder).publish()
    assert names(folder) == {package.name}
    assert (folder / "linux-64" / package.name).read_bytes() == package.read_bytes()


def test_a_package_handed_on_under_another_name_gets_its_own_back(tmp_path: Path, package: Path) -> None:
    handed = tmp_path / "handed" / "named-before-solving-0.conda"
    handed.parent.mkdir()
    handed.write_bytes(package.read_bytes())
    Channel(tmp_path / "c").publish([("linux-64", handed)])
    assert names(tmp_path / "c") == {package.name}


def test_failed_publish_leaves_the_channel_alone(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "c"
    Channel(folder).publish()
    before = sorted((path, path.stat().st_ino) for path in folder.rglob("*"))

    def full_disk(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(module, "link_or_copy", full_disk)
    with pytest.raises(OSError, match="No space left"):
        Channel(folder).publish([("linux-64", package)])
    assert sorted((path, path.stat().st_ino) for path in folder.rglob("*")) == before
    assert list(tmp_path.glob(".c*")) == []


def test_channel_without_atomic_exchange(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_exchange", lambda first, second: False)
    folder = tmp_path / "c"
    for packages in ([], [("linux-64", package)]):
        Channel(folder).publish(packages)
    assert names(folder) == {package.name}
    assert list(tmp_path.glob(".c*")) == []


def test_readers_see_only_whole_states(tmp_path: Path, package: Path) -> None:
    """A reader that looks all the time finds index and packages in step, whatever the writer does."""
    import threading

    folder = tmp_path / "c"
    Channel(folder).publish()
    stop = threading.Event()
    broken: list[str] = []

    def read() -> None:
        while not stop.is_set():
            for name in names(folder):
                if not (folder / "linux-64" / name).exists():
                    broken.append(name)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(10):
            Channel(folder).publish([("linux-64", package)])
    finally:
        stop.set()
        reader.join()
    assert broken == []


@pytest.mark.parametrize("kind", ["not a package", "not conda"])
def test_bad_package_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("a-1-0.conda" if kind == "not a package" else "a.txt")
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(ChannelError):
        Channel(tmp_path / "c").publish([("linux-64", path)])
    assert not (tmp_path / "c").exists()


def test_package_that_is_not_what_the_index_says(package: Path, workspace: Workspace) -> None:
    channel = Channel(workspace.proved)
    assert channel.find_damage(package) is None
    content = bytearray(package.read_bytes())
    content[len(content) // 2] ^= 0xFF
    package.write_bytes(content)
    assert channel.find_damage(package) == "its bytes are not what the channel's index says"
    (channel.folder / "linux-64/repodata.json").write_text("{", encoding="utf-8")
    assert "the channel's index is damaged" in str(channel.find_damage(package))


def test_packages_by_name_and_what_is_taken_out(tmp_path: Path, package: Path) -> None:
    channel = Channel(tmp_path / "c")
    assert channel.packages() == []
    channel.publish([("linux-64", package)])
    published = channel.path_of("linux-64", package.stem)
    assert channel.packages() == channel.packages("libtoy") == [published]
    assert channel.packages("lib") == []
    assert [(path, record["name"]) for path, record in channel.records()] == [(published, "libtoy")]
    channel.publish(without=[published])
    assert channel.packages() == list(channel.records()) == []
    assert package.is_file(), "it was a link"


def test_repaired_channel_has_an_index_of_what_is_whole(tmp_path: Path, package: Path) -> None:
    channel = Channel(tmp_path / "c")
    channel.publish([("linux-64", package)])
    broken = channel.path_of("linux-64", "other-1-0")
    broken.write_bytes(b"garbage")
    (tmp_path / "c/linux-64/repodata.json").unlink()
    assert channel.repair() == [broken.with_name("other-1-0.conda.damaged")]
    assert channel.is_indexed
    assert names(tmp_path / "c") == {package.name}


def test_what_else_lies_in_a_channel_stays(tmp_path: Path, package: Path) -> None:
    folder = tmp_path / "c"
    Channel(folder).publish()
    (folder / "notes.txt").write_text("ours", encoding="utf-8")
    (folder / "win-64").mkdir()
    (folder / "win-64/key.pub").write_text("key", encoding="utf-8")
    Channel(folder).publish([("linux-64", package)])
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "ours"
    assert (folder / "win-64/key.pub").read_text(encoding="utf-8") == "key"


@pytest.mark.parametrize("name", ["repodata.json", "repodata.json.zst"])
@pytest.mark.parametrize("damage", ["cut", "empty", "nonsense", "other kinds", "a folder"])
def test_damaged_index_is_told(tmp_path: Path, package: Path, name: str, damage: str) -> None:
    folder = tmp_path / "c"
    Channel(folder).publish([("linux-64", package)])
    assert Channel(folder).is_indexed
    path = folder / "linux-64" / name
    content = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    else:
        kinds = b'{"packages.conda": {"a-1-0.conda": 5}}'
        path.write_bytes({"cut": content[:40], "empty": b"", "nonsense": b"{", "other kinds": kinds}[damage])
    assert not Channel(folder).is_indexed
    with pytest.raises(ChannelError, match="the channel's index is damaged") as caught:
        solve(["toy"], [Channel(folder).url])
    assert caught.value.where == str(folder / "linux-64")
    Channel(folder).publish()
    assert Channel(folder).is_indexed
    assert Channel(folder).find_damage(folder / "linux-64" / package.name) is None


def test_package_that_is_not_the_indexed_one_is_not_installed(tmp_path: Path, package: Path) -> None:
    folder = tmp_path / "c"
    Channel(folder).publish([("linux-64", package)])
    published = folder / "linux-64" / package.name
    content = published.read_bytes()
    published.unlink()
    published.write_bytes(content + b"more")
    solution = solve([package.name.split("-")[0]], [Channel(folder).url])
    with pytest.raises(IntegrityError, match="is not the one that was indexed") as caught:
        install(solution, tmp_path / "prefix", NullReporter())
    assert caught.value.where == str(published)
    assert not (tmp_path / "prefix").exists(), "nothing was begun"
    published.unlink()
    with pytest.raises(ChannelError, match="names a package that is not there"):
        install(solution, tmp_path / "prefix", NullReporter())


def test_damaged_package_is_named(tmp_path: Path, package: Path) -> None:
    folder = tmp_path / "c"
    Channel(folder).publish([("linux-64", package)])
    (folder / "linux-64/other-1-0.conda").write_bytes(b"garbage")
    with pytest.raises(ChannelError, match="a package of the channel is damaged") as caught:
        Channel(folder).publish()
    assert caught.value.where == "linux-64/other-1-0.conda"
    assert names(folder) == {package.name}, "the channel stays as it was"


def test_damaged_package_of_the_embedded_channel_is_thrown_out(
    tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run misses it, and makes it anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "cache/slipway/channels/0123"
    folder.parent.mkdir(parents=True)
    Channel(folder).publish([("linux-64", package)])
    published = folder / "linux-64" / package.name
    content = published.read_bytes()
    published.unlink()
    published.write_bytes(content + b"more")
    solution = solve([package.name.split("-")[0]], [Channel(folder).url])
    with pytest.raises(IntegrityError) as caught:
        install(solution, tmp_path / "prefix", NullReporter())
    assert "run the same command again" in (caught.value.hint or "")
    assert not published.exists()


def test_damaged_cache_of_unpacked_packages(tmp_path: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is unpacked anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Channel(tmp_path / "c").publish([("linux-64", package)])
    solution = solve([package.name.split("-")[0]], [Channel(tmp_path / "c").url])
    install(solution, tmp_path / "first", NullReporter())
    (unpacked,) = (tmp_path / "cache/slipway/unpacked").glob("*/files/lib/toy.txt")
    unpacked.unlink()
    unpacked.write_bytes(b"")
    install(solution, tmp_path / "second", NullReporter())
    assert (tmp_path / "second/lib/toy.txt").read_text(encoding="utf-8") == "1\n"
