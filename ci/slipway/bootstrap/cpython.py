"""CPython from its sources, for a version that this machine lacks: built once, with the embedded channel's compilers.

What comes out is an installation like any other, of which the channel's package is a snapshot. It is not optimized by
profile, which would take a quarter of an hour on two processors instead of four minutes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slipway.base import errors
from slipway.base.cache_room import mark_used
from slipway.base.files import hash_file, write_file
from slipway.base.json_file import read_json
from slipway.base.locks import hold_lock
from slipway.base.platform import LINUX_64, usable_cpus
from slipway.base.proc import Processes, run
from slipway.bootstrap.debs import Apt, debian_sources, machine_codename
from slipway.bootstrap.download import Host
from slipway.bootstrap.interpreter import Interpreter
from slipway.channel.environments import install, solve
from slipway.model import Source
from slipway.source import url

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.base.log import Reporter
    from slipway.bootstrap.choices import CPythonSource

SCRIPT: Final = Path(__file__).parent / "data" / "files" / "build_cpython.sh"

NEEDS: Final = (
    f"gcc_{LINUX_64}", f"gxx_{LINUX_64}", "make", "pkg-config", "bzip2", "libexpat", "libffi",
    "libuuid", "libxcrypt", "ncurses", "openssl", "readline", "sqlite", "xz", "zlib",
)  # fmt: skip
"""What it is built with; the libraries are those that its package depends on."""


@dataclass(frozen=True)
class SourceBuild:
    """Where the sources of a CPython come from, and where what is built of them is kept.

    Attributes:
        version: X.Y.
        cache: the cache folder.
        find_tools: gives the address of a channel that holds `NEEDS`.
    """

    version: str
    source: CPythonSource
    cache: Path
    find_tools: Callable[[], str]
    reporter: Reporter
    host: Host | None
    offline: bool

    @property
    def folder(self) -> Path:
        """What is built from other sources, or in another way, lies elsewhere."""
        digest = hashlib.sha256(f"{self.source.sha256} {' '.join(NEEDS)}".encode() + SCRIPT.read_bytes())
        return self.cache / "pythons" / f"{self.source.version}-{digest.hexdigest()[:16]}"

    def interpreter(self) -> Interpreter:
        """The installation, from the cache or made now.

        Raises:
            NetworkError: neither Debian's archive nor the project's own site gives the sources.
            HostError: they do not compile here.
        """
        done = self.folder / "done.json"
        prefix = self.folder / "prefix"
        with hold_lock(self.cache / "pythons" / f"{self.version}.lock", patience=3600):
            if read_json(done) is None:
                archive = self._fetch()
                address = self.find_tools()
                with self.reporter.step(f"CPython {self.source.version} from its sources: there is none here"):
                    shutil.rmtree(self.folder, ignore_errors=True)
                    install(solve(NEEDS, (address,)), prefix, self.reporter)
                    self._build(archive, prefix)
                write_file(done, json.dumps({"version": self.source.version}))
        mark_used(self.folder)
        return Interpreter(self.version, self.source.version, prefix, prefix / "bin" / f"python{self.version}")

    def _build(self, archive: Path, prefix: Path) -> None:
        work = self.folder / "work"
        with tarfile.open(archive) as members:
            members.extractall(work, filter="data")
        (tree,) = work.iterdir()
        variables = {
            "PATH": f"{prefix}/bin:/usr/bin:/bin",
            "HOME": str(work),
            "TMPDIR": str(work),
            "LC_ALL": "C.UTF-8",
            "PREFIX": str(prefix),
            "JOBS": str(usable_cpus()),
        }
        with self.reporter.task("compiling") as task:
            run(
                ["/bin/sh", "-eu", SCRIPT], env=variables, what=f"building CPython {self.source.version}", cwd=tree,
                log=self.folder / "build.log", error=errors.HostError,
                on_line=lambda line: task.update(text=line.rpartition(" ")[2]),
            )  # fmt: skip
        shutil.rmtree(work)

    def _fetch(self) -> Path:
        """The archive, looked for in the cache, in Debian's archive and where the project offers it."""
        locked = Source(url=self.source.url, sha256=self.source.sha256)
        kept = self.cache / "sources" / self.source.sha256
        if self.source.debian is not None and not self.offline and not kept.is_file():
            try:
                self._fetch_from_debian(self.source.debian, kept)
            except (errors.NetworkError, errors.HostError, errors.IntegrityError) as error:
                self.reporter.line(
                    f"Debian's {self.source.debian} does not give CPython {self.version}: {error.message}"
                )
        try:
            return url.fetch(locked, self.cache, self.cache, offline=self.offline).path
        except errors.NetworkError as error:
            raise errors.NetworkError(
                f"there is no CPython {self.version} on this machine, and its sources cannot be fetched",
                where=self.source.url,
                hint=f"put that file there by hand: {kept} (sha256 {self.source.sha256}); or run slipway where a "
                f"python{self.version} with a shared library is on PATH; or use `--channel conda-forge`",
                detail=str(error),
            ) from error

    def _fetch_from_debian(self, suite: str, kept: Path) -> None:
        host, folder = self.host or Host(), self.cache / "pythons" / "apt"
        sources = debian_sources(host.etc_apt, machine_codename(host.os_release), suite, kind="deb-src")
        apt = Apt(folder, sources, Processes())
        apt.update()
        found = apt.download_source(f"python{self.version}")
        if (actual := hash_file(found)) != self.source.sha256:
            raise errors.IntegrityError(f"{found.name} has sha256 {actual}, and {self.source.sha256} is locked")
        kept.parent.mkdir(parents=True, exist_ok=True)
        found.replace(kept)
