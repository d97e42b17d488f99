"""What help() says about torch.nn: every class and function is described, and its example runs."""

from __future__ import annotations

import doctest
import inspect
import warnings
from typing import Any

import pytest

import torch
from torch.nn import functional

CLASSES = {name: getattr(torch.nn, name) for name in torch.nn.modules.__all__}
FUNCTIONS = {name: getattr(functional, name) for name in functional.__all__}


@pytest.mark.parametrize("name", [*CLASSES, *FUNCTIONS])
def test_described(name: str) -> None:
    subject: Any = CLASSES.get(name) or FUNCTIONS[name]
    text = inspect.getdoc(subject) or ""
    summary = text.split("\n\n", 1)[0]
    assert len(summary) > 15, f"help({name}) says {text!r}"
    assert ">>>" in text, f"help({name}) has no example"
    if inspect.isbuiltin(subject):
        return  # the examples of operators run with those of all others
    examples = doctest.DocTestParser().get_doctest(text, {"torch": torch, **FUNCTIONS}, name, None, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", UserWarning)
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples)
    assert result.failed == 0
    assert result.attempted > 0
