"""Short names of variant keys, as recipes declare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError
from slipway.model import VariantOption
from slipway.recipe import load_recipe_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_declared_options(tmp_path: Path) -> None:
    text = "options:\n  blas:\n    key: blas_impl\n  py:\n    key: python\n    title: Python\n    default: '3.11'\n"
    (tmp_path / "slipway.yaml").write_text(text, encoding="utf-8")
    assert load_recipe_settings(tmp_path).options == {
        "blas": VariantOption("blas_impl"),
        "py": VariantOption("python", "Python", default="3.11"),
    }


def test_a_recipe_without_any(tmp_path: Path) -> None:
    assert load_recipe_settings(tmp_path).options == {}
    (tmp_path / "slipway.yaml").write_text("leaves_out: {}\n", encoding="utf-8")
    assert load_recipe_settings(tmp_path).options == {}


@pytest.mark.parametrize(
    "text",
    [
        "options: [",
        "option: {}",
        "options: [blas]",
        "options: {blas: blas_impl}",
        "options: {blas: {kee: blas_impl}}",
        "options: {python: {key: python, default: 3.11}}",
        "options: {blas: {title: BLAS}}",
    ],
)
def test_what_is_not_a_declaration(tmp_path: Path, text: str) -> None:
    (tmp_path / "slipway.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError) as caught:
        load_recipe_settings(tmp_path)
    assert "slipway.yaml" in str(caught.value.where)
