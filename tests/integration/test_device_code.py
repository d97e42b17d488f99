"""Our reader of fat binaries against NVIDIA's: what nvcc puts in, however packed, is what both find.

SLIPWAY_TEST_CUDA=12.4 asks another nvcc than CI does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from slipway.verify.elf import read_elf

if TYPE_CHECKING:
    from pathlib import Path

CUDA = os.environ.get("SLIPWAY_TEST_CUDA", "13.0")
OLDER = CUDA.startswith("12.")

SOURCE = """
__global__ void twice(float* values) { values[threadIdx.x] *= 2; }
extern "C" void launch(float* values) { twice<<<1, 32>>>(values); }
"""

PROGRAM = """
from pathlib import Path
import os, sys
from slipway.channel.environments import install, solve
from slipway.base.log import NullReporter
from slipway.bootstrap.embedded import embedded_channel
channel = embedded_channel({"cuda_compiler_version": sys.argv[2]}, NullReporter(), offline=False)
install(solve(["cuda-nvcc", "cuda-cuobjdump"], [channel.url]), Path(sys.argv[1]), NullReporter())
os._exit(0)  # the solver's threads may outlive the interpreter, and crash; everything is written
"""


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nvcc and cuobjdump."""
    prefix = tmp_path_factory.mktemp("toolkit") / "prefix"
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", PROGRAM, str(prefix), CUDA], env=environment, check=True)
    return prefix


def run(prefix: Path, script: str, cwd: Path) -> str:
    """What a script prints in the activated environment."""
    activate = 'for file in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do . "$file"; done\n'
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "CONDA_PREFIX": str(prefix), "HOME": str(cwd)}
    answer = subprocess.run(
        ["bash", "-ec", activate + script], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.mark.parametrize(
    "packing", ["", *(["-Xfatbin=-compress-all"] if OLDER else ["--compress-mode=size", "--no-compress"]), "-rdc=true"]
)
@pytest.mark.parametrize(
    "codes",
    [
        ("sm_80",),
        ("sm_80", "sm_90", "compute_90"),
        ("compute_80", "sm_60", "sm_89") if OLDER else ("compute_80", "sm_100", "sm_120"),
    ],
)
def test_reader_agrees_with_cuobjdump(toolkit: Path, tmp_path: Path, packing: str, codes: tuple[str, ...]) -> None:
    (tmp_path / "a.cu").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "b.cu").write_text(SOURCE.replace("twice", "again").replace("launch", "relaunch"), encoding="utf-8")
    wanted = " ".join(f"-gencode arch=compute_{code.partition('_')[2]},code={code}" for code in codes)
    run(toolkit, f"nvcc {packing} {wanted} -Xcompiler -fPIC -shared -o lib.so a.cu b.cu", tmp_path)
    found = {str(code) for code in read_elf((tmp_path / "lib.so").read_bytes()).device_code}
    listing = run(toolkit, "cuobjdump --list-elf lib.so; cuobjdump --list-ptx lib.so", tmp_path)
    theirs = set(re.findall(r"\.(sm_\d+)\.cubin", listing))
    theirs |= {name.replace("sm_", "compute_") for name in re.findall(r"\.(sm_\d+)\.ptx", listing)}
    assert found == theirs
    # Code that is linked on the device side is final: PTX does not survive it.
    linked = packing == "-rdc=true"
    assert found == {code for code in codes if not (linked and code.startswith("compute"))}
