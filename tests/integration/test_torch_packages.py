"""The shipped torch packages, as their users meet them. `slipway ship` brings them up to date first."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.verify.verifier import Verifier

from .conftest import CHECKOUT, ShipTorch, Slipway

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def dist(ship_torch: ShipTorch) -> Iterator[Path]:
    """The output folder with the packages and the environment of this checkout."""
    with ship_torch() as folder:
        yield folder


def run_python(prefix: Path, program: str, *, cwd: Path) -> str:
    """What `program` prints in the environment `prefix`, with an empty environment."""
    command = [str(prefix / "bin/python"), "-c", program]
    answer = subprocess.run(command, env={}, cwd=cwd, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.fixture
def packages(dist: Path) -> dict[str, Path]:
    """The newest package of each name."""
    found = sorted(dist.glob("channel/linux-64/*.conda"), key=lambda path: path.stat().st_mtime)
    return {path.name.rsplit("-", 2)[0]: path for path in found}


def test_second_ship_builds_nothing(dist: Path, slipway: Slipway) -> None:
    answer = slipway("ship", "--dist", dist)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("up to date: made from the same") == 3
    assert "built in" not in answer.stdout


def test_import_loads_nothing_of_cuda(dist: Path, tmp_path: Path) -> None:
    program = "import torch; print(torch.__file__); print(open('/proc/self/maps').read())"
    output = run_python(dist / "env", program, cwd=tmp_path)
    assert output.startswith(str(dist / "env/lib/python3.11/site-packages/torch/__init__.py"))
    assert "libtorch_cpu.so" in output
    for library in ("libcuda", "libcublas", "libtorch_cuda"):
        assert library not in output


def test_only_one_openmp_runtime_whatever_numpy_brings(dist: Path, tmp_path: Path) -> None:
    program = (
        "import numpy, torch; torch.mm(torch.ones(300, 300), torch.ones(300, 300)); numpy.ones((300, 300)) @ "
        "numpy.ones((300, 300)); maps = open('/proc/self/maps').read().split(); "
        "print(len({p.rsplit('/', 1)[1] for p in maps if p.startswith('/') and ('gomp' in p or 'iomp' in p or "
        "'libomp' in p)}))"
    )
    prefix = dist / "work/test-env"
    if not prefix.is_dir():
        prefix = dist / "work/numpy-env"
        command = [
            str(CHECKOUT / "slipway"),
            "install",
            "pytorch",
            "numpy",
            "--prefix",
            str(prefix),
            "--dist",
            str(dist),
        ]
        subprocess.run(command, capture_output=True, check=True)
    assert run_python(prefix, program, cwd=tmp_path).strip() == "1"


def test_packages_split_cleanly(packages: dict[str, Path]) -> None:
    facts = {name: Verifier().facts(path) for name, path in packages.items() if name in ("libtorch", "pytorch")}
    paths = {name: {entry.path for entry in fact.files} for name, fact in facts.items()}
    assert paths["libtorch"].isdisjoint(paths["pytorch"])
    assert {
        "lib/libc10.so",
        "lib/libtorch_cpu.so",
        "lib/libtorch.so",
        "lib/libshm.so",
        "bin/torch_shm_manager",
    } <= paths["libtorch"]
    assert not any("python" in path.split("/")[1] for path in paths["libtorch"] if path.startswith("lib/"))
    assert {path for path in paths["pytorch"] if path.startswith("include/")} == {
        f"include/torch/{name}"
        for name in (
            "extension.h",
            "python.h",
            "csrc/python_api.h",
            "csrc/autograd/python_variable.h",
            "csrc/utils/pybind.h",
        )
    }, "what extensions include, and nothing of the bindings' own"
    assert not any(path.startswith(("include/torch/csrc/utils/", "include/pybind11/")) for path in paths["libtorch"])
    assert not any(entry.prefix_mode == "binary" for fact in facts.values() for entry in fact.files)
    for fact in facts.values():
        assert fact.about["license"] == "BSD-3-Clause"
        assert fact.licence_files == ("LICENSE",)


def test_installed_metadata(dist: Path) -> None:
    records = {}
    for path in (dist / "env/conda-meta").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        records[record["name"]] = record
    assert any(spec.startswith("libtorch ==2.13.0a0 *_0") for spec in records["pytorch"]["depends"])
    assert not any("cuda" in spec for spec in records["pytorch"]["depends"])
    assert any(spec.startswith("mkl >=") for spec in records["libtorch"]["depends"])


def test_patched_package_finds_its_headers_from_a_virtual_environment(dist: Path, tmp_path: Path) -> None:
    """What patches/0001 is for: sys.prefix is the virtual environment's, the headers are the conda environment's."""
    prefix = dist / "work/extension-env"
    command = [str(CHECKOUT / "slipway"), "install", "pytorch", "setuptools", "--prefix", str(prefix)]
    subprocess.run([*command, "--dist", str(dist)], capture_output=True, check=True)
    virtual = tmp_path / "venv"
    make = [str(prefix / "bin/python"), "-m", "venv", "--system-site-packages", "--without-pip", str(virtual)]
    subprocess.run(make, check=True)
    program = (
        "from torch.utils import cpp_extension; print(cpp_extension.include_paths(), cpp_extension.library_paths())"
    )
    package_libraries = prefix / "lib/python3.11/site-packages/torch/lib"
    expected = f"['{prefix}/include'] ['{package_libraries}', '{prefix}/lib']"
    assert run_python(virtual, program, cwd=tmp_path).strip() == expected
    source = (CHECKOUT / "src/torch/utils/_extension_paths.py").read_text(encoding="utf-8")
    assert "Path(sys.prefix)" in source, "the sources do without sys.prefix by now: drop the patch"
