"""`slipway ship --cuda 13.0`: the add-on's packages, and a process that may or may not find a device."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import ShipTorch

PROGRAM = """
import json, torch

def loaded(name):
    return name in open("/proc/self/maps").read()

facts = {"before": loaded("libtorch_cuda.so") or loaded("libcudart")}
facts["available"] = torch.cuda.is_available()
facts["plugin"] = loaded("libtorch_cuda.so")
facts["linalg"] = loaded("libtorch_cuda_linalg") or loaded("libcublas")
facts["reason"] = "" if facts["available"] else torch.cuda.unavailable_reason()
facts["version"] = torch.version.cuda
try:
    facts["product"] = (torch.ones(2, 3, device="cuda") @ torch.ones(3, 2, device="cuda")).cpu().tolist()
except RuntimeError as error:
    facts["error"] = str(error)
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def dist(ship_torch: ShipTorch) -> Iterator[Path]:
    """The output folder with the CUDA packages and the environment that holds them."""
    with ship_torch("--cuda", "13.0") as folder:
        yield folder


def test_the_add_on_is_three_more_packages(dist: Path) -> None:
    names = {path.name.rsplit("-", 2)[0] for path in dist.glob("channel/linux-64/*.conda")}
    assert {"libtorch", "libtorch-cuda", "libtorch-distributed-nccl", "pytorch", "pytorch-gpu"} <= names
    assert len(list(dist.glob("channel/linux-64/libtorch-cuda-*-cuda130_h*.conda"))) == 1


def test_cuda_is_loaded_when_asked_for_and_says_why_it_cannot_be_used(dist: Path, tmp_path: Path) -> None:
    command = [str(dist / "env/bin/python"), "-c", PROGRAM]
    answer = subprocess.run(command, env={}, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    facts = json.loads(answer.stdout)
    assert not facts["before"], "import torch must not load CUDA"
    assert facts["plugin"]
    assert facts["version"] == "13.0"
    assert not facts["linalg"], "cuBLAS is loaded with the first matrix product"
    if facts["available"]:
        assert facts["product"] == [[3, 3], [3, 3]]
    else:
        assert "driver" in facts["reason"]
        assert facts["reason"] in facts["error"]
