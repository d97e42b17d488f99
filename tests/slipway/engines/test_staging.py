"""One top level, several outputs: those that list its files, and those whose scripts go on where it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import BuildError
from slipway.base.platform import LINUX_64
from slipway.channel.archive import read_contents
from slipway.channel.package import read_info
from slipway.engines.staging import pick
from slipway.pipeline.context import RunContext
from slipway.pipeline.manifest import MANIFEST_FILE
from slipway.pipeline.plan import make_plan
from slipway.pipeline.run import run
from slipway.recipe import load_recipe, render

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.model import RenderedOutput

MakeContext = Callable[..., RunContext]

NAMES = ["bin/toy", "include/toy.h", "include/toy/more.h", "lib/libtoy.a", "lib/libtoy.so", "lib/libtoy.so.1", "x[1]"]


@pytest.mark.parametrize(
    ("included", "excluded", "expected"),
    [
        (["bin/toy"], [], ["bin/toy"]),
        (["lib/libtoy.so.*"], [], ["lib/libtoy.so.1"]),
        (["lib/libtoy.so*"], ["lib/libtoy.so.*"], ["lib/libtoy.so"]),
        (["include/"], [], ["include/toy.h", "include/toy/more.h"]),
        (["include"], ["include/toy"], ["include/toy.h"]),
        (["include/*.h"], [], ["include/toy.h"]),
        (["include/**/*.h"], [], ["include/toy.h", "include/toy/more.h"]),
        (["toy.h"], [], []),
        (["**"], ["lib/", "include/"], ["bin/toy", "x[1]"]),
    ],
)
def test_patterns(included: list[str], excluded: list[str], expected: list[str]) -> None:
    assert pick(NAMES, included, excluded) == expected


META = """\
package:
  name: toy-split
  version: "1.0"
source:
  path: ../src
outputs:
  - name: toy
    files:
      - share/toy/
  - name: toy-rest
    files:
      exclude:
        - share/toy/
        - share/second
  - name: toy-script
    script: install.sh
  - name: toy-both
    script: install.sh
    files:
      - share/second
      - share/toy-both
  - name: toy-inline
    build:
      script:
        - test "$PKG_NAME" = toy-inline
        - mkdir -p "$PREFIX/share"; cp made "$PREFIX/share/inline"
about:
  license: MIT
  license_file: LICENSE
"""


@pytest.fixture
def outputs(tmp_path: Path) -> Callable[..., dict[str, RenderedOutput]]:
    """The outputs of the recipe above, or of another one in the same folder, by name."""
    folder = tmp_path / "recipe"
    files = {
        "build.sh": 'echo "the top level as $PKG_NAME"\ncp start made\nmkdir -p "$PREFIX/share/toy"\n'
        'echo "$PREFIX" > "$PREFIX/share/toy/where"; ln -s where "$PREFIX/share/toy/link"\n'
        'cp made "$PREFIX/share/first"; cp made "$PREFIX/share/second"\n',
        "install.sh": 'test -f "$PREFIX/share/first"\ncp made "$PREFIX/share/$PKG_NAME"\n',
        "LICENSE": "Do as you like.\n",
        "../src/start": "started\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

    def load(meta: str = META) -> dict[str, RenderedOutput]:
        (folder / "meta.yaml").write_text(meta, encoding="utf-8")
        return {output.name: output for output in render(load_recipe(folder), platform=LINUX_64, environ={})}

    return load


def paths_of(package: Path) -> dict[str, dict[str, Any]]:
    """What the package installs, by path: paths.json's entries."""
    entries = json.loads(read_info(package, "paths.json") or b"")["paths"]
    return {entry["_path"]: entry for entry in entries}


def test_outputs_are_told_apart(outputs: Callable[..., dict[str, RenderedOutput]]) -> None:
    found = outputs()
    assert {name for name, output in found.items() if output.takes_files} == {"toy", "toy-rest"}
    assert all(output.staging is not None for output in found.values())
    shared = outputs(META.replace("install.sh", "build.sh"))
    assert shared["toy-script"].staging is None, "a script for all outputs runs once for each"
    assert shared["toy-script"].script == "build.sh"


@pytest.mark.integration
def test_each_output_packs_its_part(
    outputs: Callable[..., dict[str, RenderedOutput]], make_context: MakeContext, tmp_path: Path
) -> None:
    found = outputs()
    artifacts = run(list(found.values()), make_context())
    packages = {artifact.output.name: artifact.path for artifact in artifacts}
    packed = {name: paths_of(path) for name, path in packages.items()}
    assert {name: sorted(files) for name, files in packed.items()} == {
        "toy": ["share/toy/link", "share/toy/where"],
        "toy-rest": ["share/first"],
        "toy-script": ["share/toy-script"],
        "toy-both": ["share/second", "share/toy-both"],
        "toy-inline": ["share/inline"],
    }
    made = read_contents(packages["toy-script"])["share/toy-script"]
    assert made == b"started\n", "the output's script goes on in the top level's folder"
    # Once for all outputs that list files, and in the folder of each whose script goes on there.
    lines = [line for log in (tmp_path / "dist/logs").glob("*.log") for line in log.read_text("utf-8").splitlines()]
    assert [line for line in lines if line.startswith("the top level as")] == ["the top level as toy-split"] * 4
    assert packed["toy"]["share/toy/where"]["file_mode"] == "text", "the prefix in it is replaced when it is installed"
    assert packed["toy"]["share/toy/link"]["path_type"] == "softlink"
    assert not (tmp_path / "dist/work/staged").exists()


@pytest.mark.integration
def test_change_of_the_top_level_is_a_change_of_its_outputs(
    outputs: Callable[..., dict[str, RenderedOutput]], make_context: MakeContext, tmp_path: Path
) -> None:
    toy = [outputs()["toy"]]
    assert not run(toy, make_context())[0].reused
    assert run(toy, make_context())[0].reused
    (tmp_path / "src/start").write_text("again\n", encoding="utf-8")
    (state,) = make_plan(toy, make_context().plan_inputs()).outputs
    assert state.changes == ("source ../src/start: edited",)
    artifact = run(toy, make_context())[0]
    assert not artifact.reused
    manifest = json.loads(read_info(artifact.path, MANIFEST_FILE) or b"")
    assert set(manifest["environments"]) == {"build", "host", "top level build", "top level host"}


@pytest.mark.integration
def test_output_of_no_file_is_an_error(
    outputs: Callable[..., dict[str, RenderedOutput]], make_context: MakeContext
) -> None:
    toy = outputs(META.replace("- share/toy/", "- bin/toy"))["toy"]
    with pytest.raises(BuildError, match="the top level installs no such file") as caught:
        run([toy], make_context())
    assert caught.value.hint == "it installs share/first, share/second, share/toy/link, share/toy/where"


@pytest.mark.integration
def test_failing_top_level_fails_its_outputs(
    outputs: Callable[..., dict[str, RenderedOutput]], make_context: MakeContext, tmp_path: Path
) -> None:
    found = outputs()
    (tmp_path / "recipe/build.sh").write_text("echo the cause; exit 3\n", encoding="utf-8")
    for name in ("toy", "toy-script"):
        with pytest.raises(BuildError, match="its build script failed") as caught:
            run([replace(found[name])], make_context())
        assert "the cause" in (caught.value.detail or "")
