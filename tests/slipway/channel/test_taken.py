"""Whatever makes, changes or damages a package, its archive or its unpacked files: only judged bytes are linked."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import random
import tarfile
import threading
from collections.abc import Iterator  # noqa: TC003 - pytest reads fixtures' types
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import IntegrityError, SlipwayError
from slipway.base.files import hash_file
from slipway.base.log import NullReporter
from slipway.base.user_folders import cache_folder
from slipway.channel.environments import Solution, install, solve
from slipway.channel.folder import Channel
from slipway.channel.judgement import judge_package
from slipway.channel.repodata import write_repodata
from slipway.channel.taken import take_packages
from slipway.verify.verifier import Verifier

if TYPE_CHECKING:
    from conftest import Kit, RawPackage

INDEX: dict[str, Any] = {
    "name": "a", "version": "1", "build": "0", "build_number": 0, "depends": [], "subdir": "linux-64",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a channel over HTTP, whose files lie in ``channel``."""

    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    (tmp_path / "channel").mkdir()
    served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(tmp_path / "channel")))
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_address[1]}"
    served.shutdown()
    thread.join()
    served.server_close()


def offer(folder: Path, path: Path, **changes: Any) -> None:
    """Make a channel of the package at `path`, whose index says what a well-meaning one would."""
    target = folder / "linux-64" / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(path.read_bytes())
    record = {**INDEX, "sha256": hash_file(target), "size": target.stat().st_size, **changes}
    write_repodata(folder, [(path.name, record)])


def entry(name: str, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    if target:
        made.type, made.linkname = tarfile.SYMTYPE, target
    return made, b"" if target else b"content"


def paths(*names: str, **changes: Any) -> tuple[tarfile.TarInfo, bytes]:
    """info/paths.json that names files."""
    entries = [{"_path": name, "path_type": "hardlink", **changes} for name in names]
    return tarfile.TarInfo("info/paths.json"), json.dumps({"paths": entries, "paths_version": 1}).encode()


def evil_name(chance: random.Random) -> tuple[str, str]:
    """A name that no package may install, and a part of what is said of it."""
    word = "".join(chance.choices("abcxyz", k=chance.randint(1, 8)))
    return chance.choice([
        (f"/{word}/etc", "no path inside a prefix"),
        (f"{word}/{'../' * chance.randint(2, 9)}{word}", "leads out of the prefix"),
        (f"lib\\{word}", "no path inside a prefix"),
        (f"lib/{word * 300}"[: 4 + 256 + chance.randint(0, 99)], "more than 255 bytes"),
        ("\u00e9" * chance.randint(128, 200), "more than 255 bytes"),
        ("d/" * chance.randint(101, 3000) + word, "folders deep"),
        (f"{'w' * 200}/" * 15 + word, "more than 2048"),
        (f"lib/{word}{chr(chance.choice([1, 7, 8, 9, 10, 13, 27, 127, 0x85, 0x9B, 0x2028]))}x", "control characters"),
        (f"lib/{word}\u202egnp.exe", "control characters"),
        (f"{chance.choice(['conda-meta', 'CONDA-META', 'Conda-Meta'])}/{word}.json", "their own records"),
        ("conda-meta/history", "their own records"),
    ])  # fmt: skip


def attempt(address: str, prefix: Path) -> SlipwayError:
    """Installing must fail with an error of ours; whatever else it is, a panic of Rust among it, fails the test."""
    with pytest.raises(SlipwayError) as caught:
        install(solve(["a"], [address]), prefix, NullReporter())
    assert not (prefix / "conda-meta").exists()
    return caught.value


def check(error: SlipwayError, message: str) -> None:
    assert isinstance(error, IntegrityError), error
    assert message in error.message
    assert "a-1-0.conda" in (error.where or "")
    assert (error.message + (error.where or "")).isprintable()


@pytest.mark.parametrize("seed", range(24))
def test_evil_names_are_refused_by_everybody(raw_package: RawPackage, tmp_path: Path, seed: int) -> None:
    """In the archive, in paths.json, or in both of them."""
    name, message = evil_name(random.Random(seed))
    member = entry(name)
    for number, path in enumerate((
        raw_package.write([member]), raw_package.write([entry("x")], paths=paths(name)),
        raw_package.write([member], paths=paths(name)),
    )):  # fmt: skip
        offer(tmp_path / f"channel-{number}", path)
        error = attempt((tmp_path / f"channel-{number}").as_uri(), tmp_path / "prefix")
        check(error, message)
        with pytest.raises(IntegrityError) as caught:
            Verifier(environ={}).facts(path)
        check(caught.value, message)


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("twice, in two Unicode forms", {"members": [entry("lib/e\u0301"), entry("lib/\u00e9")]}),
    ("twice, in two Unicode forms", {"members": [entry("e\u0301/a"), entry("\u00e9/b")]}),
    ("leads out of the prefix", {"members": [entry("a/b/up", ".."), entry("lib/x", "../a/b/up/../../y")]}),
    ("leads out of the prefix", {"members": [entry("up", "d/e/.."), entry("d/e", "."), entry("z", "up/../x")]}),
    ("leads out of the prefix", {"members": [entry("link", "/etc/passwd")]}),
    ("twice", {"members": [entry("lib/a/b"), entry("lib/a")]}),
    ("which is not in the package", {"members": [entry("x")], "paths": paths("y")}),
    ("is no path of a prefix", {"members": [entry("x")], "paths": paths("info/index.json")}),
    ("bytes, and paths.json says", {"members": [entry("x")], "paths": paths("x", size_in_bytes=8 << 30)}),
    ("not what paths.json promises", {"members": [entry("x")], "paths": paths("x", sha256="0" * 64)}),
    ("and paths.json says softlink", {"members": [entry("x")], "paths": paths("x", path_type="softlink")}),
    ("is unknown", {"members": [entry("x")], "paths": paths("x", path_type="device")}),
    ("names a path twice", {"members": [entry("x")], "paths": paths("x", "x")}),
    ("is no path of a file", {"members": [entry("x")], "paths": paths("./x")}),
    ("is none", {"members": [entry("x")], "paths": paths("x", sha256="../../x")}),
    ("no valid JSON", {"paths": (tarfile.TarInfo("info/paths.json"), b"[" * 100_000)}),
    ("an object was expected", {"paths": (tarfile.TarInfo("info/paths.json"), b"[]")}),
    ('"paths" stands there twice', {"members": [entry("x")], "paths": (tarfile.TarInfo("info/paths.json"),
        b'{"paths": [{"_path": "../evil"}], "paths": [{"_path": "x"}], "paths_version": 1}')}),
    ('"_path" stands there twice', {"members": [entry("x")], "paths": (tarfile.TarInfo("info/paths.json"),
        b'{"paths": [{"_path": "../evil", "_path": "x"}], "paths_version": 1}')}),
    ("no path inside a prefix", {"members": [entry("x")], "paths": paths("x\0y")}),
    ("not a list of paths", {"paths": (tarfile.TarInfo("info/paths.json"), b'{"paths": [3]}')}),
    ("is a bomb", {"members": [(tarfile.TarInfo("zeros"), bytes(70 << 20))]}),
    ("no name of a program", {"info": [(tarfile.TarInfo("info/link.json"),
                                        b'{"noarch": {"type": "python", "entry_points": ["../../x = a:b"]}}')]}),
    ("name is not the package's", {"index": {"name": "b"}}),
    ("name is not the package's", {"index": {"version": "2"}}),
    ("which is no package's name", {"index": {"name": "../a"}}),
    ("which is no package's name", {"index": {"name": None}}),
    ("differ in nothing but case", {"members": [entry("x"), entry("X")], "paths": paths("x", "X"),
                                    "index": {"noarch": "generic"}}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "content"), HOSTILE)
def test_hostile_packages_are_not_linked(
    raw_package: RawPackage, server: str, tmp_path: Path, message: str, content: dict[str, Any]
) -> None:
    path = raw_package.write(content.pop("members", ()), **content)
    offer(tmp_path / "channel", path)
    check(attempt(server, tmp_path / "prefix"), message)
    check(attempt((tmp_path / "channel").as_uri(), tmp_path / "prefix"), message)
    with pytest.raises(IntegrityError):
        judge_package(path)


def test_index_that_speaks_of_another_package(raw_package: RawPackage, tmp_path: Path) -> None:
    offer(tmp_path / "channel", raw_package.write([entry("x")], paths=paths("x")), version="3")
    error = attempt((tmp_path / "channel").as_uri(), tmp_path / "prefix")
    assert isinstance(error, IntegrityError)
    assert "the package calls itself a-1-0, and its channel's index a-3-0" in error.message


def test_index_that_speaks_of_another_package_with_bytes_that_are_known(
    raw_package: RawPackage, tmp_path: Path
) -> None:
    """The package was taken once, by its own name; an index gives its digest to a newer version of it."""
    path = raw_package.write([entry("x")], paths=paths("x"))
    offer(tmp_path / "channel", path)
    install(solve(["a"], [(tmp_path / "channel").as_uri()]), tmp_path / "first", NullReporter())
    offer(tmp_path / "channel", path, version="3")
    error = attempt((tmp_path / "channel").as_uri(), tmp_path / "prefix")
    assert isinstance(error, IntegrityError)
    assert "the package calls itself a-1-0, and its channel's index a-3-0" in error.message


def test_nobodys_rights_are_given(raw_package: RawPackage, tmp_path: Path) -> None:
    """No file that runs as somebody else, and none that everybody may change."""
    made = []
    for number, mode in enumerate((0o4755, 0o2755, 0o1777, 0o6777, 0o000)):
        member, content = entry(f"bin/{number}")
        member.mode = mode
        made.append((member, content))
    offer(tmp_path / "channel", raw_package.write(made, paths=paths(*(member.name for member, _ in made))))
    install(solve(["a"], [(tmp_path / "channel").as_uri()]), tmp_path / "prefix", NullReporter())
    modes = [(tmp_path / f"prefix/bin/{number}").stat().st_mode & 0o7777 for number in range(5)]
    assert modes == [0o755, 0o755, 0o755, 0o755, 0o644]


def test_older_format_and_links(raw_package: RawPackage, tmp_path: Path) -> None:
    """A package in one tarball, and links that stay inside."""
    members = [entry("lib/a.so.1"), entry("lib/a.so", "a.so.1"), entry("share/l", "../lib/../lib/a.so")]
    content = io.BytesIO()
    listed = tarfile.TarInfo("info/paths.json"), json.dumps({"paths": [
        {"_path": "lib/a.so.1", "path_type": "hardlink"}, {"_path": "lib/a.so", "path_type": "softlink"},
        {"_path": "share/l", "path_type": "softlink"}]}).encode()  # fmt: skip
    index = tarfile.TarInfo("info/index.json"), json.dumps(INDEX).encode()
    with tarfile.open(fileobj=content, mode="w:bz2") as tar:
        for one, data in [index, listed, *members]:
            one.size = len(data)
            tar.addfile(one, io.BytesIO(data))
    path = raw_package.path.with_name("a-1-0.tar.bz2")
    path.write_bytes(content.getvalue())
    assert [member.path for member in judge_package(path).members][-1] == "share/l"
    path.write_bytes(content.getvalue()[:-30])
    with pytest.raises(IntegrityError, match="damaged"):
        judge_package(path)


@pytest.fixture
def solution(kit: Kit, tmp_path: Path) -> Solution:
    """A package with files, a program and a link."""
    files: dict[str, bytes | str | Path] = {"lib/a.txt": "a" * 1000, "lib/b.txt": "b", "lib/l.txt": Path("a.txt")}
    path = kit.package(files, name="a", version="1", build="0")
    Channel(tmp_path / "local").publish([("linux-64", path)])
    return solve(["a"], [Channel(tmp_path / "local").url])


def same_times(path: Path, before: os.stat_result) -> None:
    """What a careful forger does."""
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("number", range(8))
def test_damage_of_unpacked_files_is_found_and_repaired(solution: Solution, number: int) -> None:
    (taken,) = take_packages(solution.packages)
    chance = random.Random(number)
    target = taken.folder / chance.choice(["lib/a.txt", "lib/b.txt", "info/index.json", "info/paths.json"])
    before = target.stat()
    content = bytearray(target.read_bytes())
    damage = ("flip", "append", "remove", "replace by a link", "add", "mode", "link elsewhere", "empty folder")[number]
    if damage == "flip":
        content[chance.randrange(len(content))] ^= 1
        target.write_bytes(content)
        same_times(target, before)
    elif damage == "append":
        target.write_bytes(content + b"x")
    elif damage == "remove":
        target.unlink()
    elif damage == "replace by a link":
        target.unlink()
        target.symlink_to("/etc/hostname")
    elif damage == "add":
        (taken.folder / "lib/new.so").write_bytes(b"x")
    elif damage == "mode":
        target.chmod(0o4755)
    elif damage == "link elsewhere":
        (taken.folder / "lib/l.txt").unlink()
        (taken.folder / "lib/l.txt").symlink_to("b.txt")
    else:
        (taken.folder / "lib").rename(taken.folder / "gone")
    (again,) = take_packages(solution.packages)
    found = {path.relative_to(again.folder).as_posix() for path in again.folder.rglob("*") if not path.is_dir()}
    assert found == {member.path for member in again.judged.members}
    assert (again.folder / "lib/a.txt").read_bytes() == b"a" * 1000
    assert (again.folder / "lib/l.txt").readlink() == Path("a.txt")


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9])
def test_flipped_byte_of_an_archive_is_found(solution: Solution, tmp_path: Path, at: float) -> None:
    """Of the same size and the same times: what was remembered of the file is not believed."""
    take_packages(solution.packages)
    (path,) = Channel(tmp_path / "local").packages()
    before, content = path.stat(), bytearray(path.read_bytes())
    content[int(len(content) * at)] ^= 1
    path.write_bytes(content)
    same_times(path, before)
    with pytest.raises(IntegrityError, match="not the one that was indexed"):
        take_packages(solution.packages)


def test_memory_from_elsewhere_is_not_believed(solution: Solution, tmp_path: Path) -> None:
    """A cache that was restored: damaged files, and a memory that fits them."""
    (taken,) = take_packages(solution.packages)
    (memory,) = (cache_folder() / "judged").iterdir()
    facts = json.loads(memory.read_text(encoding="utf-8"))
    evil = b"e" * 1000
    (taken.folder / "lib/a.txt").write_bytes(evil)
    for member in facts["members"]:
        if member["path"] == "lib/a.txt":
            member["sha256"] = hashlib.sha256(evil).hexdigest()
    memory.write_text(json.dumps(facts), encoding="utf-8")
    # Elsewhere its times were others: a restored archive is another file than the one that was read.
    (path,) = Channel(tmp_path / "local").packages()
    path.write_bytes(path.read_bytes())
    (again,) = take_packages(solution.packages)
    assert (again.folder / "lib/a.txt").read_bytes() == b"a" * 1000


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"judgement": 1}', "[" * 10_000])
def test_damaged_memory_is_written_again(solution: Solution, text: str) -> None:
    take_packages(solution.packages)
    (memory,) = (cache_folder() / "judged").iterdir()
    whole = json.loads(memory.read_text(encoding="utf-8"))
    memory.write_text(text, encoding="utf-8")
    take_packages(solution.packages)
    assert json.loads(memory.read_text(encoding="utf-8")) | {"seal": whole["seal"]} == whole


@pytest.mark.parametrize("sealed", ["", "no hex", "00" * 28])
def test_damaged_seal_is_made_again(solution: Solution, sealed: str) -> None:
    take_packages(solution.packages)
    (memory,) = (cache_folder() / "judged").iterdir()
    facts = json.loads(memory.read_text(encoding="utf-8"))
    memory.write_text(json.dumps(facts | {"seal": sealed}), encoding="utf-8")
    (again,) = take_packages(solution.packages)
    assert json.loads(memory.read_text(encoding="utf-8"))["seal"] not in (sealed, facts["seal"])
    before = memory.stat()
    assert take_packages(solution.packages) == [again]
    assert memory.stat() == before, "nothing was unpacked again"


def test_damaged_download_is_fetched_again(kit: Kit, server: str, tmp_path: Path) -> None:
    path = kit.package({"lib/a.txt": "a"}, name="a", version="1", build="0")
    offer(tmp_path / "channel", path)
    wanted = solve(["a"], [server])
    (taken,) = take_packages(wanted.packages)
    assert taken.archive.is_relative_to(cache_folder())
    for damage in (b"", b"x", path.read_bytes()[:-1] + b"!"):
        taken.archive.write_bytes(damage)
        (taken.folder / "lib/a.txt").write_bytes(b"?")
        (again,) = take_packages(wanted.packages)
        assert again.archive.read_bytes() == path.read_bytes()
        assert (again.folder / "lib/a.txt").read_bytes() == b"a"
    install(wanted, tmp_path / "prefix", NullReporter())
    record = json.loads((tmp_path / "prefix/conda-meta/a-1-0.json").read_text(encoding="utf-8"))
    assert record["url"].startswith(server)
    assert (tmp_path / "prefix/lib/a.txt").samefile(again.folder / "lib/a.txt")
