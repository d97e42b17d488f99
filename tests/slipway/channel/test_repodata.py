"""The index says what solvers take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.channel.environments import solve
from slipway.channel.folder import Channel
from slipway.channel.repodata import set_behind
from slipway.pipeline.run import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.model import RenderedOutput
    from slipway.pipeline.context import RunContext


def test_solvers_take_what_is_set_behind_only_where_it_is_asked_for(
    tmp_path: Path, make_output: Callable[..., RenderedOutput], make_context: Callable[..., RunContext]
) -> None:
    outputs = [make_output(script="mkdir $PREFIX/x; touch $PREFIX/x/y", version=version) for version in ("1.0", "2.0")]
    old, new = (artifact.path for artifact in run(outputs, make_context()))
    channel = Channel(tmp_path / "c")
    channel.publish([("linux-64", old), ("linux-64", new)])

    def picked(spec: str) -> list[str]:
        return [package.version for package in solve([spec], [channel.url]).packages]

    assert picked("libtoy >=1") == ["2.0"]
    set_behind(channel.folder, [record["sha256"] for path, record in channel.records() if path.name == new.name])
    assert channel.is_indexed
    assert picked("libtoy >=1") == ["1.0"]
    assert picked("libtoy 2.*") == ["2.0"]
