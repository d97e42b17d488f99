"""What the embedded channel makes on demand: each package in an environment of its own, whole and used."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.base.log import NullReporter
from slipway.bootstrap.choices import names_on_demand
from slipway.bootstrap.described import missing_libraries
from slipway.bootstrap.embedded import embedded_channel
from slipway.channel.environments import install, package_names, solve

pytestmark = pytest.mark.network

USES: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "packages_on_demand.yaml").read_text(encoding="utf-8")
)
USED = sorted((kind, name) for kind, names in USES.items() for name in names)


@pytest.fixture(scope="module")
def channel() -> str:
    return embedded_channel({}, NullReporter(), needs=names_on_demand(), offline=False).url


@pytest.fixture(scope="module")
def cuda_channel() -> str:
    return embedded_channel({"cuda_compiler_version": "13.0"}, NullReporter(), needs=USES["cuda"], offline=False).url


@pytest.fixture(scope="module")
def compiler(channel: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("compiler") / "prefix"
    install(solve(["gxx_linux-64"], (channel,)), prefix, NullReporter())
    return prefix / "bin" / "x86_64-conda-linux-gnu-g++"


def run(command: list[str | Path], folder: Path, prefix: Path) -> str:
    """What a command says that finds the environment's programs and the shell's few."""
    answer = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": f"{prefix}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder), "PREFIX": str(prefix),
             "MKL_THREADING_LAYER": "GNU"},  # which activation of the environment would set
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout + answer.stderr


@pytest.mark.parametrize(("kind", "name"), USED, ids=[name for _, name in USED])
def test_package(kind: str, name: str, compiler: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    specs = [name, "cuda-cudart-dev", "cuda-crt-dev_linux-64"] if kind == "cuda" else [name]
    solution = solve(specs, (request.getfixturevalue("cuda_channel" if kind == "cuda" else "channel"),))
    install(solution, prefix, NullReporter())
    asked = {package.name for package in solution.packages} & names_on_demand()
    assert [line for one in sorted(asked) for line in missing_libraries(prefix, one)] == []
    use = USES[kind][name]
    if kind == "import":
        run([prefix / "bin/python", "-c", f"import {use}"], tmp_path, prefix)
    elif kind == "run":
        assert use["holds"] in run(use["command"], tmp_path, prefix)
    else:
        code = [*(f"#include <{include}>" for include in use["includes"]), f"int main() {{ {use['code']} }}"]
        (tmp_path / "use.cpp").write_text("\n".join(code), encoding="utf-8")
        flags = [flag.replace("-I", f"-I{prefix}/") for flag in use.get("flags", ())]
        links = [f"-l{library}" for library in use.get("libraries", ())]
        headers = [f"-isystem{prefix}/{folder}include" for folder in ("", "targets/x86_64-linux/")]
        where = [*headers, f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-Wl,--no-undefined"]
        run([compiler, "-std=c++17", *where, *flags, "use.cpp", *links, "-o", "use"], tmp_path, prefix)
        run([tmp_path / "use"], tmp_path, prefix)


def test_every_package_is_used_or_needed_by_one_that_is(channel: str) -> None:
    """So that each has been in an environment, and was found whole there."""
    others = {"rust_linux-64", "gfortran_linux-64"}  # used by tests/integration/test_recipes.py
    others |= {name for name in names_on_demand() if name.endswith("aarch64")}  # by tests/integration/test_cross.py
    seen = {package.name for kind, name in USED if kind != "cuda" for package in solve([name], (channel,)).packages}
    assert (names_on_demand() & package_names((channel,))) - seen <= others
