"""Say what this machine lacks, and how to get it.

Exit code 0 when everything that `slipway ship` needs is here, 11 otherwise.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import HostError
from slipway.base.paths import Workspace
from slipway.base.platform import this_platform
from slipway.base.text import format_table, human_size
from slipway.base.user_folders import cache_folder
from slipway.channel.environments import virtual_packages
from slipway.engines.build_folder import build_root

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from slipway.base.log import Reporter

ENOUGH_BUILD_BYTES = 2_000_000_000
"""Room for one build's environments and tree."""

ENOUGH_TEMPORARY_BYTES = 200_000_000
"""Room for what compilers and unpacked packages leave for a moment."""

ENOUGH_DISK_BYTES = 8_000_000_000
"""Room for the embedded channel, its cache, build trees and an environment (measured: about 4 GB without CUDA)."""


@dataclass(frozen=True)
class Check:
    """One thing looked at: `state` is ok, missing, or optional (missing, but only some work needs it)."""

    name: str
    state: str
    found: str
    advice: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", action="store_true", help="the checks: a list of objects")
    parser.add_argument("--dist", metavar="DIR", help="folder that will be written to (default: dist/)")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Look; returns the exit code."""
    checks = list(examine(Workspace.of_checkout(arguments.dist)))
    if arguments.json:
        print(json.dumps([asdict(check) for check in checks], indent=1))
    rows = [(check.state, check.name, check.found) for check in checks]
    reporter.line(format_table(("state", "what", "found"), rows))
    for check in checks:
        if check.state != "ok" and check.advice:
            reporter.line(f"{check.name}: {check.advice}")
    missing = [check for check in checks if check.state == "missing"]
    if not missing:
        reporter.line("everything that `slipway ship` needs is here")
    return HostError.exit_code if missing else 0


def examine(workspace: Workspace) -> Iterator[Check]:
    """Every check, the ones that matter most first."""
    yield _platform()
    yield Check("Python", "ok", platform.python_version())
    yield _debian()
    yield from _programs()
    for name, folder in (("disk for dist", workspace.dist), ("disk for the cache", cache_folder())):
        yield _disk(name, folder, ENOUGH_DISK_BYTES)
    yield _disk("disk for builds", build_root(os.environ), ENOUGH_BUILD_BYTES)
    yield _disk("temporary files", Path(os.environ.get("TMPDIR") or "/tmp"), ENOUGH_TEMPORARY_BYTES)
    yield _memory()
    yield from _virtual_packages()


def _platform() -> Check:
    system = f"{platform.system()} {platform.machine()}"
    try:
        this_platform()
    except HostError as error:
        return Check("platform", "missing", system, f"{error.message}: {error.hint}")
    return Check("platform", "ok", system)


def _debian() -> Check:
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        facts = {}
    name = facts.get("PRETTY_NAME", "unknown")
    good = facts.get("ID") == "debian" and facts.get("VERSION_CODENAME") == "bookworm"
    return Check(
        "system",
        "ok" if good else "optional",
        name,
        "the embedded channel is made from Debian 12's packages; here use `--channel conda-forge`",
    )


def _programs() -> Iterator[Check]:
    wanted = (
        ("bash", "missing", "apt-get install bash"),
        (
            "apt-get",
            "optional",
            "the embedded channel fetches Debian's packages with it; or use `--channel conda-forge`",
        ),
        ("dpkg-deb", "optional", "unpacks Debian's packages: apt-get install dpkg; or use `--channel conda-forge`"),
        (
            "git",
            "optional",
            "without git, the .gitignore files decide what is source, and `git_url` cannot be fetched: "
            "apt-get install git",
        ),
        ("strace", "optional", "one test traces the compiler with it: apt-get install strace"),
        ("conda", "optional", "only `--engine conda-build` needs it"),
        ("nvidia-smi", "optional", "no NVIDIA driver: CUDA packages build and install, but cannot run here"),
    )
    for name, otherwise, advice in wanted:
        path = shutil.which(name)
        yield Check(name, "ok" if path else otherwise, path or "not found", advice)


def _disk(name: str, folder: Path, enough: int) -> Check:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    writable = os.access(existing, os.W_OK)
    good = free >= enough and writable
    found = f"{human_size(free)} free at {existing}" + ("" if writable else ", not writable")
    return Check(name, "ok" if good else "missing", found, f"about {human_size(enough)} are needed")


def _memory() -> Check:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    enough = total >= 4_000_000_000
    advice = "the C++ compiler wants about 2 GB per process; use `--jobs 1`"
    return Check("memory", "ok" if enough else "optional", human_size(total), advice)


def _virtual_packages() -> Iterator[Check]:
    for package in virtual_packages():
        if package.name.normalized in ("__glibc", "__cuda"):
            yield Check(package.name.normalized, "ok", str(package.version))
    yield Check("slipway's Python", "ok", sys.executable)
