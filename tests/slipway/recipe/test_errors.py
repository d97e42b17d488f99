"""The printed error is part of the product: one small bad recipe and its expected message each."""

from __future__ import annotations

import io
import shutil
import time
from pathlib import Path

import pytest

from slipway.base.errors import RecipeError
from slipway.base.platform import LINUX_64
from slipway.console import print_error
from slipway.recipe import load_recipe, render

CASES = sorted(path.parent for path in (Path(__file__).parent / "errors").glob("*/expected.txt"))


def test_there_are_cases() -> None:
    assert len(CASES) >= 50


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_message(case: Path) -> None:
    started = time.perf_counter()
    with pytest.raises(RecipeError) as caught:
        render(load_recipe(case), platform=LINUX_64, environ={})
    printed = io.StringIO()
    print_error(caught.value, printed)
    assert printed.getvalue().replace(f"{case}/", "") == (case / "expected.txt").read_text()
    assert time.perf_counter() - started < 5, "a hostile recipe must be refused soon"


def test_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="no recipe here"):
        load_recipe(tmp_path)


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").write_bytes(b"package:\n  name: \xff\n")
    with pytest.raises(RecipeError, match="not UTF-8") as caught:
        load_recipe(tmp_path)
    assert caught.value.hint == "byte 17 is wrong"


def test_very_long_line(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").write_text("package:\n  name: demo\n  version: 1.0\n# " + "x" * 20_000 + "\n")
    with pytest.raises(RecipeError, match="longer than") as caught:
        render(load_recipe(tmp_path), platform=LINUX_64, environ={})
    assert caught.value.where is not None
    assert caught.value.where.endswith("meta.yaml:4")


def test_links_out_of_the_folder_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"version": "1"}')
    folder = tmp_path / "recipe"
    shutil.copytree(Path(__file__).parent / "errors" / "setup_py", folder)
    (folder / "linked.json").symlink_to(secret)
    (folder / "meta.yaml").write_text(
        "package:\n  name: demo\n"
        "  version: {{ load_file_data('linked.json', from_recipe_dir=True, recipe_dir=RECIPE_DIR).version }}\n"
    )
    with pytest.raises(RecipeError, match=r"has no file `linked\.json`"):
        render(load_recipe(folder), platform=LINUX_64, environ={})


def test_secrets_of_the_environment_are_not_there_for_recipes(tmp_path: Path) -> None:
    """What a recipe makes of them would be printed, and go into packages."""
    (tmp_path / "meta.yaml").write_text(
        'package:\n  name: demo\n  version: "1{{ environ.get("UPLOAD_TOKEN", "") }}{{ environ.PLAIN }}"\n'
        "build:\n  number: 7  # [environ.get('DB_PASSWORD')]\n"
    )
    (output,) = render(
        load_recipe(tmp_path),
        platform=LINUX_64,
        environ={"UPLOAD_TOKEN": "hunter2", "DB_PASSWORD": "hunter2", "PLAIN": "3"},
    )
    assert (output.version, output.build_number) == ("13", 0)
