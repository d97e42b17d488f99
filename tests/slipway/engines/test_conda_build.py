"""The command line for the real conda-build; conda itself is not here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
import yaml

from slipway.engines import BuildContext, load_engine
from slipway.engines.conda_build import command_line, variant_config
from slipway.errors import HostError, UsageError
from slipway.log import NullReporter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.model import RenderedOutput
    from slipway.paths import Workspace


@pytest.fixture
def context(workspace: Workspace) -> BuildContext:
    """A build without anything on PATH."""
    return BuildContext(workspace, ("file:///c", "conda-forge"), "abc", {**os.environ, "PATH": "/nowhere"}, jobs=2)


def test_command_line(make_output: Callable[..., RenderedOutput], context: BuildContext, tmp_path: Path) -> None:
    words = list(map(str, command_line("conda", make_output(), context, tmp_path / "out", tmp_path / "v.yaml")))
    assert words[:3] == ["conda", "build", str(make_output().recipe_dir)]
    assert words[-5:] == ["--override-channels", "--channel", "file:///c", "--channel", "conda-forge"]
    assert "slipway_digest=abc" in words


def test_variant_is_in_block_style(make_output: Callable[..., RenderedOutput]) -> None:
    text = variant_config(make_output(variant={"python": "3.11.* *_cpython", "c_stdlib_version": "2.28"}))
    assert "[" not in text, "conda-build takes a line that ends in ] for a selector"
    assert yaml.safe_load(text) == {"python": ["3.11.* *_cpython"], "c_stdlib_version": ["2.28"]}


def test_without_conda_it_says_so(make_output: Callable[..., RenderedOutput], context: BuildContext) -> None:
    with pytest.raises(HostError, match="`conda` is not on PATH"):
        load_engine("conda-build").build(make_output(), context, NullReporter())


def test_unknown_engine() -> None:
    with pytest.raises(UsageError, match="there is no engine `make`"):
        load_engine("make")
