"""The printed error is part of the product: one small bad recipe and its expected message each."""

from __future__ import annotations

import io
import re
import shutil
import time
from pathlib import Path

import pytest

from slipway.base.errors import RecipeError, VariantError
from slipway.base.platform import LINUX_64
from slipway.console import print_error
from slipway.recipe import RenderLimits, load_recipe, render

CASES = sorted(path.parent for path in (Path(__file__).parent / "errors").glob("*/expected.txt"))

LIMITS = RenderLimits(seconds=1, megabytes=300)
SOON = 60
"""Seconds on the clock, on a machine that is busy; the kernel counts those of the processor: 1, and 2 of grace."""


def test_there_are_cases() -> None:
    assert len(CASES) >= 50


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_message(case: Path) -> None:
    started = time.perf_counter()
    with pytest.raises(RecipeError) as caught:
        render(load_recipe(case), platform=LINUX_64, environ={}, limits=LIMITS)
    printed = io.StringIO()
    print_error(caught.value, printed)
    assert printed.getvalue().replace(f"{case}/", "") == (case / "expected.txt").read_text()
    assert time.perf_counter() - started < SOON, "a hostile recipe must be refused soon"


def test_no_recipe(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="no recipe here"):
        load_recipe(tmp_path)


def test_not_text(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").write_bytes(b"package:\n  name: \xff\n")
    with pytest.raises(RecipeError, match="not UTF-8") as caught:
        load_recipe(tmp_path)
    assert caught.value.hint == "byte 17 is wrong"


GROWING = "{% set ns = namespace(x=START) %}{% for i in range(60) %}{% set ns.x = STEP %}{% endfor %}"
HOSTILE = {
    "power": "{{ 10 ** (10 ** 10) }}",
    "squares": GROWING.replace("START", "7").replace("STEP", "ns.x * ns.x"),
    "translations": GROWING.replace("START", "'a'").replace("STEP", "ns.x.translate({97: 'aaaaaaaa'})"),
    "nested lists": GROWING.replace("START", "[1]").replace("STEP", "[ns.x, ns.x] | string"),
    "indentation": "{{ ('a\\n' * 99999) | indent(99999) }}",
    "selector": "name: demo" + " #[" * 13_000 + "x" * 40_000 + "](",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_takes_time_or_memory_without_end(tmp_path: Path, name: str) -> None:
    """Which of the two is used up first, and whether a line can be named, is up to the machine."""
    (tmp_path / "meta.yaml").write_text(f"package:\n  name: demo\n  version: 1.0\n  {HOSTILE[name]}\n")
    started = time.perf_counter()
    with pytest.raises(RecipeError) as caught:
        render(load_recipe(tmp_path), platform=LINUX_64, environ={}, limits=LIMITS)
    assert re.search("needs more than (1 second of processor time|300 MB of memory)$", caught.value.message)
    assert (caught.value.where or "").startswith(str(tmp_path / "meta.yaml"))
    assert time.perf_counter() - started < SOON


@pytest.mark.parametrize(
    "platform", ["../../x", "/tmp/x", "linux-64/../..", "..", "--help", "LINUX-64", "null", "'linux-64\\n'", "''"]
)
@pytest.mark.parametrize("noarch", ["", "build:\n  noarch: generic\n"])
def test_packages_are_for_platforms_that_there_are(tmp_path: Path, platform: str, noarch: str) -> None:
    (tmp_path / "meta.yaml").write_text(f"package:\n  name: demo\n  version: 1.0\n{noarch}")
    (tmp_path / "conda_build_config.yaml").write_text(f"target_platform:\n  - {platform}\n")
    with pytest.raises(VariantError, match="there is no platform"):
        render(load_recipe(tmp_path), platform=LINUX_64, environ={})


@pytest.mark.parametrize("name", ["--help", "-m", ".", "..", ".x", "a/../b", "a\\b", "'a\\n'", '"a\\n"', "é", "a b"])
@pytest.mark.parametrize("meta", ["package:\n  name: {}\n  version: 1\n",
                                  "package:\n  name: x\n  version: 1\noutputs:\n  - name: {}\n"])  # fmt: skip
def test_names_that_are_options_or_paths(tmp_path: Path, name: str, meta: str) -> None:
    (tmp_path / "meta.yaml").write_text(meta.format(name), encoding="utf-8")
    with pytest.raises(RecipeError, match="cannot be a package name"):
        render(load_recipe(tmp_path), platform=LINUX_64, environ={})


@pytest.mark.parametrize("long", ["name", "version", "string"])
def test_names_that_no_file_can_have(tmp_path: Path, long: str) -> None:
    name, version, string = ("a" * 250 if long == one else "a" for one in ("name", "version", "string"))
    meta = f"package:\n  name: {name}\n  version: {version}\nbuild:\n  string: {string}\n"
    (tmp_path / "meta.yaml").write_text(meta)
    with pytest.raises(RecipeError, match="is 254 characters long"):
        render(load_recipe(tmp_path), platform=LINUX_64, environ={})


def test_rendering_goes_on_after_its_process_was_killed(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").write_text("package:\n  name: demo\n  version: {{ 10 ** (10 ** 10) }}\n")
    power = load_recipe(tmp_path)
    fine = load_recipe(Path(__file__).parents[2] / "integration/recipes/pure")
    before = render(fine, platform=LINUX_64, environ={})
    with pytest.raises(RecipeError, match="more than 1 second of processor time"):
        render(power, platform=LINUX_64, environ={}, limits=RenderLimits(seconds=1))
    assert render(fine, platform=LINUX_64, environ={}) == before


def test_a_long_line_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").write_text("package:\n  name: demo\n  version: 1.0\n# " + "x" * 20_000 + "\n")
    (output,) = render(load_recipe(tmp_path), platform=LINUX_64, environ={})
    assert output.name == "demo"


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
