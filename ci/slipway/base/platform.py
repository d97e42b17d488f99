"""The platforms that packages are made for: what conda, GNU, the kernel and selectors call each of them."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slipway.base.errors import HostError, VariantError

if TYPE_CHECKING:
    from collections.abc import Mapping

NOARCH: Final = "noarch"
"""The subdir of packages that are for every platform."""


@dataclass(frozen=True)
class Platform:
    """One kind of machine.

    Attributes:
        subdir: conda's name, such as ``linux-64``.
        system: its operating system, as selectors name it: ``linux``, ``osx``, ``win``, ...
        architecture: its processor, as selectors name it: ``x86_64``, ``x86``, ``aarch64``, ``arm64``, ...
        cpu: its processor, as the kernel and compilers name it: ``x86_64``, ``i686``, ``aarch64``, ...
        gnu_triplet: how Debian names its library folders, such as ``x86_64-linux-gnu``; None where there is no glibc.
        library_suffix: of shared libraries: ``.so``, ``.dylib``, ``.dll``.
        loader: where programs look for the dynamic loader; None where it is not named in them.
        emulator: the program that runs this platform's programs on another processor; None where there is none.
        debian: what Debian calls its processor, such as ``amd64``; None where Debian has no packages for it.
        built_on: the subdir of the machines that compile for it; None for its own.
    """

    subdir: str
    system: str
    architecture: str
    cpu: str
    gnu_triplet: str | None = None
    library_suffix: str = ".so"
    loader: str | None = None
    emulator: str | None = None
    debian: str | None = None
    built_on: str | None = None

    def __str__(self) -> str:
        return self.subdir

    @property
    def suffix(self) -> str:
        """What stands behind the system in the subdir, and in conda-build's ARCH: ``64``, ``aarch64``, ..."""
        return self.subdir.partition("-")[2]

    @property
    def subdirs(self) -> tuple[str, str]:
        """Where a channel keeps what can be installed on it."""
        return (self.subdir, NOARCH)

    @property
    def is_cross(self) -> bool:
        """Whether another platform's machines compile for it."""
        return self.built_on is not None and self.built_on != self.subdir

    @property
    def emulation(self) -> tuple[str, str]:
        """Packages that run its programs elsewhere: an emulator, and the C library that programs find."""
        return f"qemu-user-{self.cpu}", f"sysroot_{self.subdir}"

    @property
    def is_x86(self) -> bool:
        """Whether its processor is Intel's, of 32 or of 64 bits."""
        return self.architecture in ("x86", "x86_64")

    @property
    def is_windows(self) -> bool:
        """Whether its scripts are batch files."""
        return self.system == "win"


def _linux(
    suffix: str,
    cpu: str,
    loader: str,
    emulator: str,
    *,
    selector: str | None = None,
    gnu: str | None = None,
    debian: str | None = None,
) -> Platform:
    return Platform(
        subdir=f"linux-{suffix}",
        system="linux",
        architecture=selector or cpu,
        cpu=cpu,
        gnu_triplet=gnu or f"{cpu}-linux-gnu",
        loader=loader,
        emulator=emulator,
        debian=debian,
    )


LINUX_64: Final = _linux("64", "x86_64", "/lib64/ld-linux-x86-64.so.2", "qemu-x86_64", debian="amd64")

PLATFORMS: Final[Mapping[str, Platform]] = {
    known.subdir: known
    for known in (
        LINUX_64,
        _linux("32", "i686", "/lib/ld-linux.so.2", "qemu-i386", selector="x86", gnu="i386-linux-gnu"),
        _linux("aarch64", "aarch64", "/lib/ld-linux-aarch64.so.1", "qemu-aarch64", debian="arm64"),
        _linux("armv6l", "armv6l", "/lib/ld-linux-armhf.so.3", "qemu-arm", gnu="arm-linux-gnueabihf"),
        _linux("armv7l", "armv7l", "/lib/ld-linux-armhf.so.3", "qemu-arm", gnu="arm-linux-gnueabihf"),
        _linux("ppc64le", "ppc64le", "/lib64/ld64.so.2", "qemu-ppc64le", gnu="powerpc64le-linux-gnu"),
        _linux("ppc64", "ppc64", "/lib64/ld64.so.1", "qemu-ppc64", gnu="powerpc64-linux-gnu"),
        _linux("s390x", "s390x", "/lib/ld64.so.1", "qemu-s390x"),
        _linux("riscv32", "riscv32", "/lib/ld-linux-riscv32-ilp32d.so.1", "qemu-riscv32"),
        _linux("riscv64", "riscv64", "/lib/ld-linux-riscv64-lp64d.so.1", "qemu-riscv64"),
        Platform("osx-64", "osx", "x86_64", "x86_64", library_suffix=".dylib"),
        Platform("osx-arm64", "osx", "arm64", "arm64", library_suffix=".dylib"),
        Platform("win-64", "win", "x86_64", "x86_64", library_suffix=".dll"),
        Platform("win-32", "win", "x86", "i686", library_suffix=".dll"),
        Platform("win-arm64", "win", "arm64", "arm64", library_suffix=".dll"),
        Platform("freebsd-64", "freebsd", "x86_64", "x86_64"),
        Platform("emscripten-wasm32", "emscripten", "wasm32", "wasm32"),
        Platform("wasi-wasm32", "wasi", "wasm32", "wasm32"),
        Platform("zos-z", "zos", "z", "z"),
        Platform(NOARCH, NOARCH, "", ""),
    )
}  # fmt: skip
"""By subdir. `noarch` is among them, since a configuration may name it as `target_platform`."""

BUILT_ON: Final = (LINUX_64,)
"""The platforms on which slipway itself builds; on others conda-build does."""


def find_platform(subdir: str) -> Platform:
    """The platform of that subdir.

    Raises:
        VariantError: there is none.
    """
    found = PLATFORMS.get(subdir)
    if found is None:
        raise VariantError(f"there is no platform `{subdir}`", hint=f"there is {', '.join(PLATFORMS)}")
    return found


def usable_cpus() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def this_platform() -> Platform:
    """The platform of this machine, where slipway builds on it.

    Raises:
        HostError: it does not.
    """
    system, cpu = platform.system(), platform.machine()
    for known in BUILT_ON:
        if (known.system, known.cpu) == (system.lower(), cpu):
            return known
    raise HostError(
        f"slipway builds on {', '.join(f'{known.system.capitalize()} {known.cpu}' for known in BUILT_ON)}; "
        f"this is {system} {cpu}",
        hint="on other platforms use `conda build recipe`",
    )
