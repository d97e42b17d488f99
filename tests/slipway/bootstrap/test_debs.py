"""The private apt, with real repositories on disk."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base import errors
from slipway.base.files import hash_file
from slipway.base.http import ServerLimitError
from slipway.base.proc import Processes
from slipway.bootstrap import download
from slipway.bootstrap.cache import Cache
from slipway.bootstrap.debs import Apt, OfferedDeb, debian_sources, machine_codename
from slipway.bootstrap.finishing import check_glibc
from slipway.bootstrap.lock import Lock
from slipway.bootstrap.sources import Tree, open_deb, place

from .snail import dripping
from .test_mapping import rule

if TYPE_CHECKING:
    from collections.abc import Callable


def make_apt(folder: Path, etc_apt: Path) -> Apt:
    return Apt(folder, debian_sources(etc_apt, "bookworm", "bookworm"), Processes())


def test_offers_and_downloads(
    make_deb: Callable[..., Path],
    repository: Callable[..., Path],
    etc_apt: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    deb = make_deb("tool", {"usr/bin/tool": "#!/bin/sh\n"}, version="1:2.0+x-1")
    apt = make_apt(tmp_path / "apt", etc_apt(repository(deb)))
    apt.update()
    offer = apt.offers(["tool"])["tool"]
    assert (offer.version, offer.size, offer.sha256) == ("1:2.0+x-1", deb.stat().st_size, hash_file(deb))
    assert [path.read_bytes() for path in apt.download([offer])] == [deb.read_bytes()]
    with pytest.raises(errors.HostError, match="does not offer nothing-like-that"):
        apt.offers(["tool", "nothing-like-that"])


def test_a_changed_file_is_refused(
    make_deb: Callable[..., Path],
    repository: Callable[..., Path],
    etc_apt: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    deb = make_deb("tool", {"usr/bin/tool": "#!/bin/sh\n"})
    mirror = repository(deb)
    apt = make_apt(tmp_path / "apt", etc_apt(mirror))
    apt.update()
    offer = apt.offers(["tool"])["tool"]
    stored = mirror / "pool" / deb.name
    stored.write_bytes(stored.read_bytes()[:-1] + b"!")
    with pytest.raises(errors.IntegrityError):
        apt.download([offer])


def test_no_mirror(etc_apt: Callable[[Path], Path], tmp_path: Path) -> None:
    apt = make_apt(tmp_path / "apt", etc_apt(tmp_path / "not-there"))
    with pytest.raises(errors.NetworkError) as caught:
        apt.update()
    assert caught.value.hint is not None
    assert "apt sources" in caught.value.hint


def test_an_unsigned_repository_is_refused(
    make_deb: Callable[..., Path],
    repository: Callable[..., Path],
    etc_apt: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    folder = etc_apt(repository(make_deb("tool", {"usr/bin/tool": ""})))
    path = folder / "sources.list.d" / "debian.sources"
    path.write_text(path.read_text().replace("Trusted: yes\n", ""))
    with pytest.raises(errors.IntegrityError):
        make_apt(tmp_path / "apt", folder).update()


def test_a_repository_that_is_not_debians_counts_for_nothing(
    make_deb: Callable[..., Path],
    repository: Callable[..., Path],
    etc_apt: Callable[[Path], Path],
    tmp_path: Path,
) -> None:
    mirror = repository(make_deb("tool", {"usr/bin/tool": ""}))
    release = mirror / "dists" / "bookworm" / "Release"
    release.write_text(release.read_text().replace("Origin: Debian", "Origin: Somebody"))
    apt = make_apt(tmp_path / "apt", etc_apt(mirror))
    apt.update()
    with pytest.raises(errors.HostError, match="does not offer tool"):
        apt.offers(["tool"])


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "sources.list",
            "deb [signed-by=/k.gpg arch=amd64] http://m.example/debian bookworm main contrib # mine\n",
            "Types: deb\nSuites: trixie\nComponents: main\nArchitectures: amd64\nURIs: http://m.example/debian\n"
            "Signed-By: /k.gpg\n",
        ),
        (
            "sources.list.d/a.sources",
            "Types: deb deb-src\nURIs: http://m.example/debian\nSuites: bookworm bookworm-updates other\n"
            "Components: main non-free\nSigned-By:\n -----BEGIN\n .\n -----END\n",
            "Types: deb\nSuites: trixie trixie-updates\nComponents: main\nArchitectures: amd64\n"
            "URIs: http://m.example/debian\nSigned-By: \n -----BEGIN\n .\n -----END\n",
        ),
    ],
)
def test_sources_are_derived_from_the_machines(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert debian_sources(tmp_path, "bookworm", "trixie") == expected
    other = debian_sources(tmp_path, "bookworm", "trixie", component="non-free")
    assert other == expected.replace("Components: main", "Components: non-free")


def test_another_archive_is_asked_only_for_its_own_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    class Recording(Apt):
        def __init__(self, folder: Path, sources: str, *_: object) -> None:
            asked.append([line for line in sources.splitlines() if line.startswith(("Suites", "Components"))])

        def update(self) -> None: ...

        def offers(self, names: object) -> dict[str, OfferedDeb]:
            return {}

    monkeypatch.setattr(download, "Apt", Recording)
    (tmp_path / "sources.list").write_text("deb http://m.example/debian bookworm main\n")
    (tmp_path / "os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    host, archives = download.Host(tmp_path / "os-release", tmp_path), {"trixie/non-free": ("compiler",)}
    lock = Lock("bookworm", {}, {})
    cache = Cache(tmp_path / "cache")
    cache.apt.mkdir(parents=True)
    archive = download.DebianArchive(cache, lock, host, Processes(), archives=archives, offline=False)
    main = ["Suites: bookworm", "Components: main"]
    for names in (["make"], ["make", "compiler"], ["make"]):
        archive.offers(names)
    assert asked == [main, [*main, "Suites: trixie", "Components: non-free"]]


@pytest.mark.parametrize(
    "text",
    [
        "Types: deb\nURIs: http://m.example/\nSuites: stable\nComponents: main\n",
        "Types: deb\nURIs: http://m.example/\nSuites: bookworm\nComponents: contrib\n",
        "Types: deb\nEnabled: no\nURIs: http://m.example/\nSuites: bookworm\nComponents: main\n",
        "Types: deb-src\nURIs: http://m.example/\nSuites: bookworm\nComponents: main\n",
        "",
    ],
)
def test_no_source_of_debian(tmp_path: Path, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "a.sources").write_text(text)
    with pytest.raises(errors.HostError, match="no apt source of this machine offers Debian's `bookworm`"):
        debian_sources(tmp_path, "bookworm", "bookworm")


@pytest.mark.parametrize("text", ["ID=fedora\nPRETTY_NAME='Fedora 42'\n", "ID=ubuntu\nVERSION_CODENAME=noble\n", None])
def test_another_system_is_pointed_to_conda_forge(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "os-release"
    if text is not None:
        path.write_text(text)
    with pytest.raises(errors.HostError) as caught:
        machine_codename(path)
    assert caught.value.hint is not None
    assert "--channel conda-forge" in caught.value.hint


def test_links_of_a_package_become_relative(make_deb: Callable[..., Path], tmp_path: Path) -> None:
    links = {"usr/lib/libm.so": "/lib/libm.so.6", "usr/lib/again.so": "libm.so"}
    deb = make_deb("libm", {"lib/libm.so.6": "code"}, links=links)
    tree = Tree(tmp_path / "tree")
    with open_deb(deb, tmp_path) as entries:
        place(entries, (rule("{lib,usr}/**", "root/*/**"),), tree, link_root="root")
    assert tree.paths() == ["root/lib/libm.so.6", "root/usr/lib/again.so", "root/usr/lib/libm.so"]
    assert (tree.root / "root/usr/lib/libm.so").read_text() == "code"
    assert not (tree.root / "root/usr/lib/libm.so").readlink().is_absolute()
    assert not list(tmp_path.glob("*.tar"))


def test_a_rule_that_takes_nothing_is_an_error(make_deb: Callable[..., Path], tmp_path: Path) -> None:
    deb = make_deb("libm", {"lib/libm.so.6": "code"})
    with (
        open_deb(deb, tmp_path) as entries,
        pytest.raises(errors.ChannelError, match=r"no file matches `lib/libn\.so`"),
    ):
        place(entries, (rule("lib/libn.so", "lib/libn.so"),), Tree(tmp_path / "tree"), link_root=None)


def test_what_needs_a_newer_glibc_is_refused(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    tree.put("bin/text", b"#!/bin/sh\n", 0o755)
    tree.put("bin/example", b"\x7fELF and no more", 0o644)
    check_glibc(tree, "2.17")
    tree.put("bin/python", Path(sys.executable).resolve().read_bytes(), 0o755)
    check_glibc(tree, "9.9")
    with pytest.raises(errors.ChannelError, match=r"`bin/python` needs glibc 2\.\d+, and the channel is for 2\.1$"):
        check_glibc(tree, "2.1")


def test_a_damaged_package(tmp_path: Path) -> None:
    (tmp_path / "bad.deb").write_bytes(b"not a package")
    with pytest.raises(errors.IntegrityError), open_deb(tmp_path / "bad.deb", tmp_path):
        pass
    assert not list(tmp_path.glob("*.tar"))


def test_a_mirror_as_slow_as_a_snail_ends(
    make_deb: Callable[..., Path],
    repository: Callable[..., Path],
    etc_apt: Callable[[Path], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deb = make_deb("tool", {"usr/share/noise": secrets.token_hex(50_000)})
    mirror = repository(deb)
    with dripping(mirror, ".deb") as address:
        folder = etc_apt(mirror)
        sources = folder / "sources.list.d" / "debian.sources"
        sources.write_text(sources.read_text().replace(f"file://{mirror}", address))
        monkeypatch.setenv("SLIPWAY_HTTP_SPEED_SECONDS", "3")
        apt = make_apt(tmp_path / "apt", folder)
        apt.update()
        offer = apt.offers(["tool"])["tool"]
        with pytest.raises(ServerLimitError, match="too slow") as caught:
            apt.download([offer])
    assert caught.value.where == "Debian packages (tool)"
    assert "SLIPWAY_HTTP_LEAST_SPEED" in str(caught.value.hint)
