"""Command lines as people write them: options stand wherever one thinks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import UsageError
from slipway.commands import _parsers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


def parsers_with_lists() -> Iterator[tuple[str, argparse.ArgumentParser, str]]:
    """Every command or action that takes a list of words, and what it calls them."""
    for name in _parsers.command_names():
        parser, _ = _parsers.make_parser(name, _parsers.load_command(name), _parsers.EVERY_ACTION)
        for action_name, inner in (("", parser), *_parsers.actions_of(parser)):
            lists = [one.dest for one in inner._get_positional_actions() if one.nargs in ("*", "+")]
            if lists:
                yield f"{name} {action_name}".strip(), inner, lists[0]


def test_an_option_stands_between_the_words_of_a_list() -> None:
    seen = []
    for name, parser, words in parsers_with_lists():
        for action in parser._actions:
            if action.option_strings:
                action.required = False
        singles = [one for one in parser._get_positional_actions() if one.nargs is None]
        given = ["one", *("x" for _ in singles), "--quiet", "two"]
        arguments = parser.parse_args(given)
        assert arguments.quiet, name
        assert [str(word) for word in getattr(arguments, words)][-1] == "two", name
        assert len(getattr(arguments, words)) == 2, name
        seen.append(name)
    assert {"bootstrap", "install", "publish", "test", "why"} <= set(seen)


@pytest.mark.parametrize("words", [["add", "--license", "MIT", "wheel:a"], ["--license", "MIT", "add", "wheel:a"]])
def test_bootstrap_add_with_a_licence(words: list[str]) -> None:
    parser, given = _parsers.make_parser("bootstrap", _parsers.load_command("bootstrap"), words)
    arguments = parser.parse_args(given)
    assert arguments.action == ["add", "wheel:a"]
    assert arguments.license == "MIT"


def test_what_is_wrong_is_still_said() -> None:
    parser, _ = _parsers.make_parser("why", _parsers.load_command("why"), [])
    with pytest.raises(UsageError, match="required: PACKAGE"):
        parser.parse_args(["--dist", "there"])
    with pytest.raises(UsageError, match="unrecognized arguments: --nothing"):
        parser.parse_args(["a", "--nothing", "b"])
