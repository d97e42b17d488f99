"""Once the solver was asked, packages have the names that the real conda-build gives them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError
from slipway.pipeline.finalize import finalize

from ..solved_channel import SOLVED, write_channel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.request import Request

CASES = sorted(path.parent for path in SOLVED.glob("*/expected.json"))


@pytest.fixture(scope="session")
def channel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the channel that the answers were made with."""
    return write_channel(tmp_path_factory.mktemp("solved") / "channel").url


def test_there_are_cases() -> None:
    assert len(CASES) >= 3


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_same_names_as_conda_build(case: Path, channel: str, parse: Callable[..., Request], tmp_path: Path) -> None:
    request = parse(str(case), "--channel", channel, "--no-home-config", "--dist", str(tmp_path))
    found = {
        output.key: {"build": output.build_string, "hash_input": dict(output.hash_input), "name": output.name}
        for output in finalize(request, request.matching(), (channel,))
    }
    assert found == json.loads((case / "expected.json").read_text())


def test_exact_pins_name_what_was_solved(channel: str, parse: Callable[..., Request], tmp_path: Path) -> None:
    request = parse(str(SOLVED / "libc_of_the_sysroot"), "--channel", channel, "--dist", str(tmp_path))
    outputs = {output.name: output for output in finalize(request, request.matching(), (channel,))}
    assert f"liba 1 {outputs['liba'].build_string}" in outputs["a"].requirements.run
    assert outputs["liba"].solved_from != outputs["liba"].key, "jobs of CI are called by the name from before"


def test_files_from_nowhere_are_refused_when_they_are_to_be_built(
    channel: str, parse: Callable[..., Request], tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    text = "package:\n  name: demo-split\n  version: 1\noutputs:\n  - name: demo\n    files:\n      - bin/demo\n"
    (recipe / "meta.yaml").write_text(text, encoding="utf-8")
    request = parse(str(recipe), "--channel", channel, "--dist", str(tmp_path / "dist"))
    outputs = request.matching()
    with pytest.raises(RecipeError, match="`demo` lists files, and nothing makes them"):
        finalize(request, outputs, (channel,))
