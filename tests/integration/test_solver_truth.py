"""The same truth table, asked of the packages that were really built and of the embedded channel below them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.base.log import NullReporter
from slipway.bootstrap.embedded import embedded_channel
from slipway.channel.folder import Channel
from slipway.checkout.solver_truth import Row, SolverCase, judge, read_table

from .conftest import CHECKOUT, ShipTorch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = read_table(CHECKOUT / "tests/integration/solver_truth.yaml").rows


class Shipped:
    """The channel of this checkout: what it holds, and which machines it is for."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / "linux-64/repodata.json").read_text(encoding="utf-8"))
        self.records = [record for record in index["packages.conda"].values() if record["version"] == _version()]
        # Every part of the embedded channel that the packages were built from, as one who installs them names it.
        cuda = "13.0" if self.builds("libtorch-cuda") else None
        kinds = [blas for blas in ("mkl", "openblas") if any(blas in build for build in self.builds("libtorch"))]
        variants = [{"blas_impl": blas} | ({"cuda_compiler_version": cuda} if cuda else {}) for blas in kinds]
        needs = ["nccl"] if self.builds("libtorch-distributed-nccl") else []
        embedded = [embedded_channel(variant, NullReporter(), needs=needs, offline=False).url for variant in variants]
        self.channels = (Channel(folder).url, *embedded)

    def builds(self, name: str) -> list[str]:
        """The build strings of an output of ours."""
        return [record["build"] for record in self.records if record["name"] == name]

    @property
    def pythons(self) -> list[str]:
        """``py311``, in order."""
        return sorted(build.partition("_")[0] for build in self.builds("pytorch"))

    @property
    def glibc(self) -> str:
        """What libtorch was built for."""
        found = {
            match[1] for record in self.records for spec in record["depends"]
            if (match := re.match(r"__glibc >=([\d.]+)", spec))
        }  # fmt: skip
        return max(found, key=lambda version: [int(part) for part in version.split(".")])

    def here(self, row: Row) -> Row | None:
        """What `row` asks of this channel: of hosts that it is for, with the newest Python that there is.

        None where the row is about a variant that was not built.
        """
        python = {"pytorch": f"{self.pythons[-1]}_*"} if "pytorch" in row.picks else {}
        picks = {**row.picks, **python}
        cases = tuple(case for case in row.cases if case.host.glibc == self.glibc and self.asked_for_what_is_here(case))
        if picks.get("libtorch-cuda") == "cuda129_*" and not any(
            "cuda129" in build for build in self.builds("pytorch-gpu")
        ):
            return replace(row, refused="__cuda", picks={}, never=(), just_one=(), cases=cases) if cases else None
        for name in ("libtorch", "libtorch-cuda", "pytorch-gpu"):
            wanted = picks.get(name, "*").removesuffix("*")
            if name in picks and not any(build.startswith(wanted) for build in self.builds(name)):
                return None
        return replace(row, picks=picks, cases=cases) if cases else None

    def asked_for_what_is_here(self, case: SolverCase) -> bool:
        """Whether each of our packages that it names is there in the variant, and for the CUDA, that it names."""
        own = [spec.split() for spec in case.specs]
        cudas = [f"cuda{words[1].removesuffix('.*')}" for words in own if words[0] == "cuda-version"]
        if not all(any(build.startswith(cuda) for build in self.builds("libtorch-cuda")) for cuda in cudas):
            return False
        named = [words for words in own if words[0] in ("libtorch", "libtorch-cuda", "pytorch", "pytorch-gpu")]
        return all(
            any(len(words) < 3 or build.startswith(words[2].rstrip("*")) for build in self.builds(words[0]))
            for words in named
        )


def _version() -> str:
    return (CHECKOUT / "src/version.txt").read_text(encoding="utf-8").strip()


@pytest.fixture(scope="module")
def shipped(ship_torch: ShipTorch) -> Iterator[Shipped]:
    """The packages of `slipway ship` with CUDA and for either BLAS, which takes a moment if nothing changed."""
    with ship_torch("--cuda", "13.0", "--no-install"):
        pass
    with ship_torch("--blas", "openblas", "--no-install") as dist:
        yield Shipped(dist / "channel")


def test_solver_chooses_as_the_table_says(shipped: Shipped) -> None:
    asked = [row for row in map(shipped.here, ROWS) if row is not None]
    wrong = [text for row in asked for case in row.cases for text in judge(row, case, shipped.channels)]
    assert wrong == []
    cases = [case for row in asked for case in row.cases]
    everything = [case for row in ROWS for case in row.cases]
    assert {case.request for case in cases} == {
        case.request for case in everything if shipped.asked_for_what_is_here(case)
    }
    assert {(case.host.driver, case.blas) for case in cases} == {
        (case.host.driver, case.blas) for case in everything
    }, "every driver with every BLAS, on the glibc that the packages are built for"


def test_older_machines_are_refused(shipped: Shipped) -> None:
    for row in ROWS:
        refused = replace(row, refused="__glibc", picks={})
        for case in row.cases:
            older = float(case.host.glibc) < float(shipped.glibc)
            if older and case.host.driver is None and shipped.asked_for_what_is_here(case):
                assert judge(refused, case, shipped.channels) == []
