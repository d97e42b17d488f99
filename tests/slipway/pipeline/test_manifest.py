"""The digest changes with what goes into a package and with nothing else; the manifest says what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError
from slipway.channel.taken import SolvedPackage
from slipway.model import OutputTest, RenderedOutput, Requirements, Source
from slipway.pipeline.manifest import Manifest, differences, make_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def package(version: str, sha256: str = "a" * 64, build: str = "h_0") -> SolvedPackage:
    """A package that a solver picked."""
    return SolvedPackage("zlib", version, build, sha256, 1, "file:///channel/zlib.conda")


@pytest.fixture
def output(make_output: Callable[..., RenderedOutput], tmp_path: Path) -> RenderedOutput:
    """An output with a source and a patch."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/a.c").write_text("int a;\n", encoding="utf-8")
    (tmp_path / "0001.patch").write_text("--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-1\n+2\n", encoding="utf-8")
    return make_output(sources=(Source(path="../source", patches=("../0001.patch",)),))


def manifest(
    output: RenderedOutput,
    *,
    engine: str = "rattler 1",
    environments: Mapping[str, list[SolvedPackage]] | None = None,
    needed: Mapping[str, str] | None = None,
) -> Manifest:
    """`make_manifest` with everything else at rest."""
    return make_manifest(
        output, engine=engine, environments=environments or {"build": [package("1.0")]}, needed=needed or {}
    )


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("source/a.c", "source ../source/a.c: edited"),
        ("0001.patch", "patch 0001.patch: edited"),
        ("recipe-libtoy/build.sh", "recipe file build.sh: edited"),
        ("recipe-libtoy/LICENSE", "recipe file LICENSE: edited"),
        ("source/b.c", "source ../source/b.c: added"),
    ],
)
def test_changes_with_the_files(output: RenderedOutput, tmp_path: Path, name: str, change: str) -> None:
    before = manifest(output)
    with (tmp_path / name).open("a", encoding="utf-8") as stream:
        stream.write("more\n")
    after = manifest(output)
    assert after.digest != before.digest
    assert differences(before, after) == [change]


def test_execute_bit_counts(output: RenderedOutput, tmp_path: Path) -> None:
    before = manifest(output)
    (tmp_path / "source/a.c").chmod(0o755)
    assert manifest(output).digest != before.digest


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"build_string": "h1_1"}, 'recipe build_string: "h0123456_0" -> "h1_1"'),
        ({"requirements": Requirements(run=("zlib",))}, 'recipe requirements run: [] -> ["zlib"]'),
        ({"test": OutputTest(commands=("true",))}, 'recipe test commands: [] -> ["true"]'),
        ({"script_env": {"A": "1"}}, 'recipe script_env A: null -> "1"'),
        ({"about": {"license": "MIT"}}, 'recipe about license_file: "LICENSE" -> null'),
    ],
)
def test_changes_with_what_was_rendered(output: RenderedOutput, changes: dict[str, object], told: str) -> None:
    before, after = manifest(output), manifest(replace(output, **changes))  # type: ignore[arg-type]
    assert after.digest != before.digest
    assert differences(before, after) == [told]


def test_changes_with_engine_environments_and_needed_outputs(output: RenderedOutput) -> None:
    before = manifest(output)
    for after, told in (
        (manifest(output, engine="rattler 2"), ["engine: rattler 1 -> rattler 2"]),
        (manifest(output, environments={"build": [package("1.1")]}), ["build zlib: 1.0 h_0 -> 1.1 h_0"]),
        (
            manifest(output, environments={"build": [package("1.0", "b" * 64)]}),
            ["build zlib 1.0 h_0: same name, other content"],
        ),
        (
            manifest(output, environments={"build": [package("1.0")], "host": [package("1.0")]}),
            ["host zlib: added"],
        ),
        (manifest(output, needed={"libtoy-1.0-0": "x"}), ["needs libtoy-1.0-0: added"]),
    ):
        assert after.digest != before.digest
        assert differences(before, after) == told


def test_stays_when_only_unused_variant_keys_or_the_place_change(output: RenderedOutput, tmp_path: Path) -> None:
    before = manifest(output).digest
    assert manifest(replace(output, variant={"python": "3.13", "target_platform": "linux-64"})).digest == before
    assert manifest(replace(output, listing={"x": 1})).digest == before
    (output.recipe_dir / "meta.yaml").write_text("# a comment\n", encoding="utf-8")
    assert manifest(output).digest == before, "meta.yaml counts by what is rendered from it"
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    output.recipe_dir.rename(moved / "recipe")
    (tmp_path / "source").rename(moved / "source")
    (tmp_path / "0001.patch").rename(moved / "0001.patch")
    assert manifest(replace(output, recipe_dir=moved / "recipe")).digest == before


def test_manifest_survives_a_package(output: RenderedOutput) -> None:
    before = manifest(output)
    after = Manifest.from_json(before.to_json(), where="here")
    assert after.digest == before.digest
    assert differences(before, after) == []


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"sources": 1}', b'{"sources": [], "surprise": 1}', b"\xff"])
def test_broken_manifest_is_told(text: bytes) -> None:
    with pytest.raises(IntegrityError, match="what the package was made from cannot be read"):
        Manifest.from_json(text, where="here")
