"""Every command that looks at a recipe's variants sees the same ones."""

from __future__ import annotations

import argparse
import importlib
import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from slipway.cli import main
from slipway.commands._options import request_of, words_of
from slipway.request import Request
from slipway.workflows.job import local_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from slipway.model import RenderedOutput

META = """\
package:
  name: demo
  version: "1.0"
build:
  string: {{ home }}_{{ here }}_{{ own }}_{{ pinned }}_{{ first }}_{{ second }}_{{ given }}_py{{ CONDA_PY }}
requirements:
  host:
    - python
"""
KEYS = ("home", "here", "own", "pinned", "first", "second", "given")
COMMANDS = (["plan"], ["plan", "--matrix"], ["render"], ["build"], ["ship"], ["ci", "run"])


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe, with configurations in every place where conda-build looks for them; each key belongs to one."""
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    (recipe / "meta.yaml").write_text(META, encoding="utf-8")
    for folder, value, keys in (
        (tmp_path / "home", "home", KEYS),
        (tmp_path / "here", "here", KEYS[1:]),
        (recipe, "own", KEYS[2:]),
    ):
        folder.mkdir(exist_ok=True)
        text = "".join(f"{key}:\n  - {value}\n" for key in keys) + "python:\n  - 3.10.*\n"
        (folder / "conda_build_config.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("slipway.bootstrap.pins.DATA", tmp_path / "embedded")
    (tmp_path / "embedded").mkdir()
    text = (
        "".join(f"{key}:\n  - channel\n" for key in KEYS[3:]) + "python:\n  - 3.11.* *_cpython\n  - 3.12.* *_cpython\n"
    )
    (tmp_path / "embedded" / "conda_build_config.yaml").write_text(text, encoding="utf-8")
    for value, keys in (("first", KEYS[4:]), ("second", KEYS[5:]), ("below", KEYS), ("lowest", KEYS)):
        text = "".join(f"{key}:\n  - {value}\n" for key in keys)
        (tmp_path / f"{value}.yaml").write_text(text, encoding="utf-8")
    return recipe


def seen_by(command: Sequence[str], words: Sequence[str]) -> tuple[RenderedOutput, ...]:
    """What a command finds that belongs to what is asked for."""
    name, *rest = [*command, *words]
    module = importlib.import_module(f"slipway.commands.{name}")
    parser = argparse.ArgumentParser()
    parser.set_defaults(words=rest)
    module.add_arguments(parser)
    request = request_of(parser.parse_args(rest))
    if name == "ci":
        return tuple(job.output for job in local_jobs(request))
    return request.matching()


def options(recipe: Path, *words: str) -> list[str]:
    folder = recipe.parent
    named = ["-m", str(folder / "first.yaml"), "-m", str(folder / "second.yaml")]
    return [str(recipe), *named, "--variants", "{given: [given]}", *words]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_configurations_count_in_conda_builds_order(command: list[str], surroundings: Path) -> None:
    found = [output.build_string for output in seen_by(command, options(surroundings))]
    expected = "home_here_own_channel_first_second_given_py3"
    assert sorted(text[: len(expected) + 2] for text in found) == [f"{expected}11", f"{expected}12"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_exclusive_file_counts_instead_of_home_and_here(command: list[str], surroundings: Path) -> None:
    folder = surroundings.parent
    exclusive = ["-e", str(folder / "lowest.yaml"), "-e", str(folder / "below.yaml")]
    (found, *_) = seen_by(command, options(surroundings, *exclusive))
    assert found.build_string.startswith("below_below_own_channel_first_second_given_py3")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_other_channels_have_no_pins_of_ours(command: list[str], surroundings: Path) -> None:
    (found,) = seen_by(command, options(surroundings, "--channel", "conda-forge"))
    assert found.build_string.startswith("home_here_own_own_first_second_given_py310")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_any_key_chooses(command: list[str], surroundings: Path) -> None:
    outputs = seen_by(command, options(surroundings, "--variant", "python=3.11", "--variant", "first=first"))
    assert {output.variant["python"] for output in outputs} == {"3.11.* *_cpython"}


def test_what_commands_print_is_that_matrix(surroundings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = options(surroundings)
    expected = sorted(output.key for output in seen_by(["ship"], words))
    assert main(["render", "--json", *words]) == 0
    assert sorted(json.loads(capsys.readouterr().out)) == expected
    assert main(["plan", "--matrix", "--json", *words]) == 0
    assert sorted(row["package"] for row in json.loads(capsys.readouterr().out)) == expected


def ci_words(recipe: Path, *words: str) -> list[str]:
    return [*options(recipe)[1:], *words]


@pytest.fixture
def checkout(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which CI runs: it holds the recipe and every file that is named."""
    folder = surroundings.parent
    text = (folder / "here/conda_build_config.yaml").read_text(encoding="utf-8") + "home:\n  - here\n"
    (folder / "conda_build_config.yaml").write_text(text, encoding="utf-8")
    (folder / "home/conda_build_config.yaml").write_text("second:\n  - [what, nobody, reads]\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("slipway.commands._options.DEFAULT_RECIPE", surroundings)
    for module in ("_ci_list", "_ci_recipe"):
        monkeypatch.setattr(f"slipway.commands.{module}.default_folder", lambda: folder)
    monkeypatch.setattr("slipway.commands._ci_list.find_checkout", lambda: folder)
    return folder


def listed(recipe: Path, words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["ci", "list", str(recipe), *words, "--json"]) == 0
    return [row["identifier"] for row in json.loads(capsys.readouterr().out) if row["platform"] == "linux-64"]


def find_texts(value: Any) -> Iterator[str]:
    """Every string in YAML's data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from find_texts(item)


@pytest.mark.parametrize("exclusive", [False, True])
def test_written_jobs_are_found_by_the_commands_that_are_written(
    exclusive: bool, checkout: Path, surroundings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever lies in the home of who writes them, or of who runs them."""
    words = ci_words(surroundings, *(["-e", str(checkout / "below.yaml")] if exclusive else []))
    jobs = listed(surroundings, words, capsys)
    assert len(jobs) == 1
    assert main(["ci", "write", str(surroundings), "--to", str(checkout), *words]) == 0
    text = (checkout / ".gitlab/jobs.yml").read_text(encoding="utf-8")
    written = [line for script in find_texts(yaml.safe_load(text)) for line in script.splitlines()]
    for command in ("ci job", "ci recipe"):
        (line,) = {line for line in written if f"slipway {command} " in line}
        parts = shlex.split(line)
        rest = parts[parts.index("ci") + 2 :]
        rest = [word.replace("$PLATFORM", "linux-64").replace("$IDENTIFIER", jobs[0]) for word in rest]
        if command == "ci recipe":
            assert main(["ci", "recipe", *rest]) == 0
        else:
            module = importlib.import_module("slipway.commands._ci_job")
            parser = argparse.ArgumentParser()
            parser.set_defaults(words=rest)
            module.add_arguments(parser)
            arguments = parser.parse_args(rest)
            request = request_of(arguments)
            (job,) = local_jobs(request)
            assert (job.identifier, arguments.identifier) == (jobs[0], jobs[0])
            expected = ("below_below" if exclusive else "here_here") + "_own_own_first_second_given_py310"
            assert job.output.build_string.startswith(expected)
    assert "slipway ci write -m first.yaml -m second.yaml" in text.splitlines()[0]
    assert main(["ci", "write", "--check", str(surroundings), "--to", str(checkout), *words]) == 0
    assert main(["ci", "write", "--check", str(surroundings), "--to", str(checkout)]) != 0, "other files, other jobs"


def test_written_jobs_take_no_file_that_ci_lacks(
    checkout: Path, surroundings: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "other.yaml"
    outside.write_text("home:\n  - other\n", encoding="utf-8")
    assert main(["ci", "write", str(surroundings), "--to", str(checkout), "-m", str(outside)]) == 2
    assert "the configuration is not in the checkout" in capsys.readouterr().err


class Reached(Exception):
    """How far a command is let go."""


@pytest.mark.parametrize("name", ["plan", "build", "ship"])
def test_what_commands_would_build_is_of_that_matrix(
    name: str, surroundings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[RenderedOutput, ...]] = []
    outputs = Request.outputs

    def recorded(request: Request) -> tuple[RenderedOutput, ...]:
        made.append(outputs(request))
        return made[-1]

    def stop(*_: Any, **__: Any) -> None:
        raise Reached

    monkeypatch.setattr(Request, "outputs", recorded)
    monkeypatch.setattr(f"slipway.commands.{name}.find_channels", stop)
    words = options(surroundings)
    with pytest.raises(Reached):
        main([name, *words, "--dist", str(tmp_path / "dist")])
    (found,) = made
    assert [output.key for output in found] == [output.key for output in seen_by(["render"], words)]


def test_words_for_another_process_make_the_same_request(surroundings: Path) -> None:
    exclusive = str(surroundings.parent / "below.yaml")
    words = options(surroundings, "-e", exclusive, "--variant", "python=3.11", "--channel", "c", "--offline")
    module = importlib.import_module("slipway.commands.ship")

    def parsed(words: Sequence[str]) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        parser.set_defaults(words=words)
        module.add_arguments(parser)
        return parser.parse_args(words)

    first = parsed(words)
    assert request_of(parsed(words_of(first))) == request_of(first)
