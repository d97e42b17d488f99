from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slipway.base.errors import RecipeError
from slipway.base.platform import LINUX_64, find_platform
from slipway.recipe import selectors


def evaluate(selector: str, variant: dict[str, Any] | None = None, **environ: str) -> bool:
    names = selectors.namespace(variant or {}, platform=LINUX_64, environ=environ)
    return selectors.holds(selector, names, "meta.yaml:1")


@pytest.mark.parametrize(
    "selector",
    [
        "linux", "unix", "linux64", "x86_64", "x86", "not win", "not osx", "linux and not aarch64", "py >= 311",
        "py3k", "not py2k", "py == 311", "np == 126", "build_platform == 'linux-64'", "target_platform == 'linux-64'",
        "build_platform == target_platform", "(win or linux) and x86_64", "win or (linux and cuda != 'None')",
        "cuda == '12.4'", "cuda != \"None\"", "compiler_version == 13", "compiler_version > 9", "flag", "not off",
        "python.startswith('3.11')", "cuda.split('.')[0] == '12'", "int(cuda.split('.')[0]) >= 12",
        "cuda in ('12.4', '13.0')", "cuda not in ['None']", "environ.get('CI') == 'yes'", "os.environ.get('CI')",
        "os.getenv('CI')", "CI == 'yes'", "environ.get('NOT_SET', 'x') == 'x'", "not mystery", "mystery is not True",
        "True", "1 < 2 < 3", "'a' if linux else 0", "len(cuda) == 4", "(py + 1) % 2 == 0", "-1 < 0",
        "pl == '5.26.2'", "lua == '5'", "not luajit",
    ],
)  # fmt: skip
def test_holds(selector: str) -> None:
    variant = {
        "python": "3.11.* *_cpython", "numpy": "1.26", "cuda": "12.4", "compiler_version": "13", "flag": "true",
        "off": "False", "target_platform": "linux-64",
    }  # fmt: skip
    assert evaluate(selector, variant, CI="yes")


def test_what_is_built_on_has_a_name_of_its_own() -> None:
    target = replace(find_platform("linux-aarch64"), built_on="linux-64")
    names = selectors.namespace({}, platform=target, environ={})
    assert (names["build_platform"], names["aarch64"], names["x86_64"]) == ("linux-64", True, False)
    assert (
        selectors.namespace({}, platform=find_platform("linux-aarch64"), environ={})["build_platform"]
        == "linux-aarch64"
    )


def test_cross_platform_names_follow_the_target() -> None:
    variant = {"target_platform": "osx-arm64"}
    assert evaluate("osx and arm64 and unix and not linux and not x86 and build_platform == 'linux-64'", variant)
    assert evaluate("win and win64 and not unix", {"target_platform": "win-64"})
    assert evaluate("linux and aarch64 and not linux64", {"target_platform": "linux-aarch64"})


def test_environment_goes_before_variant_keys() -> None:
    assert evaluate("mpi == 'from the environment'", {"mpi": "mpich"}, mpi="from the environment")


@pytest.mark.parametrize(
    "selector",
    [
        "__import__('os')", "open('x')", "().__class__", "environ.__class__", "os.system('true')", "exec('1')",
        "[x for x in (1, 2)]", "lambda: 1", "(x := 1)", "f'{linux}'", "'a' * 1000000000", "10 ** 10", "1 << 99",
        "environ.pop('CI')", "'a'.join(('b',))", "int.from_bytes", "str.format('{}', 1)", "cuda[0:1]", "{1: 2}[1]",
    ],
)  # fmt: skip
def test_nothing_else_is_allowed(selector: str) -> None:
    with pytest.raises(RecipeError, match="not allowed") as caught:
        evaluate(selector, {"cuda": "12.4"})
    assert caught.value.where == "meta.yaml:1"


def test_length_is_no_mistake_and_depth_is() -> None:
    assert evaluate("linux and " * 1000 + "linux", {"linux": True})
    with pytest.raises(RecipeError, match=r"nested too deeply|not an expression"):
        evaluate("(" * 900 + "linux" + ")" * 900)


@pytest.mark.parametrize(
    ("line", "text", "selector"),
    [
        ("  - zlib  # [linux]", "  - zlib", "linux"),
        ("  - zlib  # [linux] why", "  - zlib", "linux"),
        ("  - zlib  # note [linux]", "  - zlib", "linux"),
        ("  - zlib [linux]", "  - zlib", "linux"),
        ("  - zlib  # note", "  - zlib  # note", None),
        ("python: [3.11]", "python:", "3.11"),
        ("# - zlib  # [linux]", "", None),
        ("", "", None),
        ("  '- zlib  # [linux]'", "  '- zlib'", "linux"),
        ("{% set x = 1 %}  # [linux]", "{% set x = 1 %}", "linux"),
        ("  - {{ names[0] }}", "  - {{ names[0] }}", None),
        ("  - foo  # [x] (y)", "  - foo  # [x] (y)", None),
    ],
)
def test_split_line(line: str, text: str, selector: str | None) -> None:
    (split,) = selectors.split_lines(line) or (selectors.Line(1, "", None, ""),)
    assert (split.text, split.selector) == (text, selector)


def test_lines_keep_their_numbers() -> None:
    lines = selectors.split_lines("a  # [win]\nb\n\nc  # [linux]\n")
    names = selectors.namespace({}, platform=LINUX_64, environ={})
    kept = selectors.select(lines, names, "meta.yaml")
    assert [(line.number, line.text) for line in kept] == [(2, "b"), (3, ""), (4, "c")]
