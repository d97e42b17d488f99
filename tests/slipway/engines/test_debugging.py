"""What `slipway debug` reads of a build that stopped: where its script was, and what is left of it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.engines.debugging import describe, find_stopped, find_text, remaining_steps, shell_words, write_shell_files

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.engines.debugging import PreparedBuild

HEAD = "export PKG_NAME=demo\numask 022\ntrap slipway_finish EXIT\n"


def prepare(folder: Path, own: str, **files: str) -> PreparedBuild:
    place = folder / "demo"
    work = place / "output/bld/demo/work"
    work.mkdir(parents=True)
    (place / "recipe").mkdir()
    (work / "build_env.sh").write_text(f"export PREFIX=/p\nexport SRC_DIR={work}\n", encoding="utf-8")
    (place / "recipe/slipway_build.sh").write_text(HEAD + own, encoding="utf-8")
    (place / "recipe/recipe.yaml").write_text(json.dumps({"build": {"string": "h1_0"}}), encoding="utf-8")
    for name, text in files.items():
        (place / "recipe" / f"{name}.sh").write_text(text, encoding="utf-8")
    found = find_stopped("demo", {"SLIPWAY_BUILD_FOLDER": str(folder)})
    assert found is not None
    return found


CASES: dict[str, tuple[str, list[str], tuple[str, ...]]] = {
    "it goes on with the command that failed": (
        "./configure --prefix=$PREFIX\nmake -j$CPU_COUNT\nmake install\n",
        ["+ ./configure --prefix=/p", "checking", "+ make -j2", "a.c:1: error"],
        ("make -j$CPU_COUNT", "make install"),
    ),
    "a loop is begun anew": (
        "true\nfor name in a b\ndo\n  cc $name.c\ndone\nmake\n",
        ["+ true", "+ for name in a b", "+ cc a.c", "+ cc b.c"],
        ("for name in a b", "do", "  cc $name.c", "done", "make"),
    ),
    "of equal commands the later one": (
        "make\ncd sub\nmake\n", ["+ make", "+ cd sub", "+ make"], ("make",),
    ),
    "a log that does not tell": ("make\n", [], ("make",)),
    "what comes after it is no part of it": (
        "make\nmake install\n", ["+ make", "++ slipway_finish", "++ status=1"], ("make", "make install"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_left(tmp_path: Path, case: str) -> None:
    script, log, left = CASES[case]
    steps = remaining_steps(prepare(tmp_path, script), ["+ trap slipway_finish EXIT", *log])
    assert steps.path is None
    assert steps.lines == left


def test_a_script_of_its_own_and_where_it_was(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, '. "$RECIPE_DIR"/build.sh\n', build="mkdir sub\ncd sub\nA=b\ncmake ..\n")
    log = ["+ trap slipway_finish EXIT", "+ . build.sh", "++ mkdir sub", "++ cd sub", "++ A=b", "++ cmake .."]
    steps = remaining_steps(prepared, log)
    assert (steps.path, steps.number, steps.lines, steps.state) == ("build.sh", 4, ("cmake ..",), ("cd sub", "A=b"))


def test_the_shell_stands_where_the_script_was(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, "mkdir sub\ncd sub\ntest -e there && echo went on\n")
    (prepared.work / "sub").mkdir()
    log = ["+ trap slipway_finish EXIT", "+ mkdir sub", "+ cd sub", "+ test -e there"]
    rc = write_shell_files(prepared, remaining_steps(prepared, log))

    def run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
        words = shell_words(rc, command, interactive=False)
        return subprocess.run(words, input=text, text=True, capture_output=True, check=False)

    assert run(["bash", "-c", "pwd; echo $PKG_NAME $PREFIX"]).stdout == f"{prepared.work}/sub\ndemo /p\n"
    assert run([], "rest\n").returncode == 1
    assert run([], "touch there; rest").stdout == "went on\n"
    assert run(["sh", "-c", "exit 7"]).returncode == 7
    assert describe(prepared)["PREFIX"] == "/p"


def test_nothing_is_there(tmp_path: Path) -> None:
    assert find_stopped("demo", {"SLIPWAY_BUILD_FOLDER": str(tmp_path)}) is None


def test_where_a_command_stands_in_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "meta.yaml"
    path.write_text("build:\n  script:\n    - make\n    - make install\n", encoding="utf-8")
    assert find_text(path, "make install") == 4
    assert find_text(path, "cmake") is None
    assert find_text(tmp_path / "none", "make") is None
