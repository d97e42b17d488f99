"""The order of the house: the table of floors in slipway's docstring, held against what every file imports."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import slipway
from slipway.base.proc import own_python

HOUSE = Path(slipway.__file__).parent

HEAVY = {"asyncio.base_events", "email", "elftools", "grandalf", "http.server", "jinja2", "pathspec", "rattler", "rich"}
"""What no command needs to say what its options are."""


@dataclass(frozen=True)
class Import:
    """That the file of module `importer` imports module `imported`; `late`: inside a function."""

    importer: str
    imported: str
    late: bool


def module_paths() -> dict[str, Path]:
    """Every module of slipway, and its file."""
    names = {}
    for path in HOUSE.rglob("*.py"):
        parts = ("slipway", *path.relative_to(HOUSE).with_suffix("").parts)
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def find_imports(name: str, source: str, modules: set[str]) -> Iterator[Import]:
    """What the file says that it imports, for type checkers only or in earnest."""

    def visit(node: ast.AST, late: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, alias.name, late)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: a relative import"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(name, inner if inner in modules else node.module, late)
        for child in ast.iter_child_nodes(node):
            yield from visit(child, late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    yield from visit(ast.parse(source), False)


def read_floors() -> dict[str, tuple[int, int]]:
    """Floor of each room, and its place where `<` orders those of one floor (0 where none does)."""
    floors = {}
    for number, rooms in re.findall(r"^    (\d+)  (\S+(?:[,<]? \S+)*?)  +\S", slipway.__doc__ or "", re.MULTILINE):
        for group in rooms.split(", "):
            ordered = group.split(" < ")
            floors |= {room: (int(number), place if len(ordered) > 1 else 0) for place, room in enumerate(ordered)}
    return floors


def room_of(module: str) -> str:
    """``slipway.verify.rules.cuda`` lies in ``verify``; slipway itself in no room."""
    return module.split(".")[1] if "." in module else ""


def breaks_order(found: Import, floors: dict[str, tuple[int, int]]) -> bool:
    """Whether an import goes up, or to a room beside its own."""
    here, there = room_of(found.importer), room_of(found.imported)
    if here == there or not there:
        return False
    return not here or floors[there] >= floors[here]


def all_imports() -> list[Import]:
    modules = module_paths()
    return [
        found
        for name, path in modules.items()
        for found in find_imports(name, path.read_text(encoding="utf-8"), set(modules))
    ]


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(name) for name in module_paths()} - {""}
    assert set(read_floors()) == rooms


def find_circles(imports: list[Import], modules: set[str]) -> dict[str, set[str]]:
    """Modules that import themselves in the end, each with all that lie in its circle."""
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for found in imports:
        if found.imported in modules and found.imported != found.importer:
            graph[found.importer].add(found.imported)
    reached = {}
    for name in modules:
        waiting, seen = list(graph[name]), set[str]()
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += graph[one]
        reached[name] = seen
    return {name: {other for other in seen if name in reached[other]} for name, seen in reached.items() if name in seen}


def test_imports_go_down_and_stand_on_top() -> None:
    floors = read_floors()
    imports = all_imports()
    problems = {f"{name} lies in a circle" for name in find_circles(imports, set(module_paths()))}
    for found in imports:
        ours = found.imported.split(".")[0] == "slipway"
        if ours and breaks_order(found, floors):
            problems.add(f"{found.importer} imports {found.imported}, which does not lie below it")
        if found.late:
            problems.add(f"{found.importer} imports inside a function")
    assert not problems, "against the table in ci/slipway/__init__.py:\n" + "\n".join(sorted(problems))


def test_contributors_read_the_same_table() -> None:
    rows = re.findall(r"^    \d+  .*$", slipway.__doc__ or "", re.MULTILINE)
    told = (HOUSE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [row for row in rows if row.strip() not in told] == []


def test_what_would_break_the_order_is_found() -> None:
    text = """
from slipway.base import errors, unknown
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from slipway.cli import main
def work():
    import slipway.model
    class Inner:
        import rich.text
"""
    found = list(find_imports("slipway.console", text, {"slipway.base", "slipway.base.errors"}))
    assert [(one.imported, one.late) for one in found] == [
        ("slipway.base.errors", False),
        ("slipway.base", False),
        ("typing", False),
        ("slipway.cli", False),
        ("slipway.model", True),
        ("rich.text", True),
    ]
    floors = {"base": (1, 0), "model": (2, 0), "recipe": (3, 0), "channel": (3, 0), "console": (9, 0), "cli": (9, 1)}
    assert [breaks_order(one, floors) for one in found if "slipway" in one.imported] == [False, False, True, False]
    assert breaks_order(Import("slipway.recipe.x", "slipway.channel.y", False), floors)
    assert not breaks_order(Import("slipway.cli", "slipway.console", False), floors)
    assert [one.imported for one in found if one.late] == ["slipway.model", "rich.text"]


def test_what_comes_late_is_there() -> None:
    ours = {name for name in slipway.LATE if name.startswith("slipway.")}
    assert ours <= set(module_paths())


@pytest.mark.parametrize("command", ["plan", "ship"])
def test_heavy_libraries_are_not_read_to_explain_a_command(command: str) -> None:
    program = (
        "import contextlib, sys; from slipway import cli\n"
        f"with contextlib.suppress(SystemExit), contextlib.redirect_stdout(None): cli.main(['{command}', '--help'])\n"
        "print(*(name for name, module in sys.modules.items() if type(module).__name__ == 'module'))\n"
    )
    environ = {"PYTHONPATH": str(HOUSE.parent)}
    completed = subprocess.run([*own_python(), "-c", program], env=environ, text=True, capture_output=True, check=True)
    loaded = set(completed.stdout.split())
    assert f"slipway.commands.{command}" in loaded
    assert HEAVY & loaded == set()


def test_circles_are_found() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "a")]
    imports = [Import(importer, imported, False) for importer, imported in pairs]
    circle = {"a", "b", "c"}
    assert find_circles(imports, set("abcde")) == dict.fromkeys(circle, circle)


def test_no_class_name_twice() -> None:
    names = [
        node.name
        for path in module_paths().values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert {name for name in names if names.count(name) > 1} == set()
