"""The solver's truth table, asked of a channel made from the rendered recipe; and the table's own rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from slipway.base.errors import UsageError
from slipway.base.platform import LINUX_64
from slipway.checkout.solver_truth import Row, Table, as_markdown, judge, read_table
from slipway.recipe import load_recipe, render

from ..truth_channel import Record, output_records, read_dependencies, write_channel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.model import RenderedOutput

CHECKOUT = Path(__file__).resolve().parents[3]
TABLE = CHECKOUT / "tests/integration/solver_truth.yaml"
DEPENDENCIES = CHECKOUT / "tests/integration/solver_truth_dependencies.yaml"
ROWS = read_table(TABLE).rows


@pytest.fixture(scope="module")
def outputs() -> tuple[RenderedOutput, ...]:
    return render(load_recipe(CHECKOUT / "recipe"), platform=LINUX_64, environ={})


@pytest.fixture(scope="module")
def dependencies() -> list[Record]:
    return read_dependencies(DEPENDENCIES, LINUX_64)


@pytest.fixture(scope="module")
def channel(
    outputs: tuple[RenderedOutput, ...], dependencies: list[Record], tmp_path_factory: pytest.TempPathFactory
) -> str:
    records = [*dependencies, *output_records(outputs, dependencies)]
    return write_channel(tmp_path_factory.mktemp("channel"), records)


@pytest.mark.parametrize("row", ROWS, ids=[f"row{number}" for number in range(1, len(ROWS) + 1)])
def test_solver_chooses_as_the_table_says(row: Row, channel: str) -> None:
    assert [wrong for case in row.cases for wrong in judge(row, case, (channel,))] == []


def _wrong(outputs: tuple[RenderedOutput, ...], dependencies: list[Record], folder: Path) -> Iterator[str]:
    """What is wrong, as it is found: who has seen enough asks the solver no further."""
    url = write_channel(folder, [*dependencies, *output_records(outputs, dependencies)])
    return (wrong for row in ROWS for case in row.cases for wrong in judge(row, case, (url,)))


def _changed(outputs: tuple[RenderedOutput, ...], name: str, **changes: Any) -> tuple[RenderedOutput, ...]:
    def change(output: RenderedOutput) -> RenderedOutput:
        made = {key: value(output) if callable(value) else value for key, value in changes.items()}
        return replace(output, **made) if output.name == name else output

    return tuple(map(change, outputs))


def test_a_plug_in_without_a_word_about_drivers_is_caught(
    outputs: tuple[RenderedOutput, ...], dependencies: list[Record], tmp_path: Path
) -> None:
    def free(output: RenderedOutput) -> Any:
        return replace(output.requirements, run_constrained=())

    loose = [{**record, "constrains": []} if record["name"] == "cuda-version" else record for record in dependencies]
    wrong = _wrong(_changed(outputs, "libtorch-cuda", requirements=free), loose, tmp_path)
    assert any("should be refused for `__cuda`, but installs" in text for text in wrong)


def test_equal_build_numbers_are_caught(
    outputs: tuple[RenderedOutput, ...], dependencies: list[Record], tmp_path: Path
) -> None:
    lower = _changed(outputs, "libtorch", build_number=lambda output: 0 if "mkl" in output.build_string else 100)
    wrong = _wrong(lower, dependencies, tmp_path)
    assert any("libtorch 2.13.0a0 openblas_" in text and "is not mkl_*" in text for text in wrong)


def test_a_pytorch_that_brings_cuda_is_caught(
    outputs: tuple[RenderedOutput, ...], dependencies: list[Record], tmp_path: Path
) -> None:
    def heavy(output: RenderedOutput) -> Any:
        return replace(output.requirements, run=(*output.requirements.run, "cuda-version"))

    wrong = _wrong(_changed(outputs, "pytorch", requirements=heavy), dependencies, tmp_path)
    assert any("cuda-version 13.0 h7bb9a9f_3 must not be there" in text for text in wrong)


def test_page_is_fresh() -> None:
    page = CHECKOUT / "docs/solver-truth.md"
    source = TABLE.relative_to(CHECKOUT).as_posix()
    assert page.read_text(encoding="utf-8") == as_markdown(Table(ROWS), source=source), "run `slipway ci truth`"


def _broken(tmp_path: Path, change: Any) -> Path:
    content = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    change(content)
    path = tmp_path / "table.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content["rows"].pop(), "no row answers: libtorch-cuda, CUDA 13; BLAS unsaid; glibc 2.28"),
        (lambda content: content["rows"].append(content["rows"][0]), "both answer: pytorch; BLAS unsaid; glibc 2.17"),
        (lambda content: content["rows"][1].update(pick={}), "unknown key `rows[1].pick`"),
        (lambda content: content["rows"][0].update(picks={}), "`rows[0]`: needs either `picks` or `refused`"),
        (lambda content: content["rows"][0].update(glibc=["2.5"]), "row 1: `2.5` is no glibc; there is 2.17, 2.28"),
    ],
)
def test_broken_table(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_table(_broken(tmp_path, change))
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n  - {version: '1', build: x, depend: []}\n", r"unknown key `a\[0\].depend`"),
        ("a:\n  - {version: '1'}\n", r"the key `a\[0\].build` is missing"),
    ],
)
def test_broken_dependencies(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "dependencies.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_dependencies(path, LINUX_64)


def test_what_an_output_is_built_with_must_be_known(outputs: tuple[RenderedOutput, ...]) -> None:
    with pytest.raises(UsageError, match="is not among the dependencies"):
        output_records(outputs, [])


def test_exports_of_the_build_and_host_sections(
    outputs: tuple[RenderedOutput, ...], dependencies: list[Record]
) -> None:
    records = output_records(outputs, dependencies)
    (depends,) = [
        record["depends"]
        for record in records
        if record["name"] == "libtorch-cuda" and record["build"].startswith("cuda129")
    ]
    assert "cuda-cudart >=12.9.79,<13.0a0" in depends
    assert "libcublas >=12.9.1.4,<13.0a0" in depends
    assert "__glibc >=2.28,<3.0.a0" in depends
    assert "libtorch >=2.13.0a0,<2.14.0a0" in depends, "our own run_exports count like others'"
    assert not any("mkl" in spec for spec in depends), "the plug-in goes with either BLAS"
