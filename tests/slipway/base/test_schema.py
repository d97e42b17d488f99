"""YAML of our own: what is wrong is named with its file, line and key."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - these types are read when a file is converted to them
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import pytest

from slipway.base.errors import ChannelError, UsageError
from slipway.base.schema import InvalidValueError, read_document, read_yaml, yaml_key

if TYPE_CHECKING:
    from pathlib import Path


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Word:
    """Something that is written as text."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Word:
        if not text.islower():
            raise InvalidValueError(f"`{text}` is not in lower case")
        return cls(text)


@dataclass(frozen=True)
class Part:
    size: int
    weight: float = 0.0
    except_: tuple[Word, ...] = yaml_key("except", default=())
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "twice", 2 * self.size)
        if self.size < 0:
            raise InvalidValueError("is less than nothing", "size")


@dataclass(frozen=True)
class Whole:
    name: str
    parts: tuple[Part, ...]
    by_name: Mapping[str, Part] = field(default_factory=dict)
    note: str | None = None
    colour: Colour = Colour.RED
    engine: Literal["a", "b"] = "a"
    tested: bool = False


GOOD = """\
name: toy
parts:
  - size: 1
    weight: 2
    except: [a, b]
by_name:
  one: {size: 3}
colour: red
tested: true
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_has_its_type(tmp_path: Path) -> None:
    whole = read_yaml(write(tmp_path, GOOD), Whole)
    assert whole == Whole(
        "toy", (Part(1, 2.0, (Word("a"), Word("b"))),), {"one": Part(3)}, colour=Colour.RED, tested=True
    )
    assert isinstance(whole.parts[0].weight, float)
    assert whole.parts[0].twice == 2


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("name: toy", "name: 1", 1, "`name`: expected text, found `1`"),
        ("name: toy\n", "", 1, "the key `name` is missing"),
        ("name: toy", "nome: toy", 1, "unknown key `nome`"),
        ("name: toy", "name: toy\nname: toy", 2, "the key `name` stands twice"),
        ("    weight: 2", "    weight: heavy", 4, "`parts[0].weight`: expected a number, found `heavy`"),
        ("    weight: 2", "    wait: 2", 4, "unknown key `parts[0].wait`"),
        ("- size: 1", "- size: true", 3, "`parts[0].size`: expected a whole number, found `True`"),
        ("- size: 1", "- size: -1", 3, "`parts[0].size`: is less than nothing"),
        ("[a, b]", "[a, B]", 5, "`parts[0].except[1]`: `B` is not in lower case"),
        ("[a, b]", "a", 5, "`parts[0].except`: expected a list, found `a`"),
        ("{size: 3}", "3", 7, "`by_name.one`: expected keys and values, found `3`"),
        ("{size: 3}", "{size: 3, size: 4}", 7, "the key `by_name.one.size` stands twice"),
        ("colour: red", "colour: blue", 8, "`colour`: expected one of red, found `blue`"),
        ("colour: red", "engine: c", 8, "`engine`: expected one of a, b, found `c`"),
        ("tested: true", "tested: 1", 9, "`tested`: expected true or false, found `1`"),
        ("tested: true", "tested: 'true", 10, "not valid YAML: "),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ChannelError) as caught:
        read_yaml(path, Whole, error=ChannelError, hint="look again")
    assert caught.value.message.startswith(message)
    assert caught.value.where == f"{path}:{line}"
    assert caught.value.hint


@pytest.mark.parametrize("text", ["", "- a\n", "text\n"])
def test_a_file_of_something_else(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="`the file`: expected keys and values"):
        read_yaml(write(tmp_path, text), Whole)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_yaml(tmp_path / "none.yaml", Whole)


def test_variables(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, GOOD.replace("toy", "${short}-$${kept}"))).expand({"short": "py"})
    assert document.convert(Whole).name == "py-${kept}"
    with pytest.raises(
        UsageError, match=r"`parts\[0\].except\[0\]`: unknown variable `\$\{b\}` \(known: a, c\)"
    ) as caught:
        read_document(write(tmp_path, GOOD.replace("[a,", "['${b}',"))).expand({"c": "", "a": ""})
    assert str(caught.value.where).endswith(":5")
