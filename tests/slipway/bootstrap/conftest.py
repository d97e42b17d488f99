"""Small real things for the bootstrap's tests: wheels, Debian packages and a data folder, all made on the spot."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

MakeWheel = Callable[..., Path]
MakeDeb = Callable[..., Path]


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """``make_wheel("toy", files={"toy/__init__.py": ""})`` in a folder that pip can take it from."""

    def make(name: str = "toy", version: str = "1.0", *, files: dict[str, str] | None = None) -> Path:
        folder = tmp_path / "wheels"
        folder.mkdir(exist_ok=True)
        info = f"{name}-{version}.dist-info"
        content = {
            f"{name}/__init__.py": f"__version__ = '{version}'\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/licenses/LICENSE": "Do as you like.\n",
            **(files or {}),
        }
        content[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in content)
        path = folder / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in content.items():
                archive.writestr(member, text)
        return path

    return make


@pytest.fixture
def make_deb(tmp_path: Path) -> MakeDeb:
    """``make_deb("tool", {"usr/bin/tool": "#!/bin/sh\\n"}, links={"usr/bin/alias": "/usr/bin/tool"})``"""

    def make(name: str, files: dict[str, str], *, links: dict[str, str] | None = None, version: str = "1.0-1") -> Path:
        root = tmp_path / f"deb-{name}"
        control = root / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        control.write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: Nobody <nobody@example.org>\n"
            "Description: a test\n"
        )
        for path, text in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            target.chmod(0o755 if "/bin/" in path else 0o644)
        for path, target_text in (links or {}).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target_text)
        package = tmp_path / f"{name}_{version}_amd64.deb"
        command = ["dpkg-deb", "--root-owner-group", "--build", str(root), str(package)]
        subprocess.run(command, check=True, capture_output=True)
        return package

    return make


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """``repository(deb, ...)``: an apt repository of suite `bookworm` that says that it is Debian's."""

    def make(*debs: Path) -> Path:
        root = tmp_path / "mirror"
        binary = root / "dists" / "bookworm" / "main" / "binary-amd64"
        pool = root / "pool"
        binary.mkdir(parents=True, exist_ok=True)
        pool.mkdir(exist_ok=True)
        stanzas = []
        for deb in debs:
            (pool / deb.name).write_bytes(deb.read_bytes())
            control = subprocess.run(["dpkg-deb", "--field", str(deb)], check=True, capture_output=True, text=True)
            digest = hashlib.sha256(deb.read_bytes()).hexdigest()
            place = f"Filename: pool/{deb.name}\nSize: {deb.stat().st_size}\nSHA256: {digest}\n"
            stanzas.append(control.stdout.strip() + "\n" + place)
        packages = "\n".join(stanzas)
        (binary / "Packages").write_text(packages)
        digest = hashlib.sha256(packages.encode()).hexdigest()
        (root / "dists" / "bookworm" / "Release").write_text(
            "Origin: Debian\nLabel: Debian\nSuite: stable\nCodename: bookworm\nArchitectures: amd64\nComponents: main\n"
            f"Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n {digest} {len(packages)} main/binary-amd64/Packages\n"
        )
        return root

    return make


@pytest.fixture
def etc_apt(tmp_path: Path) -> Callable[[Path], Path]:
    """``etc_apt(mirror)``: a machine's apt folder with that mirror, and with one that is not Debian's."""

    def make(mirror: Path) -> Path:
        folder = tmp_path / "etc-apt"
        (folder / "sources.list.d").mkdir(parents=True, exist_ok=True)
        (folder / "sources.list.d" / "debian.sources").write_text(
            f"Types: deb\n# a comment\nURIs: file://{mirror}\nSuites: bookworm\nComponents: main\nTrusted: yes\n"
        )
        (folder / "sources.list.d" / "others.list").write_text("deb https://example.invalid/apt stable main\n")
        return folder

    return make


@pytest.fixture
def os_release(tmp_path: Path) -> Path:
    """The description of a Debian 12 machine."""
    path = tmp_path / "os-release"
    path.write_text('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_CODENAME=bookworm\n')
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty data folder: settings, and places for packages and files."""
    folder = tmp_path / "data"
    (folder / "packages").mkdir(parents=True)
    (folder / "files" / "activation").mkdir(parents=True)
    (folder / "settings.yaml").write_text(
        'suite: bookworm\nglibc: "2.36"\ndebian_python: "3.11"\npythons: ["3.11"]\nblas: [mkl, openblas]\n'
        'cpython: {"3.11": {version: 3.11.0, url: "https://example.invalid/Python-3.11.0.tgz", sha256: abc}}\n'
    )
    (folder / "lock.yaml").write_text("suite: bookworm\ndebs: {}\nwheels: {}\n")
    return folder
