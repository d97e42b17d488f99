"""The table of platforms, and that nothing beside it spells them."""

from __future__ import annotations

import ast
import platform
import re
from pathlib import Path

import pytest

import slipway
from slipway.base.errors import HostError, VariantError
from slipway.base.platform import LINUX_64, NOARCH, PLATFORMS, find_platform, this_platform


def test_names_of_linux_64() -> None:
    assert (LINUX_64.subdir, LINUX_64.system, LINUX_64.architecture, LINUX_64.cpu, LINUX_64.suffix) == (
        "linux-64",
        "linux",
        "x86_64",
        "x86_64",
        "64",
    )
    assert LINUX_64.gnu_triplet == "x86_64-linux-gnu"
    assert LINUX_64.subdirs == ("linux-64", "noarch")


@pytest.mark.parametrize(
    ("subdir", "architecture", "cpu", "debian"),
    [
        ("linux-32", "x86", "i686", "i386-linux-gnu"),
        ("linux-aarch64", "aarch64", "aarch64", "aarch64-linux-gnu"),
        ("linux-armv7l", "armv7l", "armv7l", "arm-linux-gnueabihf"),
        ("linux-ppc64le", "ppc64le", "ppc64le", "powerpc64le-linux-gnu"),
    ],
)
def test_who_calls_it_what(subdir: str, architecture: str, cpu: str, debian: str) -> None:
    found = find_platform(subdir)
    assert (found.architecture, found.cpu, found.gnu_triplet) == (architecture, cpu, debian)
    assert (found.system, found.library_suffix) == ("linux", ".so")


def test_each_row_is_found_by_its_subdir() -> None:
    assert all(find_platform(subdir).subdir == subdir for subdir in PLATFORMS)
    assert NOARCH in PLATFORMS
    assert [known.subdir for known in PLATFORMS.values() if known.is_windows] == ["win-64", "win-32", "win-arm64"]
    assert find_platform("osx-arm64").library_suffix == ".dylib"


def test_unknown_platform_names_the_known_ones() -> None:
    with pytest.raises(VariantError, match="there is no platform `linux-65`") as caught:
        find_platform("linux-65")
    assert "linux-64, linux-32" in str(caught.value.hint)


def test_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert this_platform() is LINUX_64
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(HostError, match="slipway builds on Linux x86_64; this is Linux aarch64"):
        this_platform()


SPELLED = re.compile("x86_64|(linux|osx|win)-(32|64|arm64|aarch64)")
SPELLS_PLATFORMS = {
    "base/platform.py": "the table itself",
    "release/wheels.py": "the words of Python's wheels and modules",
    "commands/_meta_tree.py": "what recipe.yaml calls a processor, for a selector such as linux64",
    "checkout/solver_truth.py": "a virtual package of the processor's level, which only this one has",
}
"""Files that spell a platform outside of comments and docstrings, and why."""


def spelled_in(path: Path) -> list[str]:
    """The literals of a module that name a platform."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    prose = {id(node.value) for node in statements}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and SPELLED.search(node.value)
    ]


def test_platforms_are_spelled_in_one_place() -> None:
    sources = Path(slipway.__file__).parent
    found = {path.relative_to(sources).as_posix() for path in sources.rglob("*.py") if spelled_in(path)}
    assert found == set(SPELLS_PLATFORMS)
