"""The v1 recipe says what the rendered output says, key by key."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slipway.base.errors import RecipeError
from slipway.engines.rattler_recipe import to_v1_recipe
from slipway.model import OutputTest, RenderedOutput, Requirements, RunExports

MakeOutput = Callable[..., RenderedOutput]


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
        "run": ["${{ pin_compatible('python', lower_bound='x.x', upper_bound='x.x') }}", "libtoy ==1.0 h_0"],
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
