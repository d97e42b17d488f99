"""Which CUDA an environment gets from the embedded channel: its descriptions and our rendered recipe, nothing built."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.platform import LINUX_64
from slipway.bootstrap.choices import DATA, ChannelRequest, embedded_choices
from slipway.bootstrap.inventory import read_inventory
from slipway.bootstrap.pins import embedded_pins
from slipway.checkout.solver_truth import Row, SimulatedHost, SolverCase, judge
from slipway.recipe import load_recipe, render
from slipway.recipe.choose import CUDA_KEY

from ..truth_channel import Build, Record, output_records, write_channel

if TYPE_CHECKING:
    from slipway.bootstrap.description import PackageDescription
    from slipway.model import RenderedOutput

CHECKOUT = Path(__file__).resolve().parents[3]
CUDAS = embedded_choices().cudas


def _record(description: PackageDescription) -> Record:
    exports = {"weak": description.run_exports.weak, "strong": description.run_exports.strong}
    digest = hashlib.sha256(description.fingerprint.encode()).hexdigest()[:7]
    return Build(
        description.version,
        f"h{digest}_{description.build_number}{description.build_suffix}",
        description.build_number,
        depends=description.depends,
        constrains=description.constrains,
        subdir=description.subdir,
        run_exports=exports,
    ).as_record(description.name)


@pytest.fixture(scope="module")
def outputs() -> tuple[RenderedOutput, ...]:
    recipe = load_recipe(CHECKOUT / "recipe")
    variants = {CUDA_KEY: list(CUDAS), "blas_impl": ["mkl"]}
    return render(recipe, embedded_pins({}), platform=LINUX_64, environ={}, variants=variants)


@pytest.fixture(scope="module")
def channel(outputs: tuple[RenderedOutput, ...], tmp_path_factory: pytest.TempPathFactory) -> str:
    request = ChannelRequest(CUDAS, names=("libgloo", "nccl"))
    records = [_record(one) for one in read_inventory(DATA).select(request, {"3.11": "3.11.7"})]
    return write_channel(tmp_path_factory.mktemp("channel"), [*records, *output_records(outputs, records)])


def test_everything_but_the_plug_in_is_made_once(outputs: tuple[RenderedOutput, ...]) -> None:
    built = [
        output.name for output in outputs if output.name in ("libtorch", "pytorch", "libtorch-cuda", "pytorch-gpu")
    ]
    assert sorted(built) == sorted(["libtorch", "pytorch", *["libtorch-cuda", "pytorch-gpu"] * len(CUDAS)])


@pytest.mark.parametrize(
    ("driver", "specs", "cuda"),
    [
        (None, ("pytorch-gpu",), "13.5"),  # images are built on machines without a driver
        ("11.8", ("pytorch-gpu",), None),
        ("12.0", ("pytorch-gpu",), "12.4"),  # within a major version older drivers run newer code
        ("12.4", ("pytorch-gpu",), "12.4"),
        ("12.9", ("pytorch-gpu",), "12.4"),
        ("13.0", ("pytorch-gpu",), "13.5"),
        ("13.5", ("pytorch-gpu",), "13.5"),
        ("12.4", ("pytorch", "libtorch-cuda"), "12.4"),
        ("13.5", ("pytorch", "libtorch-cuda"), "13.5"),
        ("13.5", ("pytorch", "libtorch-cuda", "cuda-version 12.4.*"), "12.4"),
        ("13.5", ("pytorch-gpu", "cuda-version 13.0.*"), "13.0"),
        ("12.9", ("pytorch-gpu", "cuda-version 13.0.*"), None),
    ],
)
def test_cuda_for_a_driver(channel: str, driver: str | None, specs: tuple[str, ...], cuda: str | None) -> None:
    _check(channel, driver, specs, cuda)


@pytest.mark.parametrize("driver", [None, "11.8", "12.0", "12.4", "12.9", "13.0", "13.5"])
@pytest.mark.parametrize("cuda", CUDAS)
@pytest.mark.parametrize("name", ["pytorch-gpu", "libtorch-cuda", "libtorch-distributed-nccl"])
def test_each_build_goes_with_drivers_from_its_major_version_on(
    channel: str, name: str, cuda: str, driver: str | None
) -> None:
    specs = (name, "libtorch-cuda", "pytorch", f"cuda-version {cuda}.*")
    goes = driver is None or int(driver.partition(".")[0]) >= int(cuda.partition(".")[0])
    _check(channel, driver, specs, cuda if goes else None)


def _check(channel: str, driver: str | None, specs: tuple[str, ...], cuda: str | None) -> None:
    """The solver takes the build for `cuda`, with NVIDIA's libraries for it; None: it refuses, by the driver."""
    case = SolverCase(" ".join(specs), "unsaid", SimulatedHost(driver, "2.36"), specs)
    picks = {
        "libtorch-cuda": f"cuda{(cuda or '').replace('.', '')}_*",
        "cuda-version": cuda or "",
        "libcublas": f"{(cuda or '').partition('.')[0]}.*",
    }
    row = Row((case,), picks if cuda else {}, (), (), None if cuda else "__cuda", "")
    assert judge(row, case, (channel,)) == []
