"""Libraries that others wrote for PyTorch: programs of tests/torch/drivers print what they print with PyTorch 2.13.

Each runs only where its library is installed, in the version that PyTorch's answer is of; docs/programs.md has a table.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ANSWERS = json.loads((HERE / "golden/drivers.json").read_text(encoding="utf-8"))
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def test_every_program_has_an_answer() -> None:
    assert sorted(path.stem for path in (HERE / "drivers").glob("use_*.py")) == sorted(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_same_numbers(name: str) -> None:
    answer = ANSWERS[name]
    try:
        installed = version(answer["package"])
    except PackageNotFoundError:
        pytest.skip(f"{answer['package']} is not installed")
    if installed != answer["version"]:
        pytest.skip(f"{answer['package']} {installed} is installed, the answer is of {answer['version']}")
    command = [sys.executable, "-W", "ignore", str(HERE / "drivers" / f"{name}.py")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    # NumPy fills up columns with blanks: how many depends on the last digits.
    text, expected_text = ("".join(NUMBER.sub("#", each).split()) for each in (run.stdout, answer["output"]))
    assert text == expected_text
    numbers, expected = (list(map(float, NUMBER.findall(text))) for text in (run.stdout, answer["output"]))
    assert numbers == pytest.approx(expected, rel=2e-3, abs=2e-3)
