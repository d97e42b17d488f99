"""The clean room: a root file system that holds an environment, a shell, the basic tools, and nothing else.

What is tested in it can only use what its packages bring. The host's compilers, Pythons, headers and libraries are not
hidden by a PATH but absent: the room is a folder of its own that a process is locked into (user and mount namespaces of
Linux, made with `unshare`, no rights needed where the system allows them). From the host come

- the programs of a POSIX system, copied, as builds may use them (`slipway.engines.host_tools`),
- the libraries of glibc and those that these programs need, copied: never libstdc++, libgcc_s or an OpenMP runtime,
- /proc and a few devices.

The environment is seen at the path that it was installed to. There is no network but the room's own ports, unless it is
asked for, and what a test leaves running ends with it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from slipway.base import proc
from slipway.base.errors import BuildError, HostError
from slipway.channel.archive import read_contents
from slipway.engines.host_tools import make_host_tools
from slipway.verify.elf import BrokenElfError, read_elf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from slipway.base.platform import Platform
    from slipway.engines.emulation import Emulation

GLIBC = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libanl.so.1", "libmvec.so.1",
                "libm.so.6", "libc.so.6", "libresolv.so.2", "libnss_files.so.2", "libnss_dns.so.2")  # fmt: skip
"""What ``__glibc`` promises to every package, whether the basic tools use it or not."""

FOREIGN = re.compile(r"lib(stdc\+\+|gcc_s|gomp|iomp5|omp|python|cuda|mkl|openblas|blas|lapack).*")
"""What must never come from the host."""

DEVICES = ("null", "zero", "full", "random", "urandom")

LOOPBACK = """
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
"""
"""A program that lets the processes of a new network namespace reach each other at 127.0.0.1."""

GUEST = {"LC_ALL": "C", "HOME": "/home/guest", "TMPDIR": "/tmp", "USER": "guest", "TERM": "dumb"}


@dataclass(frozen=True)
class PackageTest:
    """One test that a package carries: shell lines, run in a folder below the prefix.

    Attributes:
        tools: what a test of another platform's package runs on this one.
    """

    package: str
    commands: tuple[str, ...]
    folder: str
    requires: tuple[str, ...]
    tools: tuple[str, ...] = ()


def library_folders(platform: Platform) -> tuple[Path, ...]:
    """Where a host keeps the libraries of its basic tools (Debian's way, and Fedora's)."""
    triplet = platform.gnu_triplet
    return tuple(map(Path, (f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib64", "/usr/lib64")))


def hidden_paths(platform: Platform) -> tuple[str, ...]:
    """What of the host must not be seen in the room."""
    first, second = (str(folder) for folder in library_folders(platform)[:2])
    return (
        *("/usr/include", "/usr/lib/gcc", "/usr/local", "/opt/conda", "/usr/lib/python3", "/usr/local/cuda"),
        *(f"{second}/libstdc++.so.6", f"{first}/libgcc_s.so.1", f"{second}/libgomp.so.1"),
    )


def carried_tests(package: Path, name: str) -> list[PackageTest]:
    """The tests that a package brings along (``info/tests/tests.yaml``, as rattler-build writes it).

    Raises:
        BuildError: they are written in a way that is not known here; nothing is left out silently.
    """
    text = read_contents(package).get("info/tests/tests.yaml", b"")
    found = []
    for entry in yaml.safe_load(text) or []:
        script, python = entry.get("script"), entry.get("python")
        if isinstance(script, dict):
            content = script.get("content") or []
            commands = [content] if isinstance(content, str) else list(content)
            folder = str(script.get("cwd", ""))
        elif isinstance(script, list):
            commands, folder = list(script), ""
        elif isinstance(python, dict):
            commands = [f"python -c {shlex.quote(f'import {module}')}" for module in python.get("imports") or ()]
            folder = ""
        else:
            raise BuildError(f"a test of an unknown kind: {', '.join(map(str, entry))}", where=str(package))
        sections = entry.get("requirements") or {}
        requires, tools = (tuple(map(str, sections.get(key) or ())) for key in ("run", "build"))
        found.append(PackageTest(name, tuple(map(str, commands)), folder, requires, tools))
    return found


class CleanRoom:
    """A root file system below `folder`, into which host folders can be let: at their own path, for writing."""

    def __init__(self, folder: Path, shared: Iterable[Path], platform: Platform) -> None:
        assert platform.loader is not None, f"{platform} has no glibc"
        self.loader = Path(platform.loader)
        self.library_folders = library_folders(platform)
        self.root = folder / "root"
        self.shared = tuple(path.resolve() for path in shared)
        shutil.rmtree(self.root, ignore_errors=True)
        for name in ("bin", "usr/bin", str(self.loader.parent).lstrip("/"), "proc", "dev", "tmp", "etc", "home/guest"):
            (self.root / name).mkdir(parents=True)
        (self.root / "etc/passwd").write_text("guest:x:0:0::/home/guest:/bin/sh\n", encoding="ascii")
        for device in DEVICES:
            (self.root / "dev" / device).touch()
        for path in self.shared:
            (self.root / path.relative_to("/")).mkdir(parents=True, exist_ok=True)
        self._copy_tools(folder / "tools")

    def _copy_tools(self, links: Path) -> None:
        needed: set[str] = {*GLIBC}
        for link in sorted(make_host_tools(links).iterdir()):
            program = link.resolve()
            target = self.root / "usr/bin" / link.name
            shutil.copy2(program, target)
            needed |= _read_needed_libraries(program)
        for name in ("sh", "bash", "env"):  # scripts name them by these paths
            shutil.copy2(self.root / "usr/bin" / name, self.root / "bin" / name)
        copied: set[str] = set()
        while needed - copied:
            name = min(needed - copied)
            copied.add(name)
            source = next((folder / name for folder in self.library_folders if (folder / name).exists()), None)
            if source is None or name == self.loader.name:
                continue  # older glibc files that newer ones took over; what a tool lacks it will say itself
            if FOREIGN.fullmatch(name):
                continue  # a tool that needs it does without it, or is not there
            target = self.root / str(source.parent).lstrip("/") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source.resolve(), target)
            needed |= _read_needed_libraries(source.resolve())
        shutil.copy2(self.loader.resolve(), self.root / str(self.loader).lstrip("/"))

    def run(
        self,
        script: str,
        *,
        cwd: Path,
        env: Mapping[str, str],
        what: str,
        log: Path,
        network: bool = False,
        on_line: Callable[[str], None] | None = None,
        emulation: Emulation | None = None,
    ) -> proc.Completed:
        """Run a bash script in the room, with exactly `env`; what it returns is the caller's to judge.

        Args:
            network: whether there is one.
            emulation: of the platform whose programs are started in there; its tools are in a shared folder.

        Raises:
            HostError: this system does not let users make namespaces.
        """
        mounts = [f"mount --rbind {shlex.quote(str(path))} {_inside(self.root, path)}" for path in self.shared]
        mounts += [f"mount --bind /dev/{name} {_inside(self.root, Path('/dev') / name)}" for name in DEVICES]
        variables = " ".join(shlex.quote(f"{name}={value}") for name, value in env.items())
        inner = f"cd {shlex.quote(str(cwd))} && set -eo pipefail && {{\n{script}\n}}"
        chroot = shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin:/bin") or "chroot"
        outer = "\n".join(
            [
                "set -e",
                *([] if network else [shlex.join([sys.executable, "-I", "-c", LOOPBACK])]),
                *mounts,
                *([emulation.registering] if emulation is not None else []),
                f"mount -t proc proc {_inside(self.root, Path('/proc'))}",
                f"exec {chroot} {shlex.quote(str(self.root))} /usr/bin/env -i {variables} "
                f"/bin/bash -c {shlex.quote(inner)}",
            ]
        )
        command = [*_unshare(network=network), "bash", "-c", outer]
        return proc.run(
            command, env={"PATH": os.defpath}, what=what, log=log, on_line=on_line, error=BuildError, check=False
        )


def _inside(root: Path, path: Path) -> str:
    return shlex.quote(str(root / path.relative_to("/")))


def _unshare(*, network: bool) -> list[str]:
    """The command that makes the namespaces, after a trial.

    Raises:
        HostError: there is none, or the system refuses.
    """
    program = shutil.which("unshare", path="/usr/bin:/bin")
    if program is None:
        raise HostError("`unshare` is not installed", hint="it comes with util-linux; a clean room needs it")
    refused: list[str] = []
    for own_user in (["--user", "--map-root-user"], *([[]] if os.geteuid() == 0 else [])):
        command = [program, *own_user, "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
        command += [] if network else ["--net", "--ipc"]
        trial = proc.run([*command, "true"], env={"PATH": os.defpath}, what="making namespaces", check=False)
        if trial.returncode == 0:
            return command
        refused += trial.tail
    raise HostError(
        f"this system lets nobody make namespaces: {'; '.join(refused)}",
        hint="a clean room needs user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone), "
        "or root's rights",
    )


def _read_needed_libraries(path: Path) -> set[str]:
    content = path.read_bytes()
    if not content.startswith(b"\x7fELF"):
        return set()
    try:
        return set(read_elf(content).needed)
    except BrokenElfError as error:
        raise HostError(f"a program of this system cannot be read: {error}", where=str(path)) from error


def environment_of(prefix: Path, tools: Path | None = None) -> dict[str, str]:
    """The variables of an activated environment, before its scripts in etc/conda/activate.d ran.

    Args:
        tools: an environment beside it, whose programs are for this machine.
    """
    folders = [prefix / "bin", *([tools / "bin"] if tools is not None else [])]
    return {
        **GUEST,
        "PATH": f"{':'.join(map(str, folders))}:/usr/bin:/bin",
        "CONDA_PREFIX": str(prefix),
        "PREFIX": str(prefix),
        "CONDA_BUILD": "1",
        **({"BUILD_PREFIX": str(tools)} if tools is not None else {}),
    }


ACTIVATE = (
    'for file in ${BUILD_PREFIX:+"$BUILD_PREFIX"/etc/conda/activate.d/*.sh} "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; '
    'do if [ -e "$file" ]; then . "$file"; fi; done\n'
)

HIDDEN_PROGRAMS = ("gcc", "g++", "cc", "c++", "cpp", "clang", "ld", "as", "python", "python3", "cmake", "ninja", "make",
                   "nvcc", "pip", "conda", "git")  # fmt: skip


def proof_script(prefix: Path, platform: Platform, *others: Path) -> str:
    """A script that fails when one of the host's programs, folders or libraries can be seen, and says which.

    What lies in the folders `prefix` and `others` is not the host's.
    """
    ours = " ".join(f"-path {shlex.quote(str(path))} -prune -o" for path in (prefix, *others))
    programs, paths = " ".join(HIDDEN_PROGRAMS), " ".join(map(shlex.quote, hidden_paths(platform)))
    return f"""
for name in {programs}; do
  if found=$(PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin command -v "$name"); then
    echo "the host's $found can be seen"; exit 1
  fi
done
for path in {paths}; do
  if [ -e "$path" ]; then echo "the host's $path can be seen"; exit 1; fi
done
for file in $(find / -xdev -path /proc -prune -o {ours} -name '*.so*' -print); do
  case ${{file##*/}} in
    libstdc++*|libgcc_s*|libgomp*|libpython*|libcuda*|libmkl*|libopenblas*|libtorch*)
      echo "the host's $file can be seen"; exit 1 ;;
  esac
done
echo the host has no program, header or library in here
"""
