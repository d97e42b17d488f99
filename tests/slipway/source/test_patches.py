"""Patches that would write outside of the work folder are refused before anything is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError
from slipway.source.patches import check_patch_links, read_patch

if TYPE_CHECKING:
    from pathlib import Path

HUNK = "@@ -1 +1 @@\n-x\n+y\n"
NEW = "@@ -0,0 +1 @@\n+y\n"

OUTSIDE = [
    "../planted", "a/../planted", "a/../../planted", "a/x/../../../planted", "/tmp/planted", "/planted", "//planted",
    "a//tmp/planted", "a/x//planted", '"a/\\056\\056/planted"', '"../planted"', '"/tmp/pl\\303\\244nted"', "..", "a/..",
]  # fmt: skip

FORMS = {
    "both names": ("--- {0}\n+++ {0}\n" + HUNK, 1),
    "the new name": ("--- a/x\n+++ {0}\n" + HUNK, 2),
    "the old name": ("--- {0}\n+++ b/x\n" + HUNK, 1),
    "a new file": ("--- /dev/null\n+++ {0}\n" + NEW, 2),
    "a time behind": ("--- a/x\t2020-01-01\n+++ {0}\t2020-01-01 00:00:00\n" + HUNK, 2),
    "behind a letter and another file": ("Why: so.\n\n--- a/x\n+++ b/x\n" + HUNK + "--- a/y\n+++ {0}\n" + HUNK, 9),
    "git's line alone": ("diff --git {0} b/x\nold mode 100644\nnew mode 100755\n", 1),
    "a rename": ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to {0}\n", 4),
    "a rename from there": ("diff --git a/x b/y\nsimilarity index 100%\nrename from {0}\nrename to y\n", 3),
    "a copy": ("diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to {0}\n", 4),
    "a copy from there": ("diff --git a/x b/y\nsimilarity index 100%\ncopy from {0}\ncopy to y\n", 3),
    "Subversion's line": ("Index: {0}\n--- a/x\n+++ b/x\n" + HUNK, 1),
    "shifted": ("  --- a/x\n  +++ {0}\n  @@ -1 +1 @@\n  -x\n  +y\n", 2),
    "in the middle of a hunk": ("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-x\n+y\n--- {0}\n+++ {0}\n" + " \n" * 7, 6),
    "Windows' line ends": ("--- a/x\r\n+++ {0}\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n", 2),
}


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("form", FORMS)
def test_names_outside(tmp_path: Path, form: str, name: str) -> None:
    text, line = FORMS[form]
    path = tmp_path / "evil.patch"
    path.write_text(text.format(name), encoding="utf-8", newline="")
    with pytest.raises(RecipeError, match=r"`evil\.patch` names .* outside of the work folder") as caught:
        read_patch(path)
    assert caught.value.where == f"{path}:{line}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n", 2),
        ("diff --git a/l b/l\nold mode 100644\nnew mode 120000\n", 3),
        ("diff --git a/l b/l\nindex 1234567..89abcde 120000\n--- a/l\n+++ b/l\n" + HUNK, 2),
    ],
)
def test_links_are_not_made_by_patches(tmp_path: Path, text: str, line: int) -> None:
    """Whatever they lead to: what a patch writes through them afterwards would land there."""
    path = tmp_path / "evil.patch"
    path.write_text(text + "--- a/l/planted\n+++ b/l/planted\n" + HUNK, encoding="utf-8")
    with pytest.raises(RecipeError, match=r"`evil\.patch` makes a link") as caught:
        read_patch(path)
    assert caught.value.where == f"{path}:{line}"


@pytest.mark.parametrize(
    "text",
    [
        "1c\n!touch planted\n.\nw\n",
        "--- a/x\n+++ b/x\n" + HUNK + "1,3d\n",
        "*** a/x\n--- b/x\n***************\n*** 1 ****\n! x\n--- 1 ----\n! y\n",
        "1c1\n< x\n---\n> y\n",
        "nothing of the kind\n",
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-x\n+y\ndiff --git a/z b/z\n",
        "--- a/x\n+++ b/x\n@@ -1,1 +1,3 @@\n x\n-y\n+z\n+z\n",
    ],
)
def test_what_cannot_be_read_is_not_applied(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.patch"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match=r"the patch `odd\.patch` (is no|has a hunk)") as caught:
        read_patch(path)
    assert str(caught.value.where).startswith(f"{path}:")


def test_honest_patches(tmp_path: Path) -> None:
    """Lines of a hunk are no headers, and names may hold dots, spaces and umlauts."""
    path = tmp_path / "good.patch"
    path.write_text(
        "From: somebody\n---\n x | 2 +-\n\ndiff --git a/x b/x\nindex 1234567..89abcde 100755\n"
        "--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@ def f():\n-- ../../a comment\n--- /etc/passwd, in SQL\n \n+++ ../b\n\n"
        "@@ -9 +9 @@\n-old\n\\ No newline at end of file\n+new\n\\ No newline at end of file\n"
        "--- x/...y/..z\t2020-01-01\n+++ x/...y/..z\n" + HUNK
        + '--- "a/\\303\\244.txt"\n+++ "b/\\303\\244.txt"\n' + HUNK
        + "diff --git a/my file b/my file\ndeleted file mode 120000\n"
        "--- a/my file\n+++ /dev/null\n@@ -1 +0,0 @@\n-t\n"
        "diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n-- \n2.40\n",
        encoding="utf-8",
    )  # fmt: skip
    assert {one.name for one in read_patch(path)} == {"x", "x/...y/..z", "ä.txt", "my file", "p", "q"}


@pytest.mark.parametrize("name", ["a/d/planted", "d/planted", "a/sub/d/deep/planted"])
def test_through_a_link_of_the_source(tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.patch"
    path.write_text(f"--- a/x\n+++ b/x\n{HUNK}--- /dev/null\n+++ {name}\n{NEW}", encoding="utf-8")
    with pytest.raises(RecipeError, match=r"`evil\.patch` writes .* through the link") as caught:
        check_patch_links(path, {"d", "sub/d"})
    assert caught.value.where == f"{path}:7"
    check_patch_links(path, {"planted", "other"})
