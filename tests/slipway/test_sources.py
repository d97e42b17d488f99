"""Only sources reach a build: whatever a developer's tree holds, with git and without."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.errors import RecipeError
from slipway.sources import SourceTree, read_tree

if TYPE_CHECKING:
    from pathlib import Path

LEFTOVERS = ("build/CMakeCache.txt", "torch/lib/libtorch.so", "torch/__pycache__/a.pyc", "pkg.egg-info/PKG-INFO")
SOURCES = ("CMakeLists.txt", "torch/__init__.py", "torch/lib/keep.h")
IGNORE = "/src/build/\n/src/torch/lib/*.so\n*.egg-info/\n"


def write_tree(root: Path) -> Path:
    """A checkout with a ``src`` that someone built in."""
    (root / ".gitignore").write_text(IGNORE, encoding="utf-8")
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    for name in (*SOURCES, *LEFTOVERS):
        path = root / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    return root / "src"


def test_git_decides_in_a_checkout(git_checkout: Path) -> None:
    source = write_tree(git_checkout)
    subprocess.run(["git", "-C", str(git_checkout), "add", "src/CMakeLists.txt"], check=True)
    assert read_tree(source).files == SOURCES


def test_ignore_files_decide_elsewhere(tmp_path: Path) -> None:
    source = write_tree(tmp_path)
    assert read_tree(source).files == SOURCES


def test_both_ways_agree(git_checkout: Path) -> None:
    source = write_tree(git_checkout)
    assert read_tree(source).files == read_tree(source, use_git=False).files


def test_inner_ignore_file_overrides_outer(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/.gitignore").write_text("!a.log\n", encoding="utf-8")
    (tmp_path / "kept/a.log").touch()
    (tmp_path / "b.log").touch()
    assert read_tree(tmp_path, use_git=False).files == (".gitignore", "kept/.gitignore", "kept/a.log")


def test_deleted_but_tracked_file_is_no_source(git_checkout: Path) -> None:
    (git_checkout / "gone.txt").touch()
    (git_checkout / "here.txt").touch()
    subprocess.run(["git", "-C", str(git_checkout), "add", "."], check=True)
    (git_checkout / "gone.txt").unlink()
    assert read_tree(git_checkout).files == ("here.txt",)


def test_snapshot_holds_exactly_the_sources(tmp_path: Path) -> None:
    source = write_tree(tmp_path)
    target = tmp_path / "snapshot"
    (target / "old").mkdir(parents=True)
    (source / "link").symlink_to("CMakeLists.txt")
    read_tree(source).copy_to(target)
    copied = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir())
    assert copied == sorted((*SOURCES, "link"))
    assert (target / "link").is_symlink()


def test_digest_sees_content_name_and_mode(tmp_path: Path) -> None:
    source = write_tree(tmp_path)
    seen = {read_tree(source).digest}
    (source / "build/CMakeCache.txt").write_text("other", encoding="utf-8")
    assert read_tree(source).digest in seen, "an ignored file must not count"
    (source / "CMakeLists.txt").write_text("other", encoding="utf-8")
    seen.add(read_tree(source).digest)
    (source / "CMakeLists.txt").chmod(0o755)
    seen.add(read_tree(source).digest)
    (source / "CMakeLists.txt").rename(source / "Other.txt")
    seen.add(read_tree(source).digest)
    assert len(seen) == 4


def test_missing_source_is_the_recipes_error(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="does not exist"):
        read_tree(tmp_path / "nowhere")


def test_an_output_that_reads_nothing_gets_an_empty_folder(tmp_path: Path) -> None:
    SourceTree(tmp_path, ()).copy_to(tmp_path / "copy")
    assert list((tmp_path / "copy").iterdir()) == []
