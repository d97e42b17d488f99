"""The activation scripts, in the shells that source them: they survive `set -eu`, and deactivation puts all back."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from slipway.bootstrap.choices import DATA

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = DATA / "files" / "activation"
PAIRS = [
    ("activate-gcc.sh", "deactivate-gcc.sh"),
    ("activate-gxx.sh", "deactivate-gxx.sh"),
    ("activate-gfortran_linux-64.sh", "deactivate-gfortran_linux-64.sh"),
    ("activate-rust_linux-64.sh", "deactivate-rust_linux-64.sh"),
    ("~cuda-nvcc_activate.sh", "~cuda-nvcc_deactivate.sh"),
    ("activate-mkl.sh", "deactivate-mkl.sh"),
]
SHARED = ("activate-gcc.sh", "activate-gxx.sh")
BUILD = {"CONDA_BUILD": "1", "PREFIX": "/host", "BUILD_PREFIX": "/build", "SRC_DIR": "/work dir", "PKG_NAME": "toy"}


def environment_after(shell: str, lines: list[str], given: dict[str, str]) -> dict[str, str]:
    """The environment after sourcing, without what the shell itself changes."""
    script = "\n".join(["set -eu", *lines, "env -0"])
    ended = subprocess.run([shell, "-c", script], env=given, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    pairs = (item.partition("=") for item in ended.stdout.split("\0") if item)
    return {name: value for name, _, value in pairs if name not in ("_", "SHLVL", "PWD", "OLDPWD")}


def source(*names: str, triplet: str = "x86_64-conda-linux-gnu") -> list[str]:
    settings = f"_slipway_triplet={triplet} _slipway_machine='-march=ours '\n"
    return [f'{settings if name in SHARED else ""}. "{FOLDER / name}"' for name in names]


@pytest.mark.parametrize("shell", ["bash", "dash"])
@pytest.mark.parametrize("given", [{}, BUILD, {"CFLAGS": "-g 'x y'", "CC": "mine", "CUDA_PATH": "/c"}], ids=str)
def test_deactivation_puts_everything_back(shell: str, given: dict[str, str]) -> None:
    assert shutil.which(shell), f"{shell} is part of Debian"
    before = {"CONDA_PREFIX": "/prefix", "PATH": "/usr/bin:/bin", **given}
    activated = environment_after(shell, source(*(pair[0] for pair in PAIRS)), before)
    assert activated["CC"].endswith("/bin/x86_64-conda-linux-gnu-gcc")
    assert activated["CUDAHOSTCXX"] == activated["CXX"]
    everything = source(*(pair[0] for pair in PAIRS), *(pair[1] for pair in reversed(PAIRS)))
    assert environment_after(shell, everything, before) == before


def test_every_script_is_tested() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {name for pair in PAIRS for name in pair}


def test_a_build_maps_every_path_away() -> None:
    given = {"CONDA_PREFIX": "/build", "PATH": "/usr/bin:/bin", **BUILD}
    activated = environment_after("bash", source(*(pair[0] for pair in PAIRS)), given)
    for name in ("CFLAGS", "CXXFLAGS"):
        assert "-ffile-prefix-map=/host=/usr/local/src/conda-prefix" in activated[name]
        assert "-ffile-prefix-map=/work dir=/usr/local/src/conda/toy-0" in activated[name]
        assert "-isystem /host/include" in activated[name]
    assert "-Xcompiler=-ffile-prefix-map=/host=/usr/local/src/conda-prefix" in activated["NVCC_APPEND_FLAGS"]
    assert activated["CC"].startswith("/build/bin/")
    assert "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY" in activated["CMAKE_ARGS"]
    assert activated["CMAKE_PREFIX_PATH"] == "/host"
    assert "CUDA_PATH" not in activated
    assert "CUDA_HOME" not in activated


def test_where_conda_build_tests_the_compilers_of_the_tests_environment_count() -> None:
    """It leaves BUILD_PREFIX set meanwhile."""
    given = {"CONDA_PREFIX": "/host", "PATH": "/usr/bin:/bin", **BUILD, "CONDA_BUILD_STATE": "TEST"}
    activated = environment_after("bash", source(*(pair[0] for pair in PAIRS)), given)
    plain = environment_after(
        "bash", source(*(pair[0] for pair in PAIRS)), {"CONDA_PREFIX": "/host", "PATH": given["PATH"]}
    )
    assert {name: activated[name] for name in plain} == plain
    assert not [name for name in activated.keys() - given.keys() if "/build" in activated[name]]


@pytest.mark.parametrize(("state", "build", "host"), [("BUILD", "/build", "/host"), ("TEST", "/prefix", "/host")])
def test_compilers_for_another_processor_say_so(state: str, build: str, host: str) -> None:
    given = {"CONDA_PREFIX": "/prefix", "PATH": "/usr/bin:/bin", **BUILD, "CONDA_BUILD_STATE": state}
    activated = environment_after("bash", source(*SHARED, triplet="aarch64-conda-linux-gnu"), given)
    assert activated["CXX"] == f"{build}/bin/aarch64-conda-linux-gnu-g++"
    assert activated["CC_FOR_BUILD"] == f"{build}/bin/x86_64-conda-linux-gnu-gcc"
    assert (activated["HOST"], activated["BUILD"]) == ("aarch64-conda-linux-gnu", "x86_64-conda-linux-gnu")
    assert activated["CONDA_BUILD_CROSS_COMPILATION"] == "1"
    assert activated["CONDA_BUILD_SYSROOT"] == f"{build}/aarch64-conda-linux-gnu/sysroot"
    assert "-DCMAKE_SYSTEM_PROCESSOR=aarch64" in activated["CMAKE_ARGS"]
    assert f"-DCMAKE_FIND_ROOT_PATH={host};" in activated["CMAKE_ARGS"]
    assert f"-isystem {host}/include" in activated["CXXFLAGS"]


def test_the_users_flags_stay_in_front_or_behind() -> None:
    given = {"CONDA_PREFIX": "/p", "PATH": "/usr/bin:/bin", "CXXFLAGS": "-DMINE", "LDFLAGS": "-lmine"}
    activated = environment_after("bash", source(*(pair[0] for pair in PAIRS)), given)
    assert "-DMINE" in activated["CXXFLAGS"]
    assert "-lmine" in activated["LDFLAGS"]


@pytest.mark.parametrize(("layer", "expected"), [(None, "GNU"), ("TBB", "TBB")])
def test_mkl_layer(layer: str | None, expected: str, tmp_path: Path) -> None:
    given = {"CONDA_PREFIX": str(tmp_path), "PATH": "/usr/bin:/bin"} | ({"MKL_THREADING_LAYER": layer} if layer else {})
    assert environment_after("bash", source("activate-mkl.sh"), given)["MKL_THREADING_LAYER"] == expected


def test_mkl_layer_with_intels_threads(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmkl_intel_thread.so.2").touch()
    given = {"CONDA_PREFIX": str(tmp_path), "PATH": "/usr/bin:/bin"}
    assert "MKL_THREADING_LAYER" not in environment_after("bash", source("activate-mkl.sh"), given)
