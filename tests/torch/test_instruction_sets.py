"""The kernels of lesser processors: the same answers from AVX2 alone, and from neither that nor AVX-512."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import torch

HERE = Path(__file__).resolve().parent
CAPABILITIES = ("DEFAULT", "AVX2", "AVX512")

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names of x86")


def run(capability: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", *words],
        env=os.environ | {"ATEN_CPU_CAPABILITY": capability, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_name_of_the_best_one() -> None:
    assert torch.backends.cpu.get_cpu_capability() in CAPABILITIES


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_lesser_one_can_be_asked_for(capability: str) -> None:
    answer = run(capability.lower(), "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())")
    here = CAPABILITIES.index(torch.backends.cpu.get_cpu_capability())
    assert answer.stdout.strip() == CAPABILITIES[min(here, CAPABILITIES.index(capability))]
    assert not answer.stderr


def test_another_name_is_ignored_and_said() -> None:
    answer = run("avx3", "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())")
    assert answer.stdout.strip() == torch.backends.cpu.get_cpu_capability()
    assert "ignoring invalid value for ATEN_CPU_CAPABILITY: avx3" in answer.stderr


@pytest.mark.parametrize(
    ("capability", "files"),
    [
        ("avx2", ["test_accuracy.py", "test_special_accuracy.py", "test_conformance.py"]),
        ("default", ["test_conformance.py", "test_short_dimensions.py"]),
    ],
)
def test_lesser_kernels_give_pytorchs_answers(capability: str, files: list[str]) -> None:
    settings = ["-p", "no:cacheprovider", "-c", str(HERE.parents[1] / "pyproject.toml"), f"--rootdir={HERE.parents[1]}"]
    answer = run(capability, "-m", "pytest", "-q", "-x", *settings, *(str(HERE / file) for file in files))
    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-2000:]
