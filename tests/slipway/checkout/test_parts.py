"""`slipway test` knows every test, once, and each room can be run alone."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from slipway.base.errors import UsageError
from slipway.base.log import NullReporter
from slipway.checkout.parts import find_parts, select_rooms
from slipway.commands import test as command

TESTS = Path(__file__).resolve().parents[2]


def files_of(part: str) -> list[Path]:
    paths = [path for paths in find_parts()[part].rooms.values() for path in paths]
    return [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("test_*.py")))]


def test_every_file_of_tests_is_in_a_room_of_its_part() -> None:
    everything = set(TESTS.rglob("test_*.py"))
    units, torch = files_of("unit"), files_of("torch")
    assert len(units) == len(set(units)), "each once"
    assert len(torch) == len(set(torch)), "each once"
    in_integration = set(TESTS.glob("integration/test_*.py"))
    assert everything == {*units, *torch, *in_integration}
    assert set(files_of("integration")) == {*units, *in_integration}


def test_what_is_asked_for_in_the_order_of_the_parts() -> None:
    parts = find_parts()
    assert list(select_rooms(parts, [])) == ["lint", "unit", "ship", "ctest", "torch", "emulation", "integration"]
    assert select_rooms(parts, ["sanitizers"]) == {"sanitizers": ("address", "thread")}, "only where it is asked for"
    chosen = select_rooms(parts, ["torch", "unit/recipe", "unit/base", "lint/mypy"])
    assert list(chosen) == ["lint", "unit", "torch"]
    assert chosen["lint"] == ("mypy",)
    assert chosen["unit"] == ("base", "recipe")
    assert chosen["torch"] == tuple(parts["torch"].rooms)
    assert set(select_rooms(parts, ["unit", "unit/base"])["unit"]) == set(parts["unit"].rooms)


@pytest.mark.parametrize(
    ("word", "message"), [("units", "no part `units`"), ("unit/cellar", "no room `unit/cellar`"), ("ship/x", "no room")]
)
def test_what_is_not_there(word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select_rooms(find_parts(), [word])


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.execute(parser.parse_args(["--list"]), NullReporter()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {
        "lint/ruff",
        "unit",
        "unit/verify",
        "ship",
        "ctest",
        "torch/optim",
        "integration/faults",
        "sanitizers/thread",
    } <= set(lines)
