"""A folder with the few programs of the host that a build may use: a shell and the tools of POSIX.

Everything else (compilers, CMake, Python, git) must come from the recipe's build requirements. With the host's PATH in
reach, a forgotten requirement would be served silently by whatever is installed there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from slipway.base.errors import HostError

REQUIRED_TOOLS = (
    "sh",
    "bash",
    "cat",
    "cp",
    "env",
    "find",
    "grep",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "rm",
    "sed",
    "sort",
    "tar",
)
"""What no build can do without."""

OPTIONAL_TOOLS = tuple(
    word
    for line in Path(__file__).with_name("host_tools.txt").read_text(encoding="ascii").splitlines()
    if not line.startswith("#")
    for word in line.split()
)
"""What a build may use where the host has it."""


def make_host_tools(folder: Path) -> Path:
    """Fill `folder` with links to the host's basic tools, drop links that do not belong, and return it.

    Raises:
        HostError: a tool that no build can do without is missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, str] = {}
    for tool in (*REQUIRED_TOOLS, *OPTIONAL_TOOLS):
        # A fixed search path: what slipway's own caller has on PATH must not matter.
        program = shutil.which(tool, path="/usr/bin:/bin:/usr/sbin:/sbin")
        if program is not None:
            wanted[tool] = program
        elif tool in REQUIRED_TOOLS:
            raise HostError(f"`{tool}` is not installed", hint="build scripts need the basic tools of a POSIX system")
    for entry in folder.iterdir():
        if entry.name not in wanted:
            entry.unlink()
    for tool, program in wanted.items():
        link = folder / tool
        if not link.is_symlink() or link.readlink() != Path(program):
            link.unlink(missing_ok=True)
            link.symlink_to(program)
    return folder
