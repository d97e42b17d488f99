"""Runs what was built for another platform: the kernel hands its programs to qemu, in namespaces of the caller's own.

A rule for binfmt_misc is made in a user namespace (Linux 6.7 and newer), so nobody's rights are needed and the machine
stays as it is. It holds for everything that is started in there, however deep: a shell of this machine's may start a
Python of the other one, and that another. Programs find their C library in the sysroot that comes with the emulator.
"""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import HostError
from slipway.base.files import write_file
from slipway.base.proc import capture
from slipway.engines.isolation import install_tools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.base.platform import Platform

_PATH = "/usr/bin:/bin"
_NAMESPACES = ("--user", "--map-root-user", "--mount", "--propagation", "private")
_REGISTER = f'PATH={_PATH} mount -t binfmt_misc binfmt_misc "$1" && printf %s "$2" > "$1/register"'


@dataclass(frozen=True)
class Emulation:
    """Emulation of one platform by the tools in `prefix`.

    Attributes:
        rule: how the kernel knows the platform's programs, and what it is to start for them.
    """

    prefix: Path
    rule: str

    def command(self, words: Sequence[str]) -> list[str]:
        """What runs `words` where the platform's programs can be started."""
        unshare = shutil.which("unshare", path=_PATH) or "unshare"
        return [
            unshare,
            *_NAMESPACES,
            "/bin/sh",
            "-euc",
            f'{_REGISTER}; shift 2; exec "$@"',
            "sh",
            *self._arguments,
            *words,
        ]

    @property
    def registering(self) -> str:
        """A line for a shell that is in namespaces of its own already: from there on, programs can be started."""
        return f"sh -euc {shlex.quote(_REGISTER)} sh {' '.join(map(shlex.quote, self._arguments))}"

    @property
    def _arguments(self) -> tuple[str, str]:
        return str(self.prefix / "binfmt"), self.rule


def find_emulation(
    target: Platform, channels: Sequence[str], environ: Mapping[str, str], reporter: Reporter
) -> Emulation:
    """The emulation of `target`, by an emulator and a sysroot of the channels.

    Raises:
        HostError: this system does not let users say what runs a program.
        SolveError: the channels have no emulator of it.
    """
    prefix = install_tools(target.emulation, tuple(channels), environ, reporter)
    (prefix / "binfmt").mkdir(exist_ok=True)
    starter = prefix / "bin" / f"run-{target.cpu}"
    sysroot = prefix / f"{target.cpu}-conda-linux-gnu" / "sysroot"
    qemu = f"{shlex.quote(str(prefix / 'bin' / str(target.emulator)))} -L {shlex.quote(str(sysroot))}"
    write_file(starter, f'#!/bin/sh\nprogram=$1 name=$2\nshift 2\nexec {qemu} -0 "$name" "$program" "$@"\n')
    starter.chmod(0o755)
    told = (prefix / "lib" / "binfmt.d" / f"{target.emulator}.conf").read_text(encoding="ascii").strip()
    name, magic, offset, pattern, mask = told.split(":")[1:6]
    emulation = Emulation(prefix, ":".join(("", name, magic, offset, pattern, mask, str(starter), "P")))
    trial = capture(emulation.command(["true"]), env={"PATH": os.defpath}, what="emulating another processor")
    if trial.status != 0:
        raise HostError(
            f"programs for {target} cannot be started here: {trial.tail.strip()}",
            hint="this needs Linux 6.7 or newer with binfmt_misc, and user namespaces",
        )
    return emulation
