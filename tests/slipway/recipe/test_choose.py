from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import VariantError
from slipway.base.platform import LINUX_64
from slipway.recipe import load_recipe, render
from slipway.recipe.choose import choose, identifier, used_variant

if TYPE_CHECKING:
    from slipway.model import RenderedOutput

GOLDEN = Path(__file__).parents[2] / "golden" / "conda-build"


@pytest.fixture(scope="module")
def toy() -> tuple[RenderedOutput, ...]:
    return render(load_recipe(GOLDEN / "additive"), platform=LINUX_64, environ={})


def names(outputs: tuple[RenderedOutput, ...]) -> list[str]:
    return [identifier(output) for output in outputs]


def test_everything_by_default(toy: tuple[RenderedOutput, ...]) -> None:
    assert choose(toy) == toy


def test_by_name_and_value(toy: tuple[RenderedOutput, ...]) -> None:
    assert names(choose(toy, ["libtoy-cuda"], {"cuda_compiler_version": "13.0"})) == ["libtoy-cuda-cuda130_h51efa30_0"]


def test_a_value_does_not_exclude_what_does_not_use_its_key(toy: tuple[RenderedOutput, ...]) -> None:
    assert names(choose(toy, values={"cuda_compiler_version": "12.4"})) == [
        "libtoy-mkl_hae8db99_0", "libtoy-cuda-cuda124_h760fcd4_0", "pytoy-py311_100",
    ]  # fmt: skip


def test_versions_agree_with_patterns(toy: tuple[RenderedOutput, ...]) -> None:
    assert names(choose(toy, ["pytoy"], {"python": "3.11"})) == ["pytoy-py311_100"]
    zipped = render(load_recipe(GOLDEN / "zipped"), platform=LINUX_64, environ={})
    assert len(choose(zipped, values={"python": "3.12"})) == 2


def test_used_variant_leaves_out_what_is_the_same_everywhere(toy: tuple[RenderedOutput, ...]) -> None:
    assert [used_variant(output) for output in toy] == [
        {"blas_impl": "mkl"}, {"cuda_compiler_version": "12.4"}, {"cuda_compiler_version": "13.0"},
        {"python": "3.11.*"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "values", "message", "hint"),
    [
        (["toy"], {}, "the recipe has no output `toy`", "it has libtoy, libtoy-cuda, pytoy"),
        ([], {"mpi": "x"}, "no output uses `mpi`", "they use blas_impl, cuda_compiler_version, python"),
        (
            [], {"cuda_compiler_version": "11.8"}, "there is no variant with cuda_compiler_version=11.8",
            "there is cuda_compiler_version=12.4, 13.0",
        ),
    ],
)  # fmt: skip
def test_nothing_matches(
    toy: tuple[RenderedOutput, ...], wanted: list[str], values: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(VariantError) as caught:
        choose(toy, wanted, values)
    assert (caught.value.message, caught.value.hint) == (message, hint)
