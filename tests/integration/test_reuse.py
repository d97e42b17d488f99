"""`slipway plan`: what would be built, and what changed; `slipway ship` then builds just that."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from slipway.channel.archive import read_contents

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Slipway


META = """\
package:
  name: two
  version: "1.0"
source:
  path: ../src
outputs:
  - name: library
    script: build.sh
    requirements:
      build:
        - ninja
  - name: program
    script: build.sh
    requirements:
      host:
        - {{ pin_subpackage('library', exact=True) }}
about:
  license: MIT
"""
DECLARATION = 'leaves_out:\n  library: ["*.py", "*.md"]\n  program: ["*.c", "*.md"]\n'
SCRIPT = 'mkdir -p "$PREFIX/x"; cat "$SRC_DIR"/*.{c,py} 2>/dev/null > "$PREFIX/x/$PKG_NAME" || true\n'


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Two outputs of one source folder, each of which reads half of it."""
    folder = tmp_path / "recipe"
    files = {
        "recipe/meta.yaml": META,
        "recipe/slipway.yaml": DECLARATION,
        "recipe/build.sh": SCRIPT,
        "src/a.c": "int a;\n",
        "src/b.py": "b = 1\n",
        "src/README.md": "Read me.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return folder


def plan(slipway: Slipway, recipe: Path) -> dict[str, tuple[str, list[str]]]:
    """State and changes of every output, by name."""
    answer = slipway("plan", recipe, "--dist", recipe.parent / "dist", "--json")
    assert answer.returncode == 0, answer.stderr
    rows: list[dict[str, Any]] = json.loads(answer.stdout)
    return {row["package"].partition("-")[0]: (row["state"], row["changes"]) for row in rows}


def test_only_what_an_edit_reaches_is_built(slipway: Slipway, recipe: Path) -> None:
    dist = recipe.parent / "dist"
    assert {state for state, _ in plan(slipway, recipe).values()} == {"new"}
    assert not (dist / "channel").exists(), "a plan writes nothing"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    fine = ("up to date", [])
    assert plan(slipway, recipe) == {"library": fine, "program": fine}
    for name, library, program in (
        ("README.md", fine, fine),
        ("b.py", fine, ("changed", ["source ../src/b.py: edited"])),
        ("a.c", ("changed", ["source ../src/a.c: edited"]), ("changed", ["needs library"])),
    ):
        with (recipe.parent / "src" / name).open("a", encoding="utf-8") as stream:
            stream.write("\n")
        planned = plan(slipway, recipe)
        assert planned["library"] == library
        assert planned["program"][0] == program[0]
        assert len(planned["program"][1]) == len(program[1])
        assert all(told.startswith(start) for told, start in zip(planned["program"][1], program[1], strict=True))
        answer = slipway("ship", recipe, "--dist", dist)
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout.count("up to date: made from") == [library, program].count(fine)


def test_build_does_not_get_what_its_output_leaves_out(slipway: Slipway, recipe: Path) -> None:
    (recipe / "build.sh").write_text('cat "$SRC_DIR/b.py"; mkdir "$PREFIX/x"; touch "$PREFIX/x/$PKG_NAME"\n')
    answer = slipway("ship", recipe, "--dist", recipe.parent / "dist")
    assert answer.returncode == 8
    assert "b.py: No such file or directory" in answer.stderr


def test_dependency_that_moves_is_named(slipway: Slipway, recipe: Path) -> None:
    dist = recipe.parent / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    meta = recipe / "meta.yaml"
    meta.write_text(meta.read_text().replace("- ninja", "- cmake"), encoding="utf-8")
    state, changes = plan(slipway, recipe)["library"]
    assert state == "changed"
    assert {"build ninja: removed", "build cmake: added"} <= set(changes)


@pytest.mark.parametrize(
    "hostile",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ cycler.__init__.__globals__.os.system('touch PWNED') }}",
        "{{ load_file_regex('/etc/passwd', 'root') }}",
    ],
)
def test_hostile_recipe_runs_nothing(slipway: Slipway, recipe: Path, hostile: str) -> None:
    meta = recipe / "meta.yaml"
    meta.write_text(meta.read_text().replace('"1.0"', f'"{hostile}"'), encoding="utf-8")
    answer = slipway("plan", recipe, "--dist", recipe.parent / "dist", cwd=recipe.parent)
    assert answer.returncode == 3, answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
    assert not (recipe.parent / "PWNED").exists()


PYTHON_META = """\
package:
  name: tools
  version: "1.0"
outputs:
  - name: library
    script: build.sh
    requirements:
      build:
        - python >=3.9
        - pyyaml
  - name: module
    script: build.sh
    requirements:
      build:
        - python >=3.9
        - pyyaml
      host:
        - {{ pin_subpackage('library', exact=True) }}
        - python
      run:
        - python
about:
  license: MIT
"""


def test_the_python_of_build_tools_is_no_variant(slipway: Slipway, tmp_path: Path) -> None:
    """What is built without Python stays as it is for every Python; its tools run with the same one."""
    versions = [version for version in ("3.12", "3.13") if starts(f"python{version}")]
    if not versions:
        pytest.skip("there is just one Python on this machine")
    folder = tmp_path / "recipe"
    folder.mkdir()
    (folder / "meta.yaml").write_text(PYTHON_META, encoding="utf-8")
    (folder / "build.sh").write_text(
        'mkdir -p "$PREFIX/x"; "$BUILD_PREFIX/bin/python" -c "import sys, yaml; print(sys.version_info[:2])"'
        ' > "$PREFIX/x/$PKG_NAME"\n',
        encoding="utf-8",
    )
    dist = tmp_path / "dist"
    assert slipway("ship", folder, "--dist", dist, "--python", "3.11").returncode == 0
    for version in versions:
        answer = slipway("plan", folder, "--dist", dist, "--python", version, "--json")
        assert answer.returncode == 0, answer.stderr
        states = {row["package"].split("-")[0]: row["state"] for row in json.loads(answer.stdout)}
        assert states == {"library": "up to date", "module": "new"}
    answer = slipway("ship", folder, "--dist", dist, "--python", versions[0])
    assert answer.returncode == 0, answer.stdout + answer.stderr
    modules = sorted((dist / "channel/linux-64").glob("module-*.conda"))
    assert len(modules) == 2
    assert len(list((dist / "channel/linux-64").glob("library-*.conda"))) == 1
    assert {read_contents(path)["x/module"] for path in modules} == {b"(3, 11)\n"}
    answer = slipway("rebuild", *modules, "--recipe", folder, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def starts(program: str) -> bool:
    """Whether there is such a program, and more than a name that leads nowhere."""
    return shutil.which(program) is not None and subprocess.run([program, "-c", ""], check=False).returncode == 0
