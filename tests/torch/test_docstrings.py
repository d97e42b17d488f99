"""help() says what each operator gives, and what its examples print is what they say."""

from __future__ import annotations

import doctest
import inspect
import re
from typing import Any

import pytest

import torch

MODULES = {
    "torch": torch._C._VariableFunctions,
    **{name: getattr(torch._C, f"_{name}") for name in ("nn", "linalg", "fft", "special")},
    "Tensor": torch._C.TensorBase,
}
# From a line like `add(Tensor input, ...) -> Tensor`, of which every generated docstring has one per overload.
SIGNATURE = re.compile(r"^(\w+)\(.*\) -> .+$", re.MULTILINE)


def _generated() -> dict[str, str]:
    """The docstrings that torchgen wrote, by where they stand."""
    found = {}
    for home, module in MODULES.items():
        for name in dir(module):
            text = getattr(module, name).__doc__ or ""
            if not name.startswith("_") and SIGNATURE.match(text):
                found[f"{home}.{name}"] = text
    return found


DOCSTRINGS = _generated()


def test_every_operator_says_what_it_gives() -> None:
    """After its signatures comes a sentence; a row without one needs an entry in aten/docstrings.yaml."""
    assert len(DOCSTRINGS) > 400
    silent = [name for name, text in DOCSTRINGS.items() if not SIGNATURE.sub("", text).strip()]
    assert silent == []


@pytest.mark.parametrize("name", [name for name, text in DOCSTRINGS.items() if ">>> " in text])
def test_example(name: str) -> None:
    example = doctest.DocTestParser().get_doctest(DOCSTRINGS[name], {"torch": torch}, name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (torch.add, ["Tensor or Number input, Tensor or Number other", "Shapes broadcast", ">>> torch.add("]),
        (torch.Tensor.add, ["add(Tensor or Number other", "The sum `input + alpha * other`"]),
        (torch.Tensor.add_, ["Does what `add` does in place", "The sum `input + alpha * other`"]),
        (torch.absolute, ["absolute(Tensor input", "The same as `abs`."]),
        (torch.Tensor.absolute_, ["absolute_()", "The same as `abs_`."]),
    ],
    ids=["function", "method", "in place", "alias", "alias in place"],
)
def test_what_help_shows(function: Any, parts: list[str]) -> None:
    text = inspect.getdoc(function) or ""
    assert [part for part in parts if part not in text] == [], text
