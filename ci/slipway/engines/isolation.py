"""Where scripts run: namespaces of their own, made by bubblewrap, with what a build needs of this machine and no more.

In there is the system's software, read only; the build's own folder; scratch space that goes with it; and what the
caller names. There is no home, no other process, no network but where it is asked for, and nobody's credentials. The
user is called `slipway`, whoever started the build. When the program ends, everything that it left behind ends, too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import HostError, SlipwayError
from slipway.base.locks import hold_lock
from slipway.base.proc import capture
from slipway.base.scratch import scratch_folder
from slipway.base.user_folders import cache_folder
from slipway.channel.environments import install, solve
from slipway.engines.engine import Isolation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from slipway.base.log import Reporter

PROGRAM = "bwrap"
PACKAGE = "bubblewrap"
"""Of conda-forge and of the embedded channel."""

SOFTWARE = (
    *("/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/nsswitch.conf"),
    *("/etc/localtime", "/etc/mime.types", "/etc/protocols", "/etc/services", "/etc/ssl/certs", "/etc/ssl/openssl.cnf"),
    *("/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/sys/devices/system"),
)
"""What is seen of this machine's files, as far as it is there."""

RELEASES = ("*[-_]release", "*_version")
"""Below /etc: which system this is. CMake installs libraries with other modes on Debian than elsewhere."""

LINKED_TO_USR = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Links into /usr on most systems, folders of their own on others."""

NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts")

DEVICES = ("dri", "kfd", "nvidia*")
"""Below /dev, beside those that every program has: what computes."""

USER_NUMBER = "1000"
"""Not 0, whoever builds: tar and others give files away where they believe to be root."""


@dataclass(frozen=True)
class Sandbox:
    """The namespaces that the bubblewrap at `program` makes.

    Attributes:
        scratch: a folder that stands for those of temporary files, which are `temporary`.
        writable: further folders.
        readable: further folders and files.
        network: whether there is one.
    """

    program: Path
    scratch: Path
    temporary: tuple[Path, ...] = (Path("/tmp"),)
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    network: bool = False

    def outside(self, path: Path) -> Path:
        """The file of this machine that a file for temporary data is, which is seen in there as `path`."""
        folder = next(folder for folder in self.temporary if path.is_relative_to(folder))
        return self.scratch / "tmp" / path.relative_to(folder)

    def command(self, words: Sequence[str | Path]) -> list[str]:
        """What runs `words` in there."""
        command = [str(self.program), "--unshare-all", "--die-with-parent", "--cap-drop", "ALL"]
        command += ["--uid", USER_NUMBER, "--gid", USER_NUMBER]
        for name in (*SOFTWARE, *(str(found) for pattern in RELEASES for found in sorted(Path("/etc").glob(pattern)))):
            command += ["--ro-bind-try", name, name]
        for name in LINKED_TO_USR:
            is_link = Path(name).is_symlink()
            command += ["--symlink", str(Path(name).readlink()), name] if is_link else ["--ro-bind-try", name, name]
        command += ["--proc", "/proc", "--dev", "/dev"]
        for device in (found for pattern in DEVICES for found in Path("/dev").glob(pattern)):
            command += ["--dev-bind", str(device), str(device)]
        if self.network:
            command += ["--share-net"]
            for name in NETWORK_FILES:
                command += ["--ro-bind-try", str(Path(name).resolve()), name]
        for name, text in _FILES.items():
            (self.scratch / name).write_text(text, encoding="ascii")
            command += ["--ro-bind-try", str(self.scratch / name), f"/etc/{name}"]
        (self.scratch / "tmp").mkdir(exist_ok=True)
        for folder in self.temporary:
            command += ["--bind", str(self.scratch / "tmp"), str(folder)]
        mounts = {path.absolute(): "--ro-bind" for path in (*self.readable, *_interpreter())}
        mounts |= {path.absolute(): "--bind" for path in self.writable}
        for path, how in sorted(mounts.items(), key=lambda mount: len(mount[0].parts)):
            command += [how, str(path), str(path)]
        return [*command, "--", *map(str, words)]


_FILES = {
    "passwd": f"root:x:0:0:root:/:/bin/sh\nslipway:x:{USER_NUMBER}:{USER_NUMBER}:slipway:/tmp:/bin/sh\n",
    "group": f"root:x:0:\nslipway:x:{USER_NUMBER}:\n",
}


def _interpreter() -> Iterator[Path]:
    """This Python, and slipway's own files: the engine's worker runs in there."""
    found = (Path(sys.prefix), Path(sys.base_prefix), PACKAGE_ROOT, Path(sys.executable).resolve().parent)
    yield from (path for path in found if not path.is_relative_to("/usr"))


class Isolator:
    """Finds out, once, whether scripts can be isolated here, and makes their sandboxes."""

    def __init__(self) -> None:
        self._programs: dict[tuple[Isolation, tuple[str, ...]], Path | None] = {}

    @contextmanager
    def sandbox(
        self,
        isolation: Isolation,
        channels: tuple[str, ...],
        environ: Mapping[str, str],
        reporter: Reporter,
    ) -> Iterator[Sandbox | None]:
        """A sandbox while the block runs; None where scripts are not isolated, which is said the first time.

        Args:
            channels: where bubblewrap may come from if this machine has none.

        Raises:
            HostError: it is required, and cannot be had.
        """
        key = (isolation, channels)
        if key not in self._programs:
            self._programs[key] = _find_program(isolation, channels, environ, reporter)
        program = self._programs[key]
        if program is None:
            yield None
            return
        temporary = Path(environ.get("TMPDIR") or "/tmp")
        with scratch_folder("sandbox", below=temporary) as scratch:
            yield Sandbox(program, scratch.absolute(), tuple(dict.fromkeys((Path("/tmp"), temporary.absolute()))))


def _find_program(
    isolation: Isolation, channels: tuple[str, ...], environ: Mapping[str, str], reporter: Reporter
) -> Path | None:
    """A bubblewrap that works here: this machine's, or else that of the channels."""
    if isolation is Isolation.OFF:
        return None
    found = shutil.which(PROGRAM, path=environ.get("PATH"))
    program, problem = (Path(found), find_problem(Path(found))) if found is not None else (None, "")
    if program is None:
        try:
            program = install_tools([PACKAGE], channels, environ, reporter) / "bin" / PROGRAM
            problem = find_problem(program)
        except SlipwayError:
            problem = f"there is no `{PROGRAM}`, and no channel has `{PACKAGE}`"
    if not problem:
        return program
    hint = f"install {PACKAGE}, and allow user namespaces where this machine or its container forbids them"
    plainly = f"scripts are NOT isolated here ({problem}): they can read what you can, and use the network"
    if isolation is Isolation.REQUIRED:
        raise HostError(f"scripts cannot be isolated here: {problem}", where=str(program or PROGRAM), hint=hint)
    reporter.line(f"{plainly}; to change that, {hint}")
    return None


def find_problem(program: Path) -> str:
    """Why the bubblewrap at `program` makes no sandbox here; empty if it does."""
    with scratch_folder("sandbox") as scratch:
        answer = capture(Sandbox(program, scratch.resolve()).command(["true"]), env={"PATH": os.defpath},
                         what="a sandbox")  # fmt: skip
    return "" if answer.status == 0 else answer.tail.strip() or f"{program} ended with status {answer.status}"


def install_tools(
    specs: Sequence[str], channels: tuple[str, ...], environ: Mapping[str, str], reporter: Reporter
) -> Path:
    """An environment that is kept for slipway's own use, with what `channels` have of `specs`.

    Raises:
        SolveError, NetworkError: it cannot be had.
    """
    solution = solve(specs, channels)
    contents = "".join(package.sha256 for package in solution.packages)
    name = f"{specs[0]}-{hashlib.sha256(contents.encode()).hexdigest()[:16]}"
    folder = cache_folder(environ) / "tools"
    with hold_lock(folder / ".lock", patience=600):
        install(solution, folder / name, reporter)
    return folder / name
