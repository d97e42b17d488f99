"""The renderer is pure: texts in, outputs out. One module reads files, one starts the process that it runs in, and
one makes a folder for rattler-build."""

from __future__ import annotations

import ast
from pathlib import Path

import slipway.recipe

ROOM = Path(slipway.recipe.__file__).parent
OUTSIDE = frozenset({"argparse", "os", "signal", "subprocess", "sys", "tempfile", "threading", "urllib"})
"""What shows the process, the machine or the network."""

READS_FILES = frozenset({"loader"})
FILE_METHODS = frozenset({"open", "read_text", "read_bytes", "write_text", "exists", "is_file", "is_dir", "stat"})

IN_A_PROCESS = frozenset({"limits"})
"""What starts the process that the rest runs in, and limits it."""

FOLDER_OF_ANOTHER = {"v1": {"tempfile"}}
"""rattler-build writes what it is asked into a folder, one that it leaves behind unless it is given one."""


def outside_of(path: Path) -> set[str]:
    """What a module of the room uses of the world."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names} & OUTSIDE
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module.partition(".")[0]} & OUTSIDE
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            found |= {name} & FILE_METHODS if path.stem not in READS_FILES else set()
    return found


def test_nothing_of_the_outside_is_used() -> None:
    found = {path.stem: used for path in ROOM.glob("*.py") if (used := outside_of(path))}
    assert {stem: used for stem, used in found.items() if stem not in IN_A_PROCESS} == FOLDER_OF_ANOTHER
    assert set(found) >= IN_A_PROCESS


def test_what_is_outside_is_seen(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("import os.path\nfrom signal import alarm\nopen('x')\npath.read_text()\n", encoding="utf-8")
    assert outside_of(module) == {"os", "signal", "open", "read_text"}
