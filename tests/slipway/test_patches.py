"""Every patch of the distribution says why, is used, applies to the sources as they are, and is still needed."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.base.checkout import require_checkout

if TYPE_CHECKING:
    from pathlib import Path

PATCHES = sorted((require_checkout() / "patches").glob("*.patch"))
RECIPE = (require_checkout() / "recipe" / "meta.yaml").read_text(encoding="utf-8")


def try_patch(patch: Path, folder: Path, *options: str) -> bool:
    """Whether `patch` would apply to what is in `folder`, line by line."""
    command = ["git", "apply", "--check", *options, str(patch)]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


@pytest.fixture
def patched_files(tmp_path: Path) -> Path:
    """Copies of the files that patches touch: a dry run needs no more."""
    for patch in PATCHES:
        for name in re.findall(r"^--- a/(\S+)", patch.read_text(encoding="utf-8"), flags=re.MULTILINE):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(require_checkout() / "src" / name, tmp_path / name)
    return tmp_path


def test_there_is_a_patch_and_each_is_named_by_the_recipe() -> None:
    assert PATCHES
    named = re.findall(r"- \.\./patches/(\S+)", RECIPE)
    assert named == [patch.name for patch in PATCHES], "in order, none forgotten"


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_says_why(patch: Path) -> None:
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.patch", patch.name)
    assert patch.read_text(encoding="utf-8").startswith("Why: ")


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.name)
def test_applies_and_is_not_applied_yet(patch: Path, patched_files: Path) -> None:
    assert try_patch(patch, patched_files), "the sources have moved on: renew the patch"
    assert not try_patch(patch, patched_files, "--reverse"), "the sources have it already: drop the patch"


def test_recipe_and_sources_agree_on_the_version() -> None:
    version = (require_checkout() / "src" / "version.txt").read_text(encoding="utf-8").strip()
    assert f'{{% set version = "{version}" %}}' in RECIPE


def test_the_sources_bring_their_licence() -> None:
    """A real file in the sources: both engines look there first, and copies of recipe/ alone need no link to follow."""
    licence = require_checkout() / "src" / "LICENSE"
    assert not licence.is_symlink()
    assert licence.read_bytes() == (require_checkout() / "LICENSE").read_bytes()
    assert RECIPE.count("license_file: LICENSE") == RECIPE.count("script: build.sh"), "each output with files has it"
