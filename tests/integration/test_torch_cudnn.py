"""libtorch-cuda with cuDNN: what can be seen of it without a device."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from .conftest import CHECKOUT, ShipTorch, name_build

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    "SLIPWAY_TEST_CUDNN" not in os.environ,
    reason="fetches 350 MB, and compiles libtorch-cuda: SLIPWAY_TEST_CUDNN=1",
)

PROGRAM = """
import ctypes, json, sys, torch

def is_loaded():
    return "libcudnn" in open("/proc/self/maps").read()

cudnn = torch.backends.cudnn
facts = {"available": cudnn.is_available(), "switches": [cudnn.enabled, cudnn.benchmark, cudnn.benchmark_limit]}
facts["device"] = torch.cuda.is_available()
facts["loaded"] = is_loaded()
facts["version"] = cudnn.version()
facts["loaded by version"] = is_loaded()

# As libtorch_cuda calls it (aten/native/cuda/dnn/Convolution.h).
library = ctypes.CDLL(sys.prefix + "/lib/libtorch_cuda_dnn.so", mode=2)  # RTLD_NOW: every symbol
library.torch_cuda_convolution.restype = ctypes.c_char_p
given, done = (ctypes.c_int * 64)(), ctypes.c_int(-1)
facts["error"] = (library.torch_cuda_convolution(given, ctypes.byref(done)) or b"").decode()
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def environment(ship_torch: ShipTorch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pytorch-gpu is installed, built with cuDNN."""
    prefix = tmp_path_factory.mktemp("cudnn") / "env"
    wanted = ("--cuda", "13.0", "--variants", "{cudnn: 9}")
    with ship_torch(*wanted, "--no-install") as dist:
        install = [str(CHECKOUT / "slipway"), "install", "--dist", str(dist), "--prefix", str(prefix)]
        build = name_build(dist, "libtorch-cuda", *wanted)
        subprocess.run([*install, "--cuda", "13.0", "pytorch-gpu", build], check=True)
    return prefix


def test_it_is_loaded_when_first_used(environment: Path) -> None:
    command = [str(environment / "bin/python"), "-c", PROGRAM]
    found = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    facts = json.loads(found.stdout)
    assert facts["available"]
    assert facts["switches"] == [True, False, 10]
    assert not facts["loaded"]
    assert 90000 <= facts["version"] < 100000
    assert facts["loaded by version"]
    if not facts["device"]:
        assert facts["error"]
