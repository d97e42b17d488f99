"""Only sources reach a build: whatever a developer's tree holds, with git and without."""

from __future__ import annotations

import contextlib
import os
import shutil
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


def test_links_inside_stay_links(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "file").write_text("1", encoding="utf-8")
    links = {"loop": "loop", "here": ".", "gone": "nowhere", "sub/up": "../file", "a": "b", "b": "sub/up"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    tree = read_tree(root)
    assert set(tree.files) == {"file", *links}
    copy = tmp_path / "elsewhere/copy"
    tree.copy_to(copy)
    assert {name: str((copy / name).readlink()) for name in links} == links
    before = tree.digest
    (root / "a").unlink()
    (root / "a").symlink_to("file")
    assert read_tree(root).digest != before


@pytest.mark.parametrize("use_git", [True, False])
@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("out", {"out": "../outside.txt"}),
        ("out", {"out": "/etc/passwd"}),
        ("folder", {"folder": "/etc"}),
        ("folder", {"folder": "../"}),
        ("self", {"self": "../root/file"}),
        ("dangling", {"dangling": "../no/such/thing"}),
        ("sub/deep", {"sub/deep": "../../outside.txt"}),
        ("through", {"d": "sub", "through": "d/../../outside.txt"}),
        ("chain", {"chain": "sub/x/y", "sub/x": "deeper/..", "sub/y": "../../outside.txt"}),
    ],
)
def test_links_that_leave_are_refused(git_checkout: Path, name: str, links: dict[str, str], use_git: bool) -> None:
    """Wherever they lead: their ends would be packed, or be something else where the copy lies."""
    root = git_checkout / "root"
    (root / "sub/deeper").mkdir(parents=True)
    (root / "file").touch()
    (git_checkout / "outside.txt").write_text("PLANTED", encoding="utf-8")
    for place, target in links.items():
        (root / place).symlink_to(target)
    tree = read_tree(root, use_git=use_git)
    with pytest.raises(RecipeError, match=r"is a link that leads out of it") as caught:
        tree.copy_to(git_checkout / "copy")
    assert not (git_checkout / "copy").exists()
    assert set(links) & set(caught.value.message.split("`")), "the link is named"
    with pytest.raises(RecipeError, match=r"is a link that leads out of it"):
        _ = tree.digest


def test_files_that_git_names_below_a_link(git_checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A tracked folder that became a link: what lies where it leads is no file of the source."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "id").write_text("PLANTED", encoding="utf-8")
    (git_checkout / "keys").mkdir()
    (git_checkout / "keys/id").touch()
    subprocess.run(["git", "add", "keys/id"], cwd=git_checkout, check=True)
    shutil.rmtree(git_checkout / "keys")
    (git_checkout / "real").mkdir()
    (git_checkout / "real/id").touch()
    (git_checkout / "keys").symlink_to(elsewhere)
    assert "keys/id" not in read_tree(git_checkout).files
    with pytest.raises(RecipeError, match="`keys` in the source is a link"):
        _ = read_tree(git_checkout).digest
    (git_checkout / "keys").unlink()
    (git_checkout / "keys").symlink_to("real")
    assert read_tree(git_checkout).files == ("keys", "real/id")


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
