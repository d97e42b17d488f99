"""Publishing: planned, refused, cut off, and two at once; and what readers find meanwhile."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import BusyError, ChannelError, UsageError
from slipway.base.log import NullReporter
from slipway.channel import publishing, rattler
from slipway.channel.catalogue import CATALOGUE, Catalogue, CataloguedPackage
from slipway.channel.folder import Channel
from slipway.channel.hotfixes import Hotfix
from slipway.channel.publishing import PublishPlan, carry_out, make_plan, prepare, read_catalogue
from slipway.channel.stores.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class MemoryStore:
    """A store that remembers in which order it was written, and looks at every moment as a reader would."""

    address = "memory:"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.order: list[str] = []
        self.die_after = -1
        self.before_exchange: Callable[[], None] = lambda: None

    def read(self, name: str) -> Stored | None:
        return Stored(self.files[name]) if name in self.files else None

    def hash_file(self, name: str) -> str:
        import hashlib

        return hashlib.sha256(self.files[name]).hexdigest()

    def write(self, name: str, content: bytes | Path) -> None:
        if self.die_after == len(self.order):
            raise KeyboardInterrupt
        self.order.append(name)
        self.files[name] = content if isinstance(content, bytes) else content.read_bytes()
        self.look()

    def exchange(self, name: str, content: bytes | Path, before: Stored | None) -> bool:
        if name == CATALOGUE:
            hook, self.before_exchange = self.before_exchange, lambda: None
            hook()
        if (before and before.content) != self.files.get(name):
            return False
        self.write(name, content)
        return True

    def remove(self, name: str) -> None:
        self.files.pop(name, None)
        self.look()

    def look(self) -> None:
        """No index names a file that is not there."""
        for name, content in self.files.items():
            if name.endswith(("repodata.json", "repodata_from_packages.json")):
                subdir = name.partition("/")[0]
                for package in json.loads(content)["packages.conda"]:
                    assert f"{subdir}/{package}" in self.files, f"{name} names {package}, which is not there"


@pytest.fixture
def other(package: Path, tmp_path: Path) -> Path:
    """A package of the same name with other bytes."""
    path = tmp_path / "other" / package.name
    path.parent.mkdir()
    rewrite(package, path, {})
    return path


def rewrite(package: Path, path: Path, changes: dict[str, object]) -> None:
    """The same package with other metadata."""
    import io
    import tarfile
    import zipfile

    import zstandard

    with zipfile.ZipFile(package) as archive, zipfile.ZipFile(path, "w") as written:
        for entry in archive.namelist():
            content = archive.read(entry)
            if entry.startswith("info-"):
                plain = zstandard.ZstdDecompressor().decompressobj().decompress(content)
                target = io.BytesIO()
                with tarfile.open(fileobj=io.BytesIO(plain)) as old, tarfile.open(fileobj=target, mode="w") as new:
                    for member in old:
                        data = old.extractfile(member)
                        found = data.read() if data is not None else b""
                        if member.name == "info/index.json":
                            found = json.dumps({**json.loads(found), "timestamp": 5, **changes}).encode()
                            member.size = len(found)
                        new.addfile(member, io.BytesIO(found))
                content = zstandard.ZstdCompressor().compress(target.getvalue())
                entry = f"info-{path.name.removesuffix('.conda')}.tar.zst"
            elif entry.startswith("pkg-"):
                entry = f"pkg-{path.name.removesuffix('.conda')}.tar.zst"
            written.writestr(entry, content)


def publish(store: MemoryStore, *packages: Path, hotfixes: tuple[Hotfix, ...] | None = None) -> PublishPlan:
    wanted = prepare([("linux-64", path) for path in packages], hotfixes)
    return carry_out(store, lambda catalogue: make_plan(store.address, catalogue, wanted), NullReporter())


def offered(store: MemoryStore) -> list[str]:
    return sorted(json.loads(store.files["linux-64/repodata.json"])["packages.conda"])


def test_published_once_and_again(package: Path) -> None:
    store = MemoryStore()
    plan = publish(store, package)
    assert plan.lines() == [f"add            linux-64/{package.name}"]
    assert store.order[0] == f"linux-64/{package.name}"
    assert store.order[1] == CATALOGUE
    before = dict(store.files)
    written = len(store.order)
    again = publish(store, package)
    assert again.lines() == [f"there already  linux-64/{package.name}"]
    assert store.files == before
    assert len(store.order) == written, "nothing was written"


def test_another_package_of_the_name_is_refused(package: Path, other: Path) -> None:
    store = MemoryStore()
    publish(store, package)
    before = dict(store.files)
    with pytest.raises(ChannelError, match="another package is published as linux-64/") as caught:
        publish(store, other)
    assert "build number" in (caught.value.hint or "")
    assert store.files == before
    with pytest.raises(ChannelError, match="two packages are called"):
        prepare([("linux-64", package), ("linux-64", other)])


def test_killed_at_any_moment_the_next_run_goes_on(package: Path) -> None:
    whole = MemoryStore()
    publish(whole, package)
    for moment in range(len(whole.order)):
        store = MemoryStore()
        store.die_after = moment
        with pytest.raises(KeyboardInterrupt):
            publish(store, package)
        store.die_after = -1
        publish(store, package)
        # When it was indexed is in the record of a package.
        assert store.files.keys() == whole.files.keys() or len(store.files) == len(whole.files)
        assert offered(store) == [package.name]


def test_leftover_with_other_bytes(package: Path, other: Path) -> None:
    store = MemoryStore()
    store.files[f"linux-64/{package.name}"] = other.read_bytes()
    with pytest.raises(ChannelError, match="which no index names") as caught:
        publish(store, package)
    assert "--replace-leftovers" in (caught.value.hint or "")
    assert CATALOGUE not in store.files
    wanted = prepare([("linux-64", package)])
    carry_out(store, lambda known: make_plan(store.address, known, wanted), NullReporter(), replace_leftovers=True)
    assert store.files[f"linux-64/{package.name}"] == package.read_bytes()


def test_two_publishers_lose_nothing(package: Path, tmp_path: Path) -> None:
    second = tmp_path / package.name.replace("libtoy-", "second-")
    rewrite(package, second, {"name": "second"})
    store = MemoryStore()
    store.before_exchange = lambda: publish(store, second) and None
    publish(store, package)
    assert offered(store) == sorted([package.name, second.name])


def test_index_of_the_slower_one_does_not_stay(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody publishes after our catalogue and before our indexes are written: they would lack his package."""
    second = tmp_path / package.name.replace("libtoy-", "second-")
    rewrite(package, second, {"name": "second"})
    store = MemoryStore()
    write, done = publishing._write_indexes, []

    def slowly(place: MemoryStore, catalogue: Catalogue) -> None:
        if not done:
            done.append(1)
            publish(store, second)
        write(place, catalogue)

    monkeypatch.setattr(publishing, "_write_indexes", slowly)
    publish(store, package)
    assert offered(store) == sorted([package.name, second.name])


def test_channel_that_others_change_all_the_time(package: Path) -> None:
    store = MemoryStore()
    store.exchange = lambda name, content, before: name != CATALOGUE  # type: ignore[method-assign]
    with pytest.raises(BusyError):
        publish(store, package)


def test_folder_of_before_is_taken_over(package: Path, tmp_path: Path) -> None:
    second = tmp_path / package.name.replace("libtoy-", "second-")
    rewrite(package, second, {"name": "second"})
    Channel(tmp_path / "c").publish([("linux-64", package)])
    store = MemoryStore()
    for path in (tmp_path / "c").rglob("*.*"):
        if path.is_file():
            store.files[path.relative_to(tmp_path / "c").as_posix()] = path.read_bytes()
    publish(store, second)
    assert offered(store) == sorted([package.name, second.name])


@pytest.mark.parametrize("content", [b"{", b'{"version": 1, "packages": 5}', b'{"version": 9}', b"[]"])
def test_damaged_catalogue(content: bytes, package: Path) -> None:
    store = MemoryStore()
    store.files[CATALOGUE] = content
    with pytest.raises(ChannelError, match="catalogue is"):
        publish(store, package)


@pytest.mark.parametrize("index", [b"[]", b'{"packages.conda": []}', b'{"packages": {"a.conda": "b"}}'])
def test_damaged_index_of_before(index: bytes, package: Path) -> None:
    store = MemoryStore()
    store.files["linux-64/repodata.json"] = index
    with pytest.raises(ChannelError, match="the channel's index is damaged"):
        publish(store, package)


@pytest.mark.parametrize("name", ["repodata_from_packages.json", "repodata.json", "run_exports.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[]"])
def test_damaged_index_of_before_is_no_empty_one(
    name: str, content: bytes, package: Path, other: Path, tmp_path: Path
) -> None:
    """Else the channel would lose its packages, or what those export."""
    Channel(tmp_path / "c").publish([("linux-64", package)])
    store = MemoryStore()
    index = (tmp_path / "c/linux-64/repodata.json").read_bytes()
    store.files |= {"linux-64/repodata.json": index, "linux-64/run_exports.json": b"{}", f"linux-64/{name}": content}
    with pytest.raises(ChannelError, match="the channel's index is damaged: it is no JSON object") as caught:
        publish(store, other)
    assert caught.value.where == f"linux-64/{name}"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({}, "../linux-64/libtoy-1-0.conda"),
        ({}, "..//libtoy-1-0.conda"),
        ({"subdir": ".."}, "../libtoy-1-0.conda"),
        ({"name": "../../libtoy"}, "linux-64/../../libtoy-1-0.conda"),
        ({}, "linux-64/other-1-0.conda"),
        ({}, "linux-64/libtoy-1-0.txt"),
        ({}, "noarch/libtoy-1-0.conda"),
        ({"version": "1 2"}, "linux-64/libtoy-1 2-0.conda"),
        ({"build_number": "0"}, "linux-64/libtoy-1-0.conda"),
        ({"build_number": True}, "linux-64/libtoy-1-0.conda"),
    ],
)
def test_catalogue_that_leads_elsewhere(change: dict[str, object], path: str, package: Path) -> None:
    """Indexes are written, and packages removed, where a catalogue says: it comes from whoever may write there."""
    record = {"name": "libtoy", "version": "1", "build": "0", "build_number": 0, "subdir": "linux-64"}
    store = MemoryStore()
    store.files[CATALOGUE] = Catalogue({path: CataloguedPackage(record | change)}).to_bytes()
    with pytest.raises(ChannelError, match="is no place of the package that the channel has there"):
        publish(store, package)
    store.files[CATALOGUE] = Catalogue(removed=("../../etc/x.conda",)).to_bytes()
    with pytest.raises(ChannelError, match="is no place of the package"):
        publish(store, package)


def test_hotfixes(package: Path) -> None:
    store = MemoryStore()
    fix = Hotfix("libtoy", "why", depends=("bash",), constrains=("zsh >5",))
    publish(store, package, hotfixes=(fix,))
    (patched,) = json.loads(store.files["linux-64/repodata.json"])["packages.conda"].values()
    (plain,) = json.loads(store.files["linux-64/repodata_from_packages.json"])["packages.conda"].values()
    assert (patched["depends"], patched["constrains"]) == ([*plain["depends"], "bash"], ["zsh >5"])
    publish(store, package)
    assert read_catalogue(store)[0].hotfixes == (fix,), "they stay"
    publish(store, package, hotfixes=(replace(fix, replace={"absent": "x"}, packages="nobody 1"),)[1:])
    assert b"bash" not in store.files["linux-64/repodata.json"]
    with pytest.raises(UsageError, match="a hotfix matches no package: `nobody 1`"):
        publish(store, package, hotfixes=(replace(fix, packages="nobody 1"),))
    with pytest.raises(ChannelError, match="replaces 'absent', which none of its packages requires"):
        publish(store, package, hotfixes=(replace(fix, replace={"absent": "x"}),))
    publish(store, package, hotfixes=(replace(fix, revoke=True),))
    (revoked,) = json.loads(store.files["linux-64/repodata.json"])["packages.conda"].values()
    assert "package_has_been_revoked" in revoked["depends"]


def test_what_readers_find(package: Path, tmp_path: Path) -> None:
    """rattler reads shards, records and run_exports as those of others."""
    store = MemoryStore()
    publish(store, package)
    folder = tmp_path / "c"
    for name, content in store.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    channel = Channel(folder)
    assert channel.is_indexed
    expected = {name for subdir in ("linux-64", "noarch") for name in (
        f"{subdir}/repodata.json", f"{subdir}/repodata.json.zst", f"{subdir}/repodata_from_packages.json",
        f"{subdir}/repodata_shards.msgpack.zst", f"{subdir}/run_exports.json")}  # fmt: skip
    shards = {name for name in store.files if "/shards/" in name}
    assert len(shards) == 1
    assert store.files.keys() == expected | shards | {CATALOGUE, "channeldata.json", f"linux-64/{package.name}"}
    data = json.loads(store.files["channeldata.json"])["packages"]["libtoy"]
    assert data["subdirs"] == ["linux-64"]
    records = rattler.run(rattler.Gateway().query([channel.url], [rattler.Subdir("linux-64")], ["libtoy"]))
    assert [one.file_name for found in records for one in found] == [package.name]
    shutil.rmtree(folder)


def test_removed_packages_leave_the_indexes_first(package: Path, tmp_path: Path) -> None:
    second = tmp_path / package.name.replace("libtoy-", "second-")
    rewrite(package, second, {"name": "second"})
    store = MemoryStore()
    publish(store, package, second)
    path = f"linux-64/{second.name}"

    def plan(catalogue: Catalogue) -> PublishPlan:
        return publishing.plan_removal(store.address, catalogue, [path] if path in catalogue.packages else [])

    assert carry_out(store, plan, NullReporter()).removed == (path,)
    assert path not in store.files
    assert json.loads(store.files["linux-64/repodata.json"])["removed"] == [second.name]
    publish(store, second)
    assert json.loads(store.files["linux-64/repodata.json"])["removed"] == []
