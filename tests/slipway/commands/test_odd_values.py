"""Every option of every command, with values that nobody means: a named error or an answer, and never a traceback."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, NoReturn

import pytest

from slipway import cli
from slipway.base.errors import BuildError, SlipwayError, VerifyError
from slipway.channel.folder import Channel
from slipway.commands import _parsers
from slipway.engines.rattler import RattlerEngine
from slipway.report import page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VALUES = {
    "empty": "",
    "huge": "9" * 70_000,
    "negative": "-1",
    "not UTF-8": "\udcff=\udcfe",
    "control characters": "a\nb\x1b[31m",
    "an unreadable file": "/proc/self/mem",
    "half an address": "https://[::1",
}
WORK = {"test", "bench", "bootstrap", "doctor"}
"""Commands whose work takes minutes, or needs the network, whatever they are asked: their options are only parsed."""

COMMANDS = [
    *(
        [name] for name in cli.command_names() if name not in ("ci", "channel", "build")
    ),  # `build` has the options of `ship`
    *(["ci", name] for name in ("list", "job", "recipe", "hand")),
    *(["channel", name] for name in ("prune", "repair", "sign", "verify")),  # `serve` ends when somebody ends it
]

CODES = {kind.exit_code for kind in SlipwayError.__subclasses__()} | {0}


class ParsedError(Exception):
    """Ends a command when its options were parsed."""


def parser_of(words: list[str], monkeypatch: pytest.MonkeyPatch) -> argparse.ArgumentParser:
    """The parser that a command line is given to; of the action, where there are some."""
    found: list[argparse.ArgumentParser] = []

    def keep(self: argparse.ArgumentParser, *_: object) -> NoReturn:
        found.append(self)
        raise ParsedError

    with monkeypatch.context() as patch:
        patch.setattr(_parsers.CommandParser, "parse_args", keep)
        with pytest.raises(ParsedError):
            cli.main(words)
    for action in found[0]._actions:
        if isinstance(action, argparse._SubParsersAction):
            parser: argparse.ArgumentParser = action.choices[words[1]]
            return parser
    return found[0]


def command_lines(words: list[str], parser: argparse.ArgumentParser, place: Path) -> Iterator[tuple[str, list[str]]]:
    """Every option with every value, among others that make sense."""
    actions = [action for action in parser._actions if action.nargs != 0]
    sensible = {"dist": place / "dist", "channel": place / "none", "recipe": place / "recipe", "to": place / "to"}
    sensible |= {"handed": place / "handed", "identifier": "a", "way": "take", "folder": place / "none"}
    sensible |= {"address": place / "none"}
    for tried in actions:
        for title, value in VALUES.items():
            options, positional = list[str](), list[str]()
            for action in actions:
                known = value if action is tried else str(sensible.get(action.dest, "a"))
                if action.option_strings and (action is tried or action.required or action.dest in sensible):
                    name = action.option_strings[-1]
                    options += [f"{name}={known}"] if name.startswith("--") else [name, known]
                elif not action.option_strings and (action is tried or action.dest in sensible or action.nargs != "*"):
                    positional.append(known)
            yield f"{tried.dest}: {title}", [*words, *options, "--", *positional]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_odd_values(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise BuildError("nothing is built here")

    monkeypatch.setattr(RattlerEngine, "build", refuse)
    monkeypatch.setattr(page, "write_page", lambda *_: None)  # whose templates take longer than all the rest
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe").mkdir()
    (tmp_path / "recipe" / "meta.yaml").write_text('package: {name: a, version: "1"}\n', encoding="utf-8")
    Channel(tmp_path / "none").publish()
    parser = parser_of(words, monkeypatch)
    tried = 0
    for title, line in command_lines(words, parser, tmp_path):
        tried += 1
        try:
            code = cli.main([line[0], "--help-not-there", *line[1:]] if words[0] in WORK else line)
        except SystemExit as error:
            code = int(error.code or 0)
        except Exception as error:
            raise AssertionError(f"{title}: {line}") from error
        assert code in CODES, f"{title}: {code}"
        said = capsys.readouterr().err
        # (An empty --dist is the checkout's own, whose packages may have findings.)
        assert code in (0, VerifyError.exit_code) or re.search(r"error(\[[a-z-]+\])?: ", said), title
    assert tried or not [action for action in parser._actions if action.nargs != 0]


def test_the_working_directory_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert cli.main(["plan"]) == 11
    assert "the working directory cannot be used" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["install", ""], "`` names no package"),
        (["install", ">=2"], "`>=2` names no package"),
        (["ship", "--jobs", "-3"], "`-3` is no whole number from 1 to 1000000"),
        (["rebuild", "a", "--jobs", "0"], "`0` is no whole number from 1 to 1000000"),
    ],
)
def test_values_without_a_meaning(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    assert said in capsys.readouterr().err


def test_answers_move_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'package:\n  name: a\n  version: 1\nrequirements:\n  run:\n    - "foo\\e[2J >=1"\n'
    (tmp_path / "meta.yaml").write_text(text, encoding="utf-8")
    assert cli.main(["render", str(tmp_path), "--channel", "x"]) == 0
    assert r"run      foo\x1b[2J >=1" in capsys.readouterr().out
