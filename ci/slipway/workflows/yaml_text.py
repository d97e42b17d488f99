"""YAML as people write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping


class OneLine(list[Any]):
    """A list that is written on one line."""


class OneLineMapping(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Block style; a text of several lines as a literal block; nothing is written as a reference to something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: yaml.SafeDumper, value: OneLine) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=True)


def _mapping(dumper: yaml.SafeDumper, value: OneLineMapping) -> yaml.MappingNode:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(OneLine, _list)
_Dumper.add_representer(OneLineMapping, _mapping)


def as_yaml(content: Mapping[str, Any]) -> str:
    """`content` as text, its keys in their order."""
    return str(yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, width=1000, allow_unicode=True))
