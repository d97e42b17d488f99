"""libmagma by our recipe, and libtorch-cuda with it: what can be seen of both without a device."""

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
    not {"SLIPWAY_TEST_MAGMA", "DEBIAN_MIRROR"} <= set(os.environ),
    reason="compiles MAGMA, and libtorch-cuda with it: SLIPWAY_TEST_MAGMA=1, and DEBIAN_MIRROR for its sources",
)

PROGRAM = """
import json, torch

facts = {"has_magma": torch.cuda.has_magma}
facts["available"] = torch.cuda.is_available()
maps = open("/proc/self/maps").read()
facts["loaded"] = [name for name in ("libmagma", "libtorch_cuda_magma") if name in maps]
print(json.dumps(facts))
"""

# As libtorch_cuda calls it (aten/native/cuda/solver/Solver.h), and LAPACK as MAGMA does.
CALL = """
import ctypes, json, re, sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_void_p

class Call(ctypes.Structure):
    _fields_ = [("is_double", c_int), ("is_complex", c_int), ("batches", c_int64), *((n, c_void_p) for n in "abc")]

class Stack(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("rows", c_int64), ("columns", c_int64)]

library = ctypes.CDLL(sys.prefix + "/lib/libtorch_cuda_magma.so", mode=2)  # RTLD_NOW: every symbol
library.torch_cuda_magma_solvers.restype = POINTER(c_void_p)
solvers = library.torch_cuda_magma_solvers()
cholesky = ctypes.CFUNCTYPE(c_char_p, POINTER(Call), Stack, c_void_p, c_int, c_void_p)(solvers[0])
facts = {"error": cholesky(byref(Call(1, 0, 1)), Stack(None, 4, 4), None, 0, None).decode()}

size, info = 300, c_int(-1)
matrix = (c_double * (size * size))(*(4.0 * (i % (size + 1) == 0) for i in range(size * size)))
library.dpotrf_(b"L", byref(c_int(size)), matrix, byref(c_int(size)), byref(info))
facts["factor"] = [info.value, matrix[0], matrix[size * size - 1]]
facts["runtimes"] = sorted(set(re.findall(r"lib(?:gomp|i?omp5?)[.]so", open("/proc/self/maps").read())))
print(json.dumps(facts))
"""


@pytest.fixture(scope="module")
def environment(ship_torch: ShipTorch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pytorch-gpu is installed, built with the MAGMA of our recipe."""
    prefix = tmp_path_factory.mktemp("magma") / "env"
    with ship_torch("--cuda", "13.0", "--no-install") as dist:
        magma = [str(CHECKOUT / "slipway"), "ship", str(CHECKOUT / "recipe/third_party/libmagma")]
        subprocess.run([*magma, "--cuda", "13.0", "--dist", str(dist)], check=True)
    wanted = ("--cuda", "13.0", "--variants", "{libmagma_devel: 2.9.0}")
    with ship_torch(*wanted, "--no-install") as dist:
        install = [str(CHECKOUT / "slipway"), "install", "--dist", str(dist), "--prefix", str(prefix)]
        build = name_build(dist, "libtorch-cuda", *wanted)
        subprocess.run([*install, "--cuda", "13.0", "pytorch-gpu", build], check=True)
    return prefix


def answer(environment: Path, program: str) -> dict[str, object]:
    """What a program says in an environment that nobody activated."""
    command = [str(environment / "bin/python"), "-c", program]
    found = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    facts: dict[str, object] = json.loads(found.stdout)
    return facts


def test_magma_is_there_and_not_loaded(environment: Path) -> None:
    facts = answer(environment, PROGRAM)
    assert facts["has_magma"]
    assert not facts["loaded"]


def test_every_symbol_resolves_and_threads_are_libtorchs(environment: Path) -> None:
    """Without a device MAGMA says so; LAPACK behind it works, on the one OpenMP runtime that libtorch has."""
    facts = answer(environment, CALL)
    if not answer(environment, PROGRAM)["available"]:
        assert facts["error"]
    assert facts["factor"] == [0, 2, 2]
    assert facts["runtimes"] == ["libgomp.so"]
