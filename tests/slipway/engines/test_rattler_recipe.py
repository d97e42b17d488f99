"""The v1 recipe says what the rendered output says, key by key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from slipway.base.errors import RecipeError
from slipway.engines.rattler_recipe import build_script, python_version, to_v1_recipe
from slipway.model import OutputTest, RenderedOutput, Requirements, RunExports

MakeOutput = Callable[..., RenderedOutput]
RECIPE = PurePosixPath("/build/recipe")


def test_requirements_are_strict_and_python_is_pinned_as_built(make_output: MakeOutput) -> None:
    output = make_output(
        requirements=Requirements(
            build=("gxx_linux-64 12.*",),
            host=("python 3.11.* *_cpython", "cuda-version 13.0"),
            run=("python", "libtoy 1.0 h_0"),
            run_constrained=("__cuda >=13.0",),
        ),
        run_exports=RunExports(weak=("libtoy >=1.0,<1.1.0a0",), strong_constrains=("other <2",)),
        build={"ignore_run_exports": ["libgcc"], "ignore_run_exports_from": ["gxx_linux-64 12.*"]},
    )
    assert to_v1_recipe(output, [], "d")["requirements"] == {
        "build": ["gxx_linux-64 12.*"],
        "host": ["python 3.11.* *_cpython", "cuda-version 13.0.*"],
        "run": [{"pin_compatible": {"name": "python", "lower_bound": "x.x", "upper_bound": "x.x"}}, "libtoy ==1.0 h_0"],
        "run_constraints": ["__cuda >=13.0"],
        "run_exports": {"weak": ["libtoy >=1.0,<1.1.0a0"], "strong_constraints": ["other <2"]},
        "ignore_run_exports": {"by_name": ["libgcc"], "from_package": ["gxx_linux-64"]},
    }


def test_noarch_python_is_not_pinned(make_output: MakeOutput) -> None:
    output = make_output(
        noarch="python", requirements=Requirements(host=("python >=3.9",), run=("python >=3.9", "python"))
    )
    assert to_v1_recipe(output, [], "d")["requirements"]["run"] == ["python >=3.9", "python"]


def test_build_keys_move_to_their_v1_places(make_output: MakeOutput) -> None:
    output = make_output(
        build={
            "missing_dso_whitelist": ["*/libcuda.so.*"],
            "binary_relocation": False,
            "entry_points": ["toy = toy:main"],
            "always_include_files": ["lib/x"],
            "ignore_prefix_files": ["share/doc"],
        }
    )
    section = to_v1_recipe(output, [], "d")["build"]
    assert section["dynamic_linking"] == {"binary_relocation": False, "missing_dso_allowlist": ["*/libcuda.so.*"]}
    assert section["python"] == {"entry_points": ["toy = toy:main"]}
    assert section["always_include_files"] == ["lib/x"]
    assert section["prefix_detection"] == {"ignore": ["share/doc"]}


def test_key_without_counterpart_is_an_error(make_output: MakeOutput) -> None:
    with pytest.raises(RecipeError, match="cannot express `build/rpaths_patcher`"):
        to_v1_recipe(make_output(build={"rpaths_patcher": "x.sh"}), [], "d")


def test_tests_become_one_environment(make_output: MakeOutput) -> None:
    test = OutputTest(
        imports=("toy",), commands=("toy --help",), requires=("pip 24",), files=("tests/",), script="run_test.py"
    )
    assert to_v1_recipe(make_output(test=test), [], "d")["tests"] == [
        {
            "script": ["python -c 'import toy'", "python run_test.py", "toy --help"],
            "requirements": {"run": ["pip 24.*"]},
            "files": {"recipe": ["tests/", "run_test.py"]},
        }
    ]


@pytest.mark.parametrize(
    ("given", "expression"),
    [
        ("bsd-3-clause", "BSD-3-Clause"),
        ("MIT or Apache-2.0", "MIT OR Apache-2.0"),
        ("Intel's own", "LicenseRef-Intel-s-own"),
    ],
)
def test_licence_is_spdx(make_output: MakeOutput, given: str, expression: str) -> None:
    assert to_v1_recipe(make_output(about={"license": given}), [], "d")["about"]["license"] == expression


def test_digest_travels_in_the_package(make_output: MakeOutput) -> None:
    assert to_v1_recipe(make_output(), [], "abc")["extra"] == {"slipway_digest": "abc"}


def test_script_sees_variant_keys_but_no_shell_code(make_output: MakeOutput) -> None:
    output = make_output(variant={"blas_impl": "mkl; rm -rf /", "c-x": "no"}, script_env={"TOKEN": "$HOME"})
    text = build_script(output, recipe=RECIPE, jobs=3)
    assert "export blas_impl='mkl; rm -rf /'" in text
    assert "c-x" not in text
    assert "export TOKEN='$HOME'" in text
    assert "export CPU_COUNT=3" in text


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        ("python 3.11.* *_cpython", "3.11"),
        ("python 3.12", "3.12"),
        ("python 3.13.*", "3.13"),
        ("python >=3.9", None),
        ("python", None),
    ],
)
def test_python_version(make_output: MakeOutput, spec: str, version: str | None) -> None:
    assert python_version(make_output(requirements=Requirements(host=(spec,)))) == version


def test_metapackage_runs_no_script(make_output: MakeOutput) -> None:
    output = replace(make_output("meta", script="exit 1"), script=None)
    assert "/build.sh" not in build_script(output, recipe=RECIPE, jobs=1)


def test_python_files_are_compiled_here_except_what_the_recipe_skips(make_output: MakeOutput) -> None:
    python = Requirements(host=("python 3.11.*",))
    output = make_output(requirements=python, build={"skip_compile_pyc": ["*/templates/*.py"]})
    text = build_script(output, recipe=RECIPE, jobs=1)
    assert "compileall" in text
    assert "templates" in text
    assert to_v1_recipe(output, [], "d")["build"]["python"] == {"skip_pyc_compilation": ["**/*.py"]}
    assert "compileall" not in build_script(make_output(requirements=python, noarch="python"), recipe=RECIPE, jobs=1)
    assert "compileall" not in build_script(make_output(), recipe=RECIPE, jobs=1)
