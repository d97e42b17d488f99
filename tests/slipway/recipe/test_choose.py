"""Picking variants from a rendered recipe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import VariantError
from slipway.base.platform import LINUX_64
from slipway.model import RenderedOutput, Requirements
from slipway.recipe import RecipeMatrix, load_recipe, render_matrix
from slipway.recipe.choose import agrees, belongs, identifier, used_variant, variant_of

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parents[2] / "golden" / "conda-build"


@pytest.fixture(scope="module")
def toy() -> RecipeMatrix:
    return render_matrix(load_recipe(GOLDEN / "additive"), platform=LINUX_64, environ={})


def names(outputs: tuple[RenderedOutput, ...]) -> list[str]:
    return [identifier(output) for output in outputs]


def test_everything_by_default(toy: RecipeMatrix) -> None:
    assert toy.select({}, {}) == toy.outputs


def test_a_value_does_not_exclude_what_does_not_use_its_key(toy: RecipeMatrix) -> None:
    assert names(toy.select({"cuda_compiler_version": "12.4"}, {})) == [
        "libtoy-mkl_hae8db99_0", "libtoy-cuda-cuda124_h760fcd4_0", "pytoy-py311_100",
    ]  # fmt: skip


def test_versions_agree_with_patterns(toy: RecipeMatrix) -> None:
    assert "pytoy-py311_100" in names(toy.select({"python": "3.11"}, {}))
    zipped = render_matrix(load_recipe(GOLDEN / "zipped"), platform=LINUX_64, environ={})
    assert len(zipped.select({"python": "3.12"}, {})) == 2
    assert agrees("3.11", "3.11.* *_cpython")
    assert agrees("3.11.* *_cpython", "3.11.* *_cpython")
    assert not agrees("3.1", "3.11.*")


def test_used_variant_leaves_out_what_is_the_same_everywhere(toy: RecipeMatrix) -> None:
    assert [used_variant(output) for output in toy.outputs] == [
        {"blas_impl": "mkl"}, {"cuda_compiler_version": "12.4"}, {"cuda_compiler_version": "13.0"},
        {"python": "3.11.*"},
    ]  # fmt: skip
    assert variant_of(toy.outputs) == {"blas_impl": "mkl", "cuda_compiler_version": "12.4", "python": "3.11.*"}


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        (
            {"mpi": "x"}, "the recipe has no variant for mpi x",
            "blas_impl: mkl; cuda_compiler_version: 12.4, 13.0; python: 3.11.*",
        ),
        ({"cuda_compiler_version": "11.8"}, "the recipe has no variant for CUDA 11.8", "it has 12.4, 13.0"),
    ],
)  # fmt: skip
def test_unknown_keys_and_values_name_the_known_ones(
    toy: RecipeMatrix, asked: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(VariantError) as caught:
        toy.select(asked, {"cuda_compiler_version": "CUDA"})
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_key_that_may_be_none_is_an_add_on(toy: RecipeMatrix) -> None:
    assert toy.with_defaults({}, {}) == {"cuda_compiler_version": "None"}
    assert names(toy.select(toy.with_defaults({}, {}), {})) == ["libtoy-mkl_hae8db99_0", "pytoy-py311_100"]
    assert toy.with_defaults({"cuda_compiler_version": "13.0"}, {}) == {"cuda_compiler_version": "13.0"}


def test_defaults_count_where_the_matrix_has_them(toy: RecipeMatrix) -> None:
    found = toy.with_defaults({}, {"python": "3.11", "blas_impl": "atlas", "mpi": "mpich"})
    assert found == {"python": "3.11", "cuda_compiler_version": "None"}
    assert toy.with_defaults({"python": "3.12"}, {"python": "3.11"})["python"] == "3.12"


ZIPPED = """\
cuda_compiler:
  - None
  - nvcc
cuda_compiler_version:
  - None
  - 13.0
zip_keys:
  -
    - cuda_compiler
    - cuda_compiler_version
"""


def test_asking_for_one_key_asks_for_those_that_advance_with_it(tmp_path: Path) -> None:
    text = "package:\n  name: a\n  version: 1\nbuild:\n  string: {{ cuda_compiler }}_{{ cuda_compiler_version }}\n"
    (tmp_path / "meta.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "conda_build_config.yaml").write_text(ZIPPED, encoding="utf-8")
    matrix = render_matrix(load_recipe(tmp_path), platform=LINUX_64, environ={})
    asked = matrix.with_defaults({"cuda_compiler_version": "13.0"}, {})
    assert asked == {"cuda_compiler_version": "13.0"}
    assert [output.build_string for output in matrix.select(asked, {})] == ["None_None", "nvcc_13.0"]
    without = matrix.with_defaults({}, {})
    assert [output.build_string for output in matrix.select(without, {})] == ["None_None"]


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ({"python": "3.11", "blas_impl": "mkl"}, True),
        ({"python": "3.12", "blas_impl": "mkl"}, False),
        ({"python": "3.11", "blas_impl": "openblas"}, False),
        ({}, True),
    ],
)
def test_which_python_output_belongs(
    make_output: Callable[..., RenderedOutput], asked: dict[str, str], taken: bool
) -> None:
    output = make_output(
        variant={"python": "3.11.* *_cpython", "blas_impl": "mkl", "target_platform": "linux-64"},
        hash_input={"blas_impl": "mkl", "python": "3.11.* *_cpython"},
        requirements=Requirements(host=("python 3.11.* *_cpython",)),
    )
    assert belongs(output, asked) is taken


@pytest.mark.parametrize(("cuda", "taken"), [("None", False), ("13.0", True), ("12.9", False)])
def test_which_cuda_output_belongs(make_output: Callable[..., RenderedOutput], cuda: str, taken: bool) -> None:
    output = make_output(variant={"cuda_compiler_version": "13.0"}, hash_input={"cuda_compiler_version": "13.0"})
    assert belongs(output, {"cuda_compiler_version": cuda}) is taken


def test_unused_keys_have_no_say(make_output: Callable[..., RenderedOutput]) -> None:
    output = make_output(variant={"python": "3.12.* *_cpython", "blas_impl": "openblas"}, hash_input={})
    assert belongs(output, {"python": "3.11", "blas_impl": "mkl"})
