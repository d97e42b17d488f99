"""What slipway's tests share: outputs made by hand, so that no renderer is needed, and small packages."""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from slipway.base import secrets
from slipway.base.log import NullReporter
from slipway.base.paths import Workspace
from slipway.channel.package_writer import PackageRecord, write_package
from slipway.commands._options import add_request_arguments, request_of
from slipway.engines import load_engine
from slipway.engines.build_folder import VARIABLE
from slipway.model import RenderedOutput, Requirements, RunExports
from slipway.pipeline.context import RunContext
from slipway.request import Configurations
from slipway.verify.policies import Policies, load_policies
from slipway.verify.surroundings import Surroundings
from slipway.verify.verifier import Verifier
from slipway.workflows.matrix import Matrix, make_matrix
from slipway.workflows.settings import load_settings

if TYPE_CHECKING:
    from slipway.base.events import Finding
    from slipway.request import Request
    from slipway.verify.facts import Inventory, PackageFacts

CHECKOUT = Path(__file__).resolve().parents[2]

MakeOutput = Callable[..., RenderedOutput]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's cache out of tests, and tests out of the user's cache; nobody else builds in their folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.getbasetemp() / "build"))


@pytest.fixture
def parse() -> Callable[..., Request]:
    """``parse("--python", "3.12")``: the request that a command makes of these words."""

    def make(*words: str) -> Request:
        parser = argparse.ArgumentParser()
        parser.set_defaults(words=words)
        add_request_arguments(parser)
        return request_of(parser.parse_args(words))

    return make


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_known", set())
    monkeypatch.setattr(secrets, "_patterns", {})


@pytest.fixture
def make_output(tmp_path: Path) -> MakeOutput:
    """``make_output(name, script="...")``: an output whose recipe folder holds build.sh with that text."""

    def make(name: str = "libtoy", *, script: str = "mkdir -p $PREFIX/lib\n", **changes: Any) -> RenderedOutput:
        folder = tmp_path / f"recipe-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "build.sh").write_text(script, encoding="utf-8")
        (folder / "LICENSE").write_text("Do as you like.\n", encoding="utf-8")
        output = RenderedOutput(
            name=name,
            version="1.0",
            build_string="h0123456_0",
            build_number=0,
            subdir="linux-64",
            noarch=None,
            variant={"target_platform": "linux-64"},
            hash_input={},
            requirements=Requirements(),
            run_exports=RunExports(),
            recipe_dir=folder,
            script="build.sh",
            about={"license": "MIT", "license_file": "LICENSE"},
        )
        return replace(output, **changes)

    return make


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An output folder of its own."""
    return Workspace(tmp_path / "dist")


@pytest.fixture
def make_context(workspace: Workspace) -> Callable[..., RunContext]:
    """A run without any channel but its own."""

    def make(**changes: Any) -> RunContext:
        given: dict[str, Any] = {
            "workspace": workspace,
            "engine": load_engine("rattler"),
            "channels": (),
            "environ": dict(os.environ),
            "reporter": NullReporter(),
            "jobs": 2,
        }
        return RunContext(**(given | changes))

    return make


@pytest.fixture
def git_checkout(tmp_path: Path) -> Path:
    """An empty git repository."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture(scope="session")
def own_matrix() -> Matrix:
    """What `slipway ci write` writes from."""
    return make_matrix(CHECKOUT / "recipe", CHECKOUT, load_settings(), Configurations())


PLACEHOLDER = "/prefix" + "_placehold" * 8


@dataclass
class Kit:
    """Makes libraries and packages in a scratch folder, and judges them.

    Attributes:
        environ: what the verifier takes for this machine's environment: none of the real one.
        policies: what packages are held to; tests may replace parts.
    """

    folder: Path
    environ: dict[str, str] = field(default_factory=lambda: {"HOME": "/home/builder-of-tests"})
    policies: Policies = field(default_factory=load_policies)
    count: int = 0

    def scratch(self) -> Path:
        """A new empty folder."""
        self.count += 1
        folder = self.folder / str(self.count)
        folder.mkdir(parents=True)
        return folder

    def library(
        self,
        source: str = "int good(void) { return 1; }",
        *flags: str,
        name: str = "libgood.so",
        versions: str = "",
    ) -> bytes:
        """A shared library of C code; `versions` is a version script."""
        compiler = shutil.which("gcc") or shutil.which("cc")
        assert compiler, "these tests need a C compiler (Debian: apt-get install gcc)"
        folder = self.scratch()
        (folder / "source.c").write_text(source, encoding="utf-8")
        words = [compiler, "-shared", "-fPIC", "-O1", f"-Wl,-soname,{name}", "-o", name, "source.c", *flags]
        if versions:
            (folder / "versions").write_text(versions, encoding="utf-8")
            words.append("-Wl,--version-script=versions")
        subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
        return (folder / name).read_bytes()

    def user_of(self, library: str, *, version: str = "", run_path: str = "$ORIGIN") -> bytes:
        """A library that needs another one, which is made for it and exports its function under `version`."""
        folder = self.scratch()
        script = f"{version} {{ global: used; }};" if version else ""
        stub = self.library("int used(void) { return 2; }", name=library, versions=script)
        (folder / library).write_bytes(stub)
        source = "int used(void); int good(void) { return used(); }"
        return self.library(source, str(folder / library), f"-Wl,-rpath,{run_path}")

    def package(
        self,
        files: Mapping[str, bytes | str | Path],
        *,
        name: str = "good",
        version: str = "1.0",
        build: str = "h0123456_0",
        depends: Iterable[str] = (),
        noarch: bool = False,
        about: Mapping[str, Any] | None = None,
        info: Mapping[str, bytes] | None = None,
        modes: Mapping[str, int] | None = None,
        into: Path | None = None,
    ) -> Path:
        """A package; a `Path` among the files is a symbolic link to it."""
        tree = self.scratch() / "tree"
        tree.mkdir()
        for path, content in files.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                target.symlink_to(content)
            else:
                target.write_bytes(content.encode() if isinstance(content, str) else content)
                target.chmod((modes or {}).get(path, 0o644))
        record = PackageRecord(
            name=name,
            version=version,
            build=build,
            build_number=0,
            subdir="noarch" if noarch else "linux-64",
            depends=tuple(depends),
            constrains=(),
            license="MIT",
            noarch_python=noarch,
        )
        described = {"license": "MIT"} if about is None else dict(about)
        metadata = {"about.json": json.dumps(described).encode(), "licenses/LICENSE": b"Do as you like.\n"}
        destination = (into or self.scratch()) / record.file_name
        destination.parent.mkdir(parents=True, exist_ok=True)
        write_package(tree, record, destination, placeholder=PLACEHOLDER, info={**metadata, **(info or {})}, level=1)
        return destination

    def facts(self, path: Path) -> PackageFacts:
        """The facts of a package."""
        return Verifier(self.policies, self.environ).facts(path)

    @staticmethod
    def only(findings: list[Finding], rule: str, severity: str = "error") -> Finding:
        """The one finding there is: it must be of `rule`, say where, and give a cure."""
        assert [(finding.rule, finding.severity) for finding in findings] == [(rule, severity)], findings
        assert findings[0].where
        assert findings[0].cure
        return findings[0]

    def judge(
        self, path: Path | PackageFacts, around: Mapping[str, Inventory] | None = None, previous: Path | None = None
    ) -> list[Finding]:
        """The findings about a package beside the packages `around` it."""
        facts = self.facts(path) if isinstance(path, Path) else path
        surroundings = Surroundings(around or {}, self.facts(previous) if previous else None)
        return Verifier(self.policies, self.environ).judge(facts, surroundings)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    """A kit of its own."""
    return Kit(tmp_path / "kit")


@dataclass
class RawPackage:
    """A package whose tarballs hold what no packer would put there."""

    path: Path

    def write(
        self,
        members: Iterable[tuple[tarfile.TarInfo, bytes]] = (),
        *,
        info: Iterable[tuple[tarfile.TarInfo, bytes]] = (),
        names: Iterable[str] = (),
        packed: bytes | None = None,
        index: Mapping[str, Any] | None = None,
        paths: tuple[tarfile.TarInfo, bytes] | None = None,
    ) -> Path:
        """Write it.

        Args:
            names: further entries of the outer archive.
            packed: replaces the pkg tarball's bytes.
            index: what info/index.json says otherwise.
            paths: replaces info/paths.json.
        """
        stem = self.path.name.removesuffix(".conda")
        said = {"name": "a", "version": "1", "build": "0", "build_number": 0, "depends": [], "subdir": "linux-64"}
        described = [
            (_entry("info/index.json"), json.dumps({**said, **(index or {})}).encode()),
            paths or (_entry("info/paths.json"), b'{"paths": [], "paths_version": 1}'),
        ]
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
            archive.writestr(f"pkg-{stem}.tar.zst", _pack(members) if packed is None else packed)
            archive.writestr(f"info-{stem}.tar.zst", _pack([*described, *info]))
            for name in names:
                archive.writestr(name, b"x")
        return self.path


def _entry(name: str) -> tarfile.TarInfo:
    return tarfile.TarInfo(name)


def _pack(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry, content in members:
            entry.size = len(content) if entry.isreg() else 0
            tar.addfile(entry, io.BytesIO(content))
    return zstandard.ZstdCompressor(level=3).compress(buffer.getvalue())


@pytest.fixture
def raw_package(tmp_path: Path) -> RawPackage:
    """A package that is written by hand."""
    return RawPackage(tmp_path / "a-1-0.conda")
