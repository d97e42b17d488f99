"""The CPython that a package is a snapshot of: the running one, or another version found on PATH."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.bootstrap.sources import SourceEntry, folder_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base.proc import Processes

_PROBE = """
import json, sys, sysconfig
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "full_version": "%d.%d.%d" % sys.version_info[:3],
    "implementation": sys.implementation.name,
    "prefix": sys.base_prefix,
    "library": sysconfig.get_config_var("LDLIBRARY") or "",
    "shared": bool(sysconfig.get_config_var("Py_ENABLE_SHARED")),
    "scheme": sysconfig.get_path("purelib", vars={"base": "", "platbase": ""}),
}))
"""
_HINT = (
    "run slipway with a CPython built with a shared library (such as pyenv with "
    "PYTHON_CONFIGURE_OPTS=--enable-shared, or the official container image), or use `--channel conda-forge`"
)


@dataclass(frozen=True)
class Interpreter:
    """A CPython installation that can be packaged: `version` is X.Y, `full_version` X.Y.Z, `prefix` its folder.

    `debian` says that it is Debian's own: its package is then made from Debian's packages, since the installed files
    are spread over the system.
    """

    version: str
    full_version: str
    prefix: Path
    program: Path
    debian: bool = False

    @property
    def fingerprint(self) -> str:
        """Changes when the installation does: cheap, so that it can be taken on every run."""
        if self.debian:
            return hashlib.sha256(f"debian {self.full_version}".encode()).hexdigest()
        library = self.prefix / "lib" / f"libpython{self.version}.so.1.0"
        status = library.stat()
        facts = [self.full_version, str(self.prefix), status.st_size, status.st_mtime_ns]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def entries(self) -> Iterator[SourceEntry]:
        """Its own files, without compiled ones, what users installed, and what else lives below the same prefix."""
        library, headers = f"lib/python{self.version}", f"include/python{self.version}"
        above = {"bin", "include", "lib", "lib/pkgconfig", library, headers}

        def foreign(path: str) -> bool:
            if path == f"{library}/site-packages" or path.endswith("__pycache__"):
                return True
            return path not in above and not path.startswith((f"{library}/", f"{headers}/"))

        return folder_entries(self.prefix, foreign)

    def relocate(self, path: str, content: bytes, placeholder: str) -> bytes:
        """Take this machine's prefix out of a file: the placeholder goes into text, a path to nowhere into binaries.

        CPython finds its prefix from its own place; what is compiled in is a last resort. Lengths stay in binaries,
        and so does the last part of the path: linkers let other strings share the end of a longer one, and
        ``versions/3.11.7`` may well be where ``sys.version`` has its number from.
        """
        old = str(self.prefix).encode()
        # The prefix must end there: `/usr/local` in `/usr/local/lib`, but not in `/usr/locale`.
        pattern = re.compile(re.escape(old) + rb"(?=[/\"':;\s\0]|$)")
        if b"\0" not in content:
            return pattern.sub(placeholder.encode(), content)
        parent = str(self.prefix.parent).encode()
        nowhere = b"/" + b"_" * (len(parent) - 1) + old[len(parent) :]
        return pattern.sub(nowhere, content)


def find_interpreter(version: str, processes: Processes, *, debian_python: str) -> Interpreter:
    """The running CPython when its version is `version` (X.Y), or ``pythonX.Y`` on PATH.

    Args:
        debian_python: the version X.Y that the channel can make from Debian's packages.

    Raises:
        HostError: there is none, or it cannot be packaged.
    """
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    program = sys.executable if running == version else shutil.which(f"python{version}")
    if program is None:
        raise errors.HostError(f"there is no Python {version} on this machine", hint=_HINT)
    outcome = processes.run([program, "-I", "-c", _PROBE], cwd=Path("/"), what="asking Python")
    if outcome.status != 0:
        raise errors.HostError(f"Python {version} does not start", where=program, hint=_HINT, detail=outcome.tail)
    facts = json.loads(outcome.text)
    prefix = Path(facts["prefix"])
    if facts["version"] != version or facts["implementation"] != "cpython":
        raise errors.HostError(f"this is no CPython {version}", where=program, hint=_HINT)
    if prefix == Path("/usr") or "dist-packages" in facts["scheme"]:
        if version == debian_python:
            return Interpreter(version, facts["full_version"], prefix, Path(program), debian=True)
        raise errors.HostError(
            f"this is the system's own Python {version}, and only {debian_python} can be made from Debian's packages",
            where=program,
            hint=_HINT,
        )
    if not facts["shared"] or not (prefix / "lib" / f"libpython{version}.so.1.0").exists():
        raise errors.HostError(f"this Python {version} has no shared library", where=program, hint=_HINT)
    return Interpreter(version, facts["full_version"], prefix, prefix / "bin" / f"python{version}")
