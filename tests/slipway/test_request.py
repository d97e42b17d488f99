"""What a command line asks for, checked before anything is built."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError, UsageError, VariantError
from slipway.model import RenderedOutput, Requirements
from slipway.request import DEFAULT_RECIPE, Request, Selection, add_variant_arguments, channel_address

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def parse(*words: str) -> Request:
    """A request as the command line makes it."""
    parser = argparse.ArgumentParser()
    add_variant_arguments(parser)
    return Request.of(parser.parse_args(words))


def test_own_recipe_has_defaults_others_have_none(tmp_path: Path) -> None:
    (tmp_path / "meta.yaml").touch()
    assert parse().recipe == DEFAULT_RECIPE
    assert parse().selection == Selection("3.11", "mkl", None)
    assert parse(str(tmp_path)).selection == Selection(None, None, None)
    assert parse(str(tmp_path), "--blas", "openblas").selection == Selection(None, "openblas", None)


@pytest.mark.parametrize(("option", "value"), [("--python", "three"), ("--python", "3.11.2"), ("--cuda", "13")])
def test_a_version_that_is_none(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{option} takes a version X.Y, not `{value}`"):
        parse(option, value)


def test_missing_recipe_and_config(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="no recipe here"):
        parse(str(tmp_path))
    with pytest.raises(UsageError, match="no such variant config"):
        parse("-m", str(tmp_path / "none.yaml"))


@pytest.mark.parametrize(
    ("selection", "taken"),
    [
        (Selection("3.11", "mkl", None), True),
        (Selection("3.12", "mkl", None), False),
        (Selection("3.11", "openblas", None), False),
        (Selection(None, None, None), True),
    ],
)
def test_selection_of_a_python_output(
    make_output: Callable[..., RenderedOutput], selection: Selection, taken: bool
) -> None:
    output = make_output(
        variant={"python": "3.11.* *_cpython", "blas_impl": "mkl", "target_platform": "linux-64"},
        hash_input={"blas_impl": "mkl", "python": "3.11.* *_cpython"},
        requirements=Requirements(host=("python 3.11.* *_cpython",)),
    )
    assert selection.takes(output) is taken


@pytest.mark.parametrize(("cuda", "taken"), [(None, False), ("13.0", True), ("12.9", False)])
def test_selection_of_a_cuda_output(make_output: Callable[..., RenderedOutput], cuda: str | None, taken: bool) -> None:
    output = make_output(variant={"cuda_compiler_version": "13.0"}, hash_input={"cuda_compiler_version": "13.0"})
    assert Selection("3.11", "mkl", cuda).takes(output) is taken


def test_unused_keys_have_no_say(make_output: Callable[..., RenderedOutput]) -> None:
    output = make_output(variant={"python": "3.12.* *_cpython", "blas_impl": "openblas"}, hash_input={})
    assert Selection("3.11", "mkl", None).takes(output)


def test_own_recipe_renders_one_variant_of_each_output() -> None:
    names = [output.name for output in parse().outputs()]
    assert names == ["libtorch", "pytorch"]
    assert [output.name for output in parse("--cuda", "13.0").outputs()] == [
        "libtorch",
        "libtorch-cuda",
        "pytorch",
        "pytorch-gpu",
    ]


def test_only_libtorch_depends_on_the_blas() -> None:
    mkl = {output.name: output.key for output in parse("--blas", "mkl").outputs()}
    openblas = {output.name: output.key for output in parse("--blas", "openblas").outputs()}
    assert mkl["libtorch"] != openblas["libtorch"]
    assert mkl["pytorch"] == openblas["pytorch"]


@pytest.mark.parametrize("words", [("--cuda", "9.9"), ("--blas", "atlas")])
def test_unknown_variant_names_the_known_ones(words: tuple[str, str]) -> None:
    with pytest.raises(VariantError) as caught:
        parse(*words).outputs()
    assert words[1] in caught.value.message
    assert "mkl" in str(caught.value.hint) or "13.0" in str(caught.value.hint)


def test_channel_address(tmp_path: Path) -> None:
    assert channel_address(str(tmp_path)) == tmp_path.as_uri()
    assert channel_address("conda-forge") == "conda-forge"
