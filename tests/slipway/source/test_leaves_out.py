"""An output gets, and is digested from, just the sources that its recipe says it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError
from slipway.model import RenderedOutput, Source
from slipway.source.leaves_out import reads_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATCH = "Why.\n\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"
SOURCE = Source(path="../source", patches=("../python.patch", "../both.patch"))


@pytest.fixture
def output(make_output: Callable[..., RenderedOutput], tmp_path: Path) -> RenderedOutput:
    """An output beside sources in two languages, a patch to Python alone, and one to both."""
    for name in ("a.cpp", "python/a.py", "python/b.py", "README.md"):
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text("x\n", encoding="utf-8")
    (tmp_path / "python.patch").write_text(PATCH.format("python/a.py"), encoding="utf-8")
    (tmp_path / "both.patch").write_text(PATCH.format("python/b.py") + PATCH.format("a.cpp"), encoding="utf-8")
    return make_output(sources=(SOURCE,))


def test_without_a_declaration_everything_is_read(output: RenderedOutput) -> None:
    reads = reads_of(output, SOURCE)
    assert reads.tree is not None
    assert reads.tree.files == ("README.md", "a.cpp", "python/a.py", "python/b.py")
    assert [patch.name for patch in reads.patches] == ["python.patch", "both.patch"]


def test_what_is_left_out_is_not_there_unless_a_patch_needs_it(output: RenderedOutput) -> None:
    declaration = 'leaves_out:\n  libtoy: ["*.md", "/python/**"]\n  other: ["*"]\n'
    (output.recipe_dir / "slipway.yaml").write_text(declaration, encoding="utf-8")
    reads = reads_of(output, SOURCE)
    assert reads.tree is not None
    assert reads.tree.files == ("a.cpp", "python/b.py")
    assert [patch.name for patch in reads.patches] == ["both.patch"]


@pytest.mark.parametrize("text", ["leaves_out: [", "leaves_out: 1", "leave_out: {}", "leaves_out: {libtoy: x}", "- 1"])
def test_broken_declaration_is_told(output: RenderedOutput, text: str) -> None:
    (output.recipe_dir / "slipway.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        reads_of(output, SOURCE)
    assert str(caught.value.where).rpartition(":")[0].endswith("slipway.yaml")


def test_missing_patch_is_told(output: RenderedOutput, tmp_path: Path) -> None:
    (tmp_path / "both.patch").unlink()
    with pytest.raises(RecipeError, match=r"patch `\.\./both\.patch` does not exist"):
        reads_of(output, SOURCE)
