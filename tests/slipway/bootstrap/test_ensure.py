"""From data to a channel, whole, with small sources: what is made, what is reused, and what happens in a failure."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from rattler import Channel, solve

from slipway.base import errors, log
from slipway.base.files import hash_file
from slipway.bootstrap.choices import ChannelRequest
from slipway.bootstrap.debs import OfferedDeb
from slipway.bootstrap.download import Host
from slipway.bootstrap.ensure import check_machine, ensure_channel
from slipway.bootstrap.lock import LockedWheel, write_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.bootstrap.stored import EmbeddedChannel

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
REQUEST = ChannelRequest(blas="openblas", python=(VERSION,))

TOOL = """\
name: tool
version: "1.0"
summary: A program
license: MIT
sources:
  - deb: tool
    licenses:
      - usr/share/doc/tool/copyright
    files:
      - take: "usr/bin/*"
        to: "bin/*"
"""
USER = """\
name: user
version: "2.0"
summary: Made with the program
license: MIT
depends:
  - tool 1.0.*
texts:
  - path: etc/user.conf
    content: "prefix=${placeholder}"
links:
  - path: etc/link.conf
    target: user.conf
steps:
  - tools:
      - tool
    files:
      - input.txt
    run: |
      "$TOOLS/bin/tool" < "$FILES/input.txt" > made.txt
"""
TOY = """\
name: toy
version: "1.0"
noarch_python: true
summary: Pure Python
license: MIT
depends:
  - python
sources:
  - wheel: toy
    install: true
"""


class World:
    """A machine with a mirror, a package index and a data folder."""

    def __init__(self, data: Path, host: Host, mirror: Path, cache: Path) -> None:
        self.data, self.host, self.mirror, self.cache = data, host, mirror, cache

    def ensure(self, **changes: object) -> EmbeddedChannel:
        given = {"cache": self.cache, "data": self.data, "host": self.host} | changes
        return ensure_channel(REQUEST, log.NullReporter(), **given)  # type: ignore[arg-type]


@pytest.fixture
def world(
    data: Path,
    make_wheel: Callable[..., Path],
    make_deb: Callable[..., Path],
    repository: Callable[..., Path],
    etc_apt: Callable[[Path], Path],
    os_release: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    scripts = {"toy-1.0.dist-info/entry_points.txt": "[console_scripts]\ntoy = toy:main\n"}
    wheel = make_wheel(files=scripts)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    deb = make_deb("tool", {"usr/bin/tool": "#!/bin/sh\nsed s/raw/done/\n", "usr/share/doc/tool/copyright": "MIT\n"})
    mirror = repository(deb)
    for name, text in (("tool", TOOL), ("user", USER), ("toy", TOY)):
        (data / "packages" / f"{name}.yaml").write_text(text)
    (data / "files" / "input.txt").write_text("raw\n")
    settings = data / "settings.yaml"
    settings.write_text(settings.read_text().replace("3.11", VERSION))
    locked = LockedWheel("toy", "1.0", "any", wheel.name, hash_file(wheel), wheel.stat().st_size)
    write_lock(data / "lock.yaml", "bookworm", [offered(deb)], [locked])
    return World(data, Host(os_release, etc_apt(mirror)), mirror, tmp_path / "cache")


def offered(deb: Path, version: str = "1.0-1") -> OfferedDeb:
    return OfferedDeb("tool", version, deb.name, deb.stat().st_size, hash_file(deb))


def contents(channel: EmbeddedChannel) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in channel.path.rglob("*.conda")}


def test_the_channel_is_whole(world: World) -> None:
    channel = world.ensure()
    assert [package.name for package in channel.packages] == ["tool", "toy", "user"]
    assert channel.url == channel.path.as_uri()
    repodata = json.loads((channel.path / "linux-64" / "repodata.json").read_text())
    for name, record in repodata["packages.conda"].items():
        file = channel.path / "linux-64" / name
        assert (record["size"], record["sha256"]) == (file.stat().st_size, hash_file(file))
    records = asyncio.run(solve([Channel(channel.url)], ["user"], platforms=["linux-64", "noarch"]))
    assert sorted(record.name.normalized for record in records) == ["tool", "user"]
    toy = next(package for package in channel.packages if package.name == "toy")
    assert (toy.subdir, toy.sources) == ("noarch", ("wheel toy-1.0-py3-none-any.whl",))
    tool = next(package for package in channel.packages if package.name == "tool")
    assert tool.sources == ("deb tool=1.0-1",)


def test_twice_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    first, second = world.ensure(), world.ensure(cache=tmp_path / "other")
    assert contents(first) == contents(second)
    assert first.digest == second.digest


def test_a_second_run_touches_no_network(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = world.ensure()
    world.mirror.rename(world.mirror.with_name("gone"))
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    started = time.monotonic()
    assert world.ensure(offline=True) == first
    assert time.monotonic() - started < 1


def test_a_change_rebuilds_only_what_it_touches(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {package.name: package for package in world.ensure().packages}
    (world.data / "files" / "input.txt").write_text("raw again\n")
    world.mirror.rename(world.mirror.with_name("gone"))
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    after = {package.name: package for package in world.ensure(offline=True).packages}
    assert before["user"] != after["user"]
    assert (before["tool"], before["toy"]) == (after["tool"], after["toy"])


def test_a_change_of_a_tool_reaches_what_is_made_with_it(world: World) -> None:
    before = {package.name: package.build for package in world.ensure().packages}
    path = world.data / "packages" / "tool.yaml"
    path.write_text(path.read_text().replace("A program", "A better program"))
    after = {package.name: package.build for package in world.ensure().packages}
    assert before["tool"] != after["tool"]
    assert before["user"] != after["user"]
    assert before["toy"] == after["toy"]


def test_a_package_that_was_damaged_is_made_again(world: World) -> None:
    channel = world.ensure()
    user = next(channel.path.rglob("user-*.conda"))
    whole = user.read_bytes()
    user.write_bytes(b"half")  # the package in the cache is the same file
    assert world.ensure() == channel
    assert next(channel.path.rglob("user-*.conda")).read_bytes() == whole


@pytest.mark.parametrize("damage", ["", "{", "{}", '{"packages.conda": {}}'])
def test_an_index_or_a_note_that_was_damaged_is_made_again(world: World, damage: str) -> None:
    channel = world.ensure()
    index = channel.path / "linux-64/repodata.json"
    whole = index.read_bytes()
    for path in (index, next((world.cache / "channels").glob("*.json"))):
        path.write_text(damage)
        assert world.ensure() == channel
        assert index.read_bytes() == whole


@pytest.mark.parametrize("at", [0.0, 0.3, 0.6, 0.99])
@pytest.mark.parametrize("apart", [False, True])
def test_a_package_of_the_right_size_and_times_and_other_bytes_is_made_again(
    world: World, at: float, apart: bool
) -> None:
    """The cache's copy is as wrong, or, where it is a file `apart`, right."""
    world.ensure()
    channel = world.ensure()
    user = next(channel.path.rglob("user-*.conda"))
    whole, times = user.read_bytes(), user.stat()
    content = bytearray(whole)
    content[int(len(content) * at)] ^= 1
    if apart:
        user.unlink()
    user.write_bytes(content)
    os.utime(user, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert world.ensure() == channel
    assert next(channel.path.rglob("user-*.conda")).read_bytes() == whole


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"x": 3}'])
def test_memory_of_hashes_that_is_damaged_or_came_from_elsewhere(world: World, text: str) -> None:
    world.ensure()
    channel = world.ensure()
    (memory,) = (world.cache / "channels").glob("*.hashes")
    memory.write_text(text)
    assert world.ensure() == channel
    known = json.loads(memory.read_text())
    user = next(channel.path.rglob("user-*.conda"))
    whole = user.read_bytes()
    user.unlink()
    user.write_bytes(whole[:-1] + b"!")
    memory.write_text(json.dumps({path: [1, *one[1:]] for path, one in known.items()}))
    assert world.ensure() == channel
    assert next(channel.path.rglob("user-*.conda")).read_bytes() == whole


def test_a_damaged_download_is_fetched_again(world: World) -> None:
    channel = world.ensure()
    for path in sorted((world.cache / "downloads").rglob("*")):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1] + b"!")
    for folder in ("packages", "channels"):
        shutil.rmtree(world.cache / folder)
    assert world.ensure() == channel
    for path in sorted((world.cache / "downloads").rglob("*")):
        assert path.is_dir() or hash_file(path) == path.parent.name


class Told(log.NullReporter):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)


def sources_of_tool(world: World, reporter: log.Reporter | None = None, **options: bool) -> tuple[str, ...]:
    channel = ensure_channel(REQUEST, reporter or log.NullReporter(), cache=world.cache, data=world.data,
                             host=world.host, **options)  # fmt: skip
    return next(package.sources for package in channel.packages if package.name == "tool")


@pytest.fixture
def next_revision(make_deb: Callable[..., Path], tmp_path: Path, world: World) -> Path:
    """Revision 1.0-2 of `tool`."""
    shutil.rmtree(tmp_path / "deb-tool")
    files = {"usr/bin/tool": "#!/bin/sh\nsed s/raw/done/\n", "usr/share/doc/tool/copyright": "MIT\n"}
    return make_deb("tool", files, version="1.0-2")


def forget(world: World, *names: str) -> None:
    for name in names:
        shutil.rmtree(world.cache / name, ignore_errors=True)


def test_a_locked_revision_is_taken_although_there_is_a_newer_one(
    world: World, next_revision: Path, repository: Callable[..., Path], tmp_path: Path
) -> None:
    repository(tmp_path / "tool_1.0-1_amd64.deb", next_revision)
    told = Told()
    assert sources_of_tool(world, told) == ("deb tool=1.0-1",)
    assert not told.lines
    assert sources_of_tool(world, told, refresh=True) == ("deb tool=1.0-2",)
    assert "1 Debian package(s) are not as locked: tool 1.0-1 -> 1.0-2" in told.lines[0]


def test_a_mirror_that_moved_on_is_followed_and_that_is_said(
    world: World, next_revision: Path, repository: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The revision that is locked is gone from the mirror, and from the cache."""
    shutil.rmtree(world.mirror)
    repository(next_revision)
    told = Told()
    assert sources_of_tool(world, told) == ("deb tool=1.0-2",)
    assert "1 Debian package(s) are not as locked: tool 1.0-1 -> 1.0-2" in told.lines[0]
    forget(world, "packages", "channels")  # what was chosen then is known, and needs no mirror
    shutil.rmtree(world.mirror)
    assert sources_of_tool(world, offline=True) == ("deb tool=1.0-2",)
    forget(world, "packages", "channels")
    for damage in (b"", b"{", b"[]", b'{"suite": "bookworm", "debs": [{}]}', os.urandom(40)):
        (world.cache / "apt" / "offers.json").write_bytes(damage)
        with pytest.raises(errors.NetworkError):
            sources_of_tool(world)
    repository(next_revision)
    assert sources_of_tool(world) == ("deb tool=1.0-2",)


def test_offline_with_an_empty_cache(world: World) -> None:
    with pytest.raises(errors.NetworkError) as caught:
        world.ensure(offline=True)
    assert caught.value.hint == "run the command without `--offline` once"


def test_no_package_index(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    with pytest.raises(errors.NetworkError):
        world.ensure()
    assert not list((world.cache / "channels").iterdir())
    assert not (world.cache / "work").exists()


def test_two_versions_of_one_project(world: World, make_wheel: Callable[..., Path]) -> None:
    """As two versions of CUDA have them."""
    found = [make_wheel(version=version) for version in ("1.0", "2.0")]
    locked = [
        LockedWheel("toy", path.name.split("-")[1], "any", path.name, hash_file(path), path.stat().st_size)
        for path in found
    ]
    text = TOY.replace("noarch_python: true\n", "").replace("depends:\n  - python\n", "")
    taken = """\
    licenses:
      - "site/*.dist-info/licenses/*"
    files:
      - take: "site/toy/__init__.py"
        to: "share/toy.py"
"""
    text = text.replace("    install: true\n", taken)
    for name, version in (("older", "1.0"), ("toy", "2.0")):
        said = text.replace("name: toy", f"name: {name}").replace('"1.0"', f'"{version}"')
        (world.data / "packages" / f"{name}.yaml").write_text(said)
    for name in ("tool", "user"):
        (world.data / "packages" / f"{name}.yaml").unlink()
    write_lock(world.data / "lock.yaml", "bookworm", [], locked)
    assert [package.name for package in world.ensure().packages] == ["older", "toy"]


@pytest.mark.parametrize("kind", ["debs", "wheels"])
def test_another_hash_than_locked(world: World, kind: str) -> None:
    lock = world.data / "lock.yaml"
    text = lock.read_text()
    start = text.index("sha256: ", text.index(f"\n{kind}:")) + 8
    lock.write_text(text[:start] + "a" * 64 + text[start + 64 :])
    with pytest.raises(errors.IntegrityError):
        world.ensure()


def test_not_debian(world: World, tmp_path: Path) -> None:
    (tmp_path / "fedora").write_text("ID=fedora\n")
    with pytest.raises(errors.HostError) as caught:
        world.ensure(host=Host(tmp_path / "fedora", world.host.etc_apt))
    assert caught.value.hint is not None
    assert "--channel conda-forge" in caught.value.hint


def test_what_the_lock_lacks(world: World) -> None:
    write_lock(world.data / "lock.yaml", "bookworm", [], [])
    with pytest.raises(errors.ChannelError) as caught:
        world.ensure()
    assert caught.value.hint == "run `slipway bootstrap --update-lock`"


def test_a_step_that_fails_shows_what_it_said(world: World) -> None:
    path = world.data / "packages" / "user.yaml"
    path.write_text(path.read_text().replace('"$TOOLS/bin/tool"', "echo no luck; false;"))
    with pytest.raises(errors.ChannelError) as caught:
        world.ensure()
    assert caught.value.where == str(path)
    assert caught.value.detail == "no luck"


RUN = """
import sys
from pathlib import Path
from slipway.base import log
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.choices import ChannelRequest
from slipway.bootstrap.download import Host
data, cache, os_release, etc_apt, python = sys.argv[1:]
host = Host(Path(os_release), Path(etc_apt))
request = ChannelRequest(blas="openblas", python=(python,))
print(ensure_channel(request, log.NullReporter(), cache=Path(cache), data=Path(data), host=host).digest)
"""


def command(world: World) -> list[str]:
    places = [world.data, world.cache, world.host.os_release, world.host.etc_apt]
    return [sys.executable, "-c", RUN, *map(str, places), VERSION]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": ":".join(sys.path)}


def test_interrupted_and_run_again(world: World) -> None:
    path = world.data / "packages" / "user.yaml"
    whole = path.read_text()
    path.write_text(whole.replace("    run: |\n", "    run: |\n      touch $FILES/../../../started; sleep 60\n"))
    with subprocess.Popen(command(world), stderr=subprocess.PIPE, text=True, env=environment()) as process:
        deadline = time.monotonic() + 30
        packages = world.cache / "packages"
        while not (world.cache / "started").exists() or len(list(packages.iterdir())) < 2:
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in said
    assert not (world.cache / "work").exists()
    assert not list((world.cache / "channels").iterdir())
    kept = sorted(folder.name for folder in (world.cache / "packages").iterdir())
    assert len(kept) == 2  # tool and toy were finished, and need not be made again
    path.write_text(whole)
    channel = world.ensure(offline=True)
    assert len(channel.packages) == 3
    assert set(kept) <= {folder.name for folder in (world.cache / "packages").iterdir()}


def test_a_full_disk(world: World, tmp_path: Path) -> None:
    """On a file system of one megabyte; a step asks for more."""
    path = world.data / "packages" / "user.yaml"
    path.write_text(path.read_text().replace("    run: |\n", "    run: |\n      head -c 3000000 /dev/urandom > big\n"))
    world.cache = tmp_path / "small"
    world.cache.mkdir()
    mount = f'mount -t tmpfs -o size=1m none "{world.cache}" && exec "$@"'
    probe = subprocess.run(["unshare", "-rm", "sh", "-c", mount, "sh", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("this machine allows no mount namespaces; test_cache.py still writes to a full device")
    shell = ["unshare", "-rm", "sh", "-c", mount, "sh", *command(world)]
    ended = subprocess.run(shell, capture_output=True, text=True, env=environment(), check=False)
    assert "slipway.base.errors.DiskFullError" in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("machine", "library", "message"),
    [
        ("aarch64", "glibc 2.36", "the embedded channel is for x86_64, and this machine is aarch64"),
        ("x86_64", "glibc 2.35", "the embedded channel needs glibc 2.36 or newer, and this machine has glibc 2.35"),
        ("x86_64", "glibc 2.4", "the embedded channel needs glibc 2.36 or newer, and this machine has glibc 2.4"),
        ("x86_64", None, "the embedded channel needs glibc 2.36 or newer, and this machine has another C library"),
    ],
)
def test_a_machine_that_cannot_run_it(machine: str, library: str | None, message: str) -> None:
    with pytest.raises(errors.HostError) as caught:
        check_machine("2.36", machine=machine, library=library)
    assert caught.value.message == message
