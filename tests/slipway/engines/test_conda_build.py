"""The command line for the real conda-build; conda itself is not here."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError, IntegrityError, UsageError
from slipway.base.log import NullReporter
from slipway.base.platform import LINUX_64
from slipway.channel.folder import Channel
from slipway.engines import load_engine
from slipway.engines.conda_build import environment
from slipway.engines.engine import BuildContext, Isolation
from slipway.recipe import load_recipe, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit
    from slipway.base.paths import Workspace
    from slipway.model import RenderedOutput

ADDITIVE = Path(__file__).parents[2] / "golden/conda-build/additive"


@pytest.fixture
def context(workspace: Workspace) -> BuildContext:
    """A build without anything on PATH."""
    return BuildContext(workspace, ("file:///c", "conda-forge"), "abc", {**os.environ, "PATH": "/nowhere"}, jobs=2)


FAKE = """\
#!{python}
import pathlib, sys
sys.path[:0] = {path!r}
from slipway.base.platform import LINUX_64
from slipway.recipe import load_recipe, render

words = sys.argv[1:]
(again,) = render(load_recipe(pathlib.Path(words[1])), platform=LINUX_64, environ={{}})
folder = pathlib.Path(words[words.index("--output-folder") + 1]) / again.subdir
folder.mkdir(parents=True)
(folder / (again.key + ".conda")).write_text(" ".join(words))
"""
"""A conda that renders what it is given, and packs what it was called with."""


@pytest.fixture
def fake_conda(context: BuildContext, tmp_path: Path) -> BuildContext:
    """A build with the `conda` above on PATH."""
    program = tmp_path / "bin/conda"
    program.parent.mkdir()
    program.write_text(FAKE.format(python=sys.executable, path=[path for path in sys.path if path]), encoding="utf-8")
    program.chmod(0o755)
    return replace(context, environ={**context.environ, "PATH": str(program.parent)})


def test_conda_build_gets_one_output_in_one_variant(fake_conda: BuildContext) -> None:
    for output in render(load_recipe(ADDITIVE), platform=LINUX_64, environ={}):
        package = load_engine("conda-build").build(output, fake_conda, NullReporter())
        assert package.name == f"{output.key}.conda"
        words = package.read_text(encoding="utf-8").split()
        assert words[0] == "build"
        assert words[1] != str(output.recipe_dir)
        assert words[-5:] == ["--override-channels", "--channel", "file:///c", "--channel", "conda-forge"]
        assert "slipway_digest=abc" in words


def test_conda_build_tests_what_was_built_before(
    make_output: Callable[..., RenderedOutput], fake_conda: BuildContext, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    program = Path(str(fake_conda.environ["PATH"])) / "conda"
    program.write_text(f'#!/bin/sh\necho "$@" > {told}\n', encoding="utf-8")
    load_engine("conda-build").test(tmp_path / "a.conda", make_output(), fake_conda, NullReporter())
    words = ["build", "--test", str(tmp_path / "a.conda"), "--override-channels"]
    assert told.read_text(encoding="utf-8").split() == [*words, "--channel", "file:///c", "--channel", "conda-forge"]


def test_conda_build_sees_no_secrets_but_those_that_are_asked_for(
    make_output: Callable[..., RenderedOutput], context: BuildContext
) -> None:
    given = replace(context, environ={"HOME": "/h", "MY_TOKEN": "1", "DB_PASSWORD": "2", "AWS_ACCESS_KEY_ID": "3"})
    output = replace(make_output(), script_env={"DB_PASSWORD": "2"}, secret_env=("DB_PASSWORD",))
    assert environment(output, given) == {"HOME": "/h", "DB_PASSWORD": "2", "CPU_COUNT": "2"}


def test_without_conda_it_says_so(make_output: Callable[..., RenderedOutput], context: BuildContext) -> None:
    with pytest.raises(HostError, match="`conda` is not on PATH"):
        load_engine("conda-build").build(make_output(), context, NullReporter())


def test_packages_of_this_machine_are_checked_before_conda_takes_them(
    make_output: Callable[..., RenderedOutput], fake_conda: BuildContext, kit: Kit, tmp_path: Path
) -> None:
    channel = Channel(tmp_path / "tools")
    channel.publish([("linux-64", kit.package({"share/tool.txt": "good"}, name="tool"))])
    (package,) = channel.packages()
    content = bytearray(package.read_bytes())
    content[len(content) // 2] ^= 1
    package.write_bytes(content)
    with pytest.raises(IntegrityError, match="not what the channel's index says"):
        load_engine("conda-build").build(make_output(), replace(fake_conda, channels=(channel.url,)), NullReporter())


def test_isolation_is_not_promised(make_output: Callable[..., RenderedOutput], fake_conda: BuildContext) -> None:
    required = replace(fake_conda, isolation=Isolation.REQUIRED)
    with pytest.raises(HostError, match="cannot be isolated"):
        load_engine("conda-build").build(make_output(), required, NullReporter())


def test_unknown_engine() -> None:
    with pytest.raises(UsageError, match="there is no engine `make`"):
        load_engine("make")
