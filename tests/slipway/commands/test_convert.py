"""`slipway convert`: recipe.yaml from meta.yaml, and both rendered beside each other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.base.errors import RecipeError
from slipway.cli import main
from slipway.commands._conversion import Converter
from slipway.commands._meta_tree import read_meta, to_condition, to_expression

RECIPES = Path(__file__).parents[2] / "integration/recipes"
HEAD = "package:\n  name: demo\n  version: 1.2\n"


def converted(text: str, *files: str) -> dict[str, Any]:
    return Converter(read_meta(text, "meta.yaml"), files).convert()


@pytest.mark.parametrize("name", ["binding", "c_library", "cached", "compiled_python", "headers", "hello", "pure"])
def test_kept_recipes_render_alike(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "recipe"
    shutil.copytree(RECIPES / name, recipe)
    assert main(["convert", str(recipe), "--no-home-config", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["left_out"], answer["differences"]) == ([], [])
    written = yaml.safe_load((recipe / "recipe.yaml").read_text(encoding="utf-8"))
    assert written["schema_version"] == 1
    assert main(["convert", str(recipe)]) == 2, "nothing is written over"
    (recipe / "meta.yaml").unlink()
    assert main(["render", str(recipe), "--no-home-config"]) == 0
    assert main(["convert", str(recipe)]) == 2, "it is a recipe.yaml already"


CONDITIONS = {
    "linux and py >= 310": 'linux and match(python, ">=3.10")',
    "py<=38 or py2k": 'match(python, "<3.9") or match(python, "<3")',
    "py == 39": 'match(python, "3.9.*")',
    "py != 27": 'not match(python, "2.7.*")',
    "linux64": "(linux and x86_64)",
    'cuda_compiler_version != "None"': 'cuda_compiler_version != "None"',
    'environ.get("CI", "") == "1"': 'env.get("CI", default="") == "1"',
    "os.environ['CI']": "env.get('CI')",
}


@pytest.mark.parametrize("selector", CONDITIONS)
def test_selectors(selector: str) -> None:
    assert to_condition(selector) == CONDITIONS[selector]


EXPRESSIONS = {
    "pin_subpackage('a', max_pin='x.x', exact=True)": "pin_subpackage('a', upper_bound='x.x', exact=true)",
    "version.split('.')[0]": "(version | split('.'))[0]",
    "name|lower": "name|lower",
    "name.upper()": "(name | upper)",
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_templates(expression: str) -> None:
    assert to_expression(expression) == EXPRESSIONS[expression]


def test_selectors_become_conditions() -> None:
    found = converted(
        HEAD + "source:\n  url: a  # [linux]\n  url: b  # [osx]\n  patches:\n    - x.patch  # [win]\n"
        "build:\n  number: 3\n  skip: true  # [win]\n  skip: true  # [py<38]\nrequirements:\n  host:\n    - zlib 1.2\n"
        '    - "a >=1"  # [linux]\n    - b  # [linux]\n  run:  # [unix]\n    - c\n'
    )
    assert found["source"] == [
        {"url": '${{ "a" if linux else "b" if osx }}', "patches": [{"if": "win", "then": "x.patch"}]}
    ]
    assert found["build"] == {"number": 3, "skip": ["win", 'match(python, "<3.8")']}
    assert found["requirements"] == {
        "host": ["zlib 1.2.*", {"if": "linux", "then": ["a >=1", "b"]}],
        "run": [{"if": "unix", "then": "c"}],
    }


def test_names_that_templates_set() -> None:
    found = converted(
        '{% set name = "demo" %}\n{% set build = 1 %}\n{% set build = build + 100 %}  # [linux]\n'
        '{% if osx %}\n{% set more = "x" %}\n{% else %}\n{% set more = "y" %}\n{% endif %}\n'
        "package:\n  name: {{ name }}\n  version: 1\n"
    )
    assert found["context"] == {
        "name": "demo",
        "build": "${{ ((1) + 100) if linux else 1 }}",
        "more": '${{ "y" if not (osx) else ("x" if osx else "") }}',
    }
    assert found["package"] == {"name": "${{ name }}", "version": "1"}


def test_sections_under_their_new_names() -> None:
    found = converted(
        HEAD + "build:\n  script_env:\n    - A=b\n    - TOKEN\n  run_exports:\n    strong:\n      - demo\n"
        "  ignore_run_exports:\n    - x\n  missing_dso_whitelist:\n    - '*y*'\n  osx_is_app: true\n"
        "test:\n  imports:\n    - demo\n  requires:\n    - pip\n    - pytest\n"
        "  commands:\n    - pip check\n    - pytest\n"
        "about:\n  home: h\n  license: Mine\n  license_family: BSD\n  keywords: k\nextra:\n  team:\n    - we\n",
        "run_test.sh",
    )
    assert found["build"]["script"] == {"file": "build.sh", "env": {"A": "b"}, "secrets": ["TOKEN"]}
    assert found["build"]["dynamic_linking"] == {"missing_dso_allowlist": ["*y*"]}
    assert found["requirements"] == {"run_exports": {"strong": ["demo"]}, "ignore_run_exports": {"by_name": ["x"]}}
    assert found["tests"] == [
        {"python": {"imports": ["demo"], "pip_check": True}},
        {"script": ["bash -ex run_test.sh", "pytest"], "requirements": {"run": ["pytest"]},
         "files": {"recipe": ["run_test.sh"]}},
    ]  # fmt: skip
    assert found["about"] == {"homepage": "h", "license": "LicenseRef-Mine"}
    assert found["extra"] == {"team": ["we"]}


def test_what_has_no_word_is_said() -> None:
    converter = Converter(read_meta(HEAD + "build:\n  osx_is_app: true\nabout:\n  keywords: k\n", "meta.yaml"), ())
    converter.convert()
    assert converter.left_out == ["build/osx_is_app", "about/keywords"]
    with pytest.raises(RecipeError, match=r"no word for `\{% for x in y %\}`") as caught:
        read_meta("{% for x in y %}\n" + HEAD, "meta.yaml")
    assert caught.value.where == "meta.yaml:1"


def test_differences_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # conda-build has a Python where nobody names one; rattler-build has not.
    text = HEAD + "requirements:\n  run:\n    - a {{ python }}.5\n"
    (tmp_path / "meta.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "conda_build_config.yaml").write_text("python:\n  - 3.11\n", encoding="utf-8")
    assert main(["convert", str(tmp_path), "-c", "x", "--no-home-config"]) == 0
    (tmp_path / "meta.yaml").write_text(HEAD + "build:\n  noarch_python: true\n", encoding="utf-8")
    assert main(["convert", str(tmp_path), "-c", "x", "--no-home-config", "--force"]) == 3
    said = capsys.readouterr().out
    assert "left out: build/noarch_python" in said
    assert ": subdir noarch, not linux-64" in said
