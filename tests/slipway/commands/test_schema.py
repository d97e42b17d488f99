"""JSON schemas: those in docs/schemas are what the types say, and our files name theirs."""

from __future__ import annotations

import enum
import json
import os
import re
from collections.abc import Mapping  # noqa: TC003 - the types below are read
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from slipway.base.errors import RecipeError, UsageError
from slipway.base.json_schema import json_schema
from slipway.base.schema import read_yaml, yaml_key
from slipway.cli import main
from slipway.commands.schema import KINDS, schema_text
from slipway.recipe import load_recipe_settings
from slipway.verify.policies import load_policies

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.request import Request

CHECKOUT = Path(__file__).parents[3]
SCHEMAS = CHECKOUT / "docs/schemas"
LINE = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")

OURS = {
    "slipway": ["recipe/slipway.yaml", "ci/recipe/slipway.yaml"],
    "workflows": ["ci/slipway/workflows/settings.yaml"],
    "embedded": ["ci/slipway/bootstrap/data/settings.yaml"],
    "debian-names": ["ci/slipway/bootstrap/data/debian.yaml"],
    "error-pages": ["ci/slipway/base/error_pages.yaml"],
    **{
        f"policy-{path.stem}": [str(path.relative_to(CHECKOUT))]
        for path in sorted((CHECKOUT / "ci/slipway/verify/data").glob("*.yaml"))
    },
}


@pytest.mark.parametrize("name", KINDS)
def test_kept_schemas_are_fresh(name: str) -> None:
    """`slipway schema --to docs/schemas` writes them."""
    assert (SCHEMAS / f"{name}.json").read_text(encoding="utf-8") == schema_text(name)


def test_no_schema_is_left_over() -> None:
    assert {path.stem for path in SCHEMAS.iterdir()} == set(KINDS)


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in OURS.items() for path in paths])
def test_files_name_their_schema(name: str, path: str) -> None:
    found = LINE.match((CHECKOUT / path).read_text(encoding="utf-8"))
    assert found is not None
    named = os.path.normpath((CHECKOUT / path).parent / found[1])
    assert named == str(SCHEMAS / f"{name}.json")


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    """What is inside.

    Attributes:
        size: in bytes,
            or none.
        names: all of them, and others.
    """

    size: int | None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    """A file. Attributes: kind: which."""

    kind: Literal["a", "b"]
    by_name: Mapping[str, Inner] = yaml_key("by-name", default_factory=dict)
    colour: Colour = Colour.RED
    anything: Any = None
    truth: bool = False
    made: str = field(init=False, default="")


def test_types_become_schemas() -> None:
    found = json_schema(Outer, "A title")
    assert found["title"] == "A title"
    outer, inner = found["$defs"]["Outer"], found["$defs"]["Inner"]
    assert outer["description"] == "A file."
    assert outer["required"] == ["kind"]
    assert outer["additionalProperties"] is False
    assert outer["properties"] == {
        "kind": {"description": "which.", "enum": ["a", "b"]},
        "by-name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Inner"}},
        "colour": {"enum": ["red"]},
        "anything": {},
        "truth": {"type": "boolean"},
    }
    assert inner["properties"]["size"] == {
        "description": "in bytes, or none.", "anyOf": [{"type": "integer"}, {"type": "null"}],
    }  # fmt: skip
    assert inner["properties"]["names"]["items"] == {"type": "string"}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(KINDS)
    assert main(["schema", "slipway"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "slipway.yaml beside a recipe"
    assert main(["schema", "nothing"]) == 2
    assert main(["schema", "--to", str(tmp_path / "there")]) == 0
    assert len(list((tmp_path / "there").iterdir())) == len(KINDS)


def test_a_wrong_key_gets_the_nearest_one(tmp_path: Path) -> None:
    path = tmp_path / "slipway.yaml"
    path.write_text("channels:\n  - a\nleave_out:\n  x: []\n", encoding="utf-8")
    with pytest.raises(RecipeError, match="unknown key `leave_out`") as caught:
        load_recipe_settings(tmp_path)
    assert caught.value.where == f"{path}:3"
    assert caught.value.hint == "did you mean `leaves_out`?"
    path.write_text("qwerty: 1\n", encoding="utf-8")
    with pytest.raises(UsageError) as other:
        read_yaml(path, Inner)
    assert other.value.hint == "there are size, names"


def test_channels_and_platforms_of_a_recipe(tmp_path: Path, parse: Callable[..., Request]) -> None:
    (tmp_path / "meta.yaml").write_text("package:\n  name: a\n  version: 1\n", encoding="utf-8")
    (tmp_path / "slipway.yaml").write_text("channels: [there]\nplatforms: [linux-64]\n", encoding="utf-8")
    assert parse(str(tmp_path)).channels == ("there",)
    assert parse(str(tmp_path), "--channel", "here").channels == ("here",)
    assert main(["render", str(tmp_path), "--platform", "osx-arm64"]) == 4


def test_policies_of_a_recipe_lie_over_ours(tmp_path: Path) -> None:
    assert load_policies().sizes.budgets
    (tmp_path / "sizes.yaml").write_text("budgets: []\n", encoding="utf-8")
    own = load_policies(tmp_path)
    assert own.sizes.budgets == ()
    assert own.floors == load_policies().floors
    (tmp_path / "size.yaml").write_text("budgets: []\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_policies(tmp_path)
    assert caught.value.hint == "did you mean `sizes.yaml`?"
    with pytest.raises(UsageError, match="no such folder"):
        load_policies(tmp_path / "none")
