"""The digest changes with everything that goes into a package, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.digest import output_digest
from slipway.model import OutputTest, RenderedOutput, Requirements, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@pytest.fixture
def output(make_output: Callable[..., RenderedOutput], tmp_path: Path) -> RenderedOutput:
    """An output with a source and a patch."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/a.c").write_text("int a;\n", encoding="utf-8")
    (tmp_path / "0001.patch").write_text("a patch\n", encoding="utf-8")
    return make_output(sources=(Source(path="../source", patches=("../0001.patch",)),))


def digest(
    output: RenderedOutput,
    *,
    engine: str = "rattler 1",
    environments: Mapping[str, list[str]] | None = None,
    needed: Mapping[str, str] | None = None,
) -> str:
    """`output_digest` with everything else at rest."""
    return output_digest(output, engine=engine, environments=environments or {"build": ["1"]}, needed=needed or {})


def test_changes_with_the_files(output: RenderedOutput, tmp_path: Path) -> None:
    seen = [digest(output)]
    for name in ("source/a.c", "0001.patch", "recipe-libtoy/build.sh", "recipe-libtoy/LICENSE"):
        path = tmp_path / name
        path.write_text(path.read_text(encoding="utf-8") + "more\n", encoding="utf-8")
        seen.append(digest(output))
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    "changes",
    [
        {"build_string": "h1_1"},
        {"requirements": Requirements(run=("zlib",))},
        {"test": OutputTest(commands=("true",))},
        {"script_env": {"A": "1"}},
        {"about": {"license": "MIT"}},
    ],
)
def test_changes_with_what_was_rendered(output: RenderedOutput, changes: dict[str, object]) -> None:
    assert digest(replace(output, **changes)) != digest(output)  # type: ignore[arg-type]


def test_changes_with_engine_environments_and_needed_outputs(output: RenderedOutput) -> None:
    digests = {
        digest(output),
        digest(output, engine="rattler 2"),
        digest(output, environments={"build": ["2"]}),
        digest(output, environments={"host": ["1"]}),
        digest(output, needed={"libtoy": "x"}),
    }
    assert len(digests) == 5


def test_stays_when_only_unused_variant_keys_or_the_place_change(output: RenderedOutput, tmp_path: Path) -> None:
    before = digest(output)
    assert digest(replace(output, variant={"python": "3.13", "target_platform": "linux-64"})) == before
    assert digest(replace(output, listing={"x": 1})) == before
    (output.recipe_dir / "meta.yaml").write_text("# a comment\n", encoding="utf-8")
    assert digest(output) == before, "meta.yaml counts by what is rendered from it"
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    output.recipe_dir.rename(moved / "recipe")
    (tmp_path / "source").rename(moved / "source")
    (tmp_path / "0001.patch").rename(moved / "0001.patch")
    assert digest(replace(output, recipe_dir=moved / "recipe")) == before
