"""Whole pickled modules: PyTorch's load here and answer the same; ours hold what PyTorch's hold, and load there."""

from __future__ import annotations

import inspect
import io
import json
import warnings
from pathlib import Path
from typing import Any

import nn_modules
import pytest

import torch
import torch.nn.functional as functional

GOLDEN = Path(__file__).parent / "golden"
FACTS = json.loads((GOLDEN / "modules.json").read_text(encoding="utf-8"))
EXPRESSIONS = [expression for expression, _ in nn_modules.ROWS]


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    """What PyTorch pickled: modules, inputs and answers."""
    loaded: dict[str, Any] = torch.load(GOLDEN / "modules.pt", weights_only=False)
    return loaded


def test_every_class_has_a_row() -> None:
    rows = " ".join(EXPRESSIONS)
    public = {name for name in torch.nn.modules.__all__ if name != "Module"}
    assert {name for name in public if f"nn.{name}(" not in rows} == set()
    assert list(FACTS["modules"]) == EXPRESSIONS, "run golden/make_modules.py"


def assert_answers(module: Any, row: dict[str, Any]) -> None:
    if row["inputs"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = module(*(tensor.clone() for tensor in row["inputs"]))
        torch.testing.assert_close(answer, row["output"], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_modules_of_pytorch_answer_here(expression: str, theirs: dict[str, Any]) -> None:
    row = theirs[expression]
    assert_answers(row["module"], row)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_modules_hold_what_those_of_pytorch_hold(expression: str) -> None:
    """The names, order and values of attributes; the places of classes, which pickles name; the printed text."""
    module, expected = nn_modules.make(torch, expression), FACTS["modules"][expression]
    assert nn_modules.attributes(module) == expected["attributes"]
    assert list(module.__dict__) == list(expected["attributes"])
    assert nn_modules.classes(module) == expected["classes"]
    assert repr(module) == expected["text"]


def test_modules_of_ours_come_back(theirs: dict[str, Any]) -> None:
    file = io.BytesIO()
    torch.save({expression: nn_modules.make(torch, expression) for expression in EXPRESSIONS}, file)
    file.seek(0)
    for expression, module in torch.load(file, weights_only=False).items():
        assert_answers(module, theirs[expression])


def test_functions_take_the_arguments_of_pytorch() -> None:
    """Names, order and defaults of every function that is Python in PyTorch and here."""
    for name in functional.__all__:
        function, expected = getattr(functional, name), FACTS["signatures"].get(name)
        if expected is None or not inspect.isfunction(function) or expected[0][0] == "args":
            continue
        parameters = inspect.signature(function).parameters.values()
        assert [[p.name, None if p.default is p.empty else repr(p.default)] for p in parameters] == expected, name
