"""Targets as CMake really writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.observe.modules import Module, merge, read_modules
from slipway.observe.ninja import parse_build

DATA = Path(__file__).parent / "data/cmake"
"""A project, and the file that CMake 3.25 wrote for it."""


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    edges = parse_build((DATA / "build.ninja").read_text(encoding="utf-8"))
    return {module.name: module for module in read_modules(edges, [])}


def test_kinds_and_files(modules: dict[str, Module]) -> None:
    assert {name: module.kind for name, module in modules.items()} == {
        "base": "shared library",
        "extra": "module",
        "parts": "objects",
        "make_header": "generator",
        "far": "external",
        "near": "external",
    }
    assert modules["base"].file == "libbase.so.2.1"
    assert modules["extra"].sources == 1
    assert modules["far"].file == "libfar.so.3"


def test_links_and_waits(modules: dict[str, Module]) -> None:
    assert set(modules["extra"].links) == {"parts", "base", "far", "near"}
    assert modules["extra"].waits == ("make_header",)
    assert modules["base"].links == ()
    assert modules["base"].waits == ()


def test_outputs_are_merged_where_one_builds_what_another_links() -> None:
    first = [Module("torch_cpu", "shared library", "libtorch_cpu.so", 9, 50.0)]
    second = [
        Module("torch_cuda", "shared library", "libtorch_cuda.so", 3, 9.0, links=("torch_cpu", "cudart")),
        Module("torch_cpu", "external", "libtorch_cpu.so"),
        Module("cudart", "external", "libcudart.so.13"),
    ]
    merged = merge([("libtorch", first), ("libtorch-cuda", second)])
    assert [(output, module.name) for output, module in merged] == [
        ("libtorch", "torch_cpu"),
        ("libtorch-cuda", "torch_cuda"),
        ("", "cudart"),
    ]
    assert merged[1][1].links == ("torch_cpu", "cudart")
