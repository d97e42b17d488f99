"""Only sources reach a build: whatever a developer's tree holds, with git and without."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError, RecipeError
from slipway.source.tree import SourceTree, read_tree

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


@pytest.mark.parametrize("use_git", [True, False])
def test_pipes_and_sockets_are_no_sources(git_checkout: Path, use_git: bool) -> None:
    """Reading a pipe would wait for its writer forever."""
    (git_checkout / "a.txt").touch()
    os.mkfifo(git_checkout / "pipe")
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(git_checkout):
        listener.bind("door")
        assert read_tree(git_checkout, use_git=use_git).files == ("a.txt",)


def test_links(tmp_path: Path) -> None:
    """Inside they stay links, loops too; one to a file outside is that file, and a change over there is a change."""
    root, outside = tmp_path / "root", tmp_path / "outside.txt"
    root.mkdir()
    outside.write_text("1", encoding="utf-8")
    for name, target in {"loop": "loop", "up": ".", "gone": "nowhere", "out": "../outside.txt", "etc": "/etc"}.items():
        (root / name).symlink_to(target)
    tree = read_tree(root)
    assert tree.files == ("etc", "gone", "loop", "out", "up")
    before = tree.digest
    copy = tmp_path / "elsewhere/copy"
    tree.copy_to(copy)
    assert (copy / "out").read_text(encoding="utf-8") == "1"
    assert {path.name for path in copy.iterdir() if path.is_symlink()} == {"etc", "gone", "loop", "up"}
    outside.write_text("2", encoding="utf-8")
    assert read_tree(root).digest != before


def test_link_to_a_folder_outside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "root/shared").symlink_to("../shared")
    tree = read_tree(tmp_path / "root")
    with pytest.raises(RecipeError, match="a link to a folder outside"):
        tree.copy_to(tmp_path / "copy")
    with pytest.raises(RecipeError, match="a link to a folder outside"):
        _ = tree.digest


def test_name_that_no_package_can_hold(tmp_path: Path) -> None:
    (tmp_path / "caf\udce9.txt").touch()
    with pytest.raises(RecipeError, match="not UTF-8") as caught:
        read_tree(tmp_path, use_git=False)
    assert caught.value.where == f"{tmp_path}/caf\\xe9.txt"


def test_files_of_a_submodule(git_checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always"]
    (other / "inner.txt").touch()
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=other, check=True)
    subprocess.run([*git, "submodule", "add", "-q", str(other), "third_party/other"], cwd=git_checkout, check=True)
    files = read_tree(git_checkout).files
    assert "third_party/other/inner.txt" in files
    assert "third_party/other" not in files


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "secret").touch(mode=0)
    with pytest.raises(HostError, match="cannot be read"):
        _ = read_tree(tmp_path).digest
