"""The order of the house: the table of floors in slipway's docstring, held against what every file imports."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import slipway

HOUSE = Path(slipway.__file__).parent

IMPORTED_LATE = {
    "jinja2": "slipway.report.parts",
    "rattler_build": "slipway.engines.rattler_worker",
    "rich": "slipway.console",
}
"""Heavy libraries that most commands do without: the one module that wraps each may import it in a function."""


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


def may_come_late(found: Import) -> bool:
    """Whether the table of heavy libraries lists it."""
    return IMPORTED_LATE.get(found.imported.partition(".")[0]) == found.importer


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
        if found.late and not may_come_late(found):
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
    assert [may_come_late(one) for one in found if one.late] == [False, True]
    assert not may_come_late(Import("slipway.cli", "rich", True))


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
