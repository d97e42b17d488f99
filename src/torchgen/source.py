"""Reads a YAML file that is a list of mappings from words to text, and remembers on which line each word stands.

PyYAML's own loader forgets lines and lets the last of two equal keys win; both would hide mistakes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from torchgen.errors import DeclarationError, Location

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's where PyYAML was built with it: ten times as fast


@dataclass(frozen=True)
class Entry:
    """One mapping of the list. A value is text, or a tuple of texts for a YAML list."""

    location: Location
    values: dict[str, str | tuple[str, ...]]
    locations: dict[str, Location]

    def text(self, key: str, default: str | None = None) -> str:
        """The text under `key`. Raises DeclarationError when it is missing (and has no default) or is a list."""
        value = self.values.get(key, default)
        if value is None:
            raise DeclarationError(self.location, f"the key `{key}` is missing")
        if not isinstance(value, str):
            raise DeclarationError(self.where(key), f"`{key}` must be text, not a list")
        return value

    def words(self, key: str) -> tuple[str, ...]:
        """The comma-separated words under `key`, none when the key is absent. A word may stand there once."""
        words = self.words_with_repeats(key)
        for word in words:
            if words.count(word) > 1:
                raise DeclarationError(self.where(key), f"`{key}` names `{word}` twice")
        return words

    def words_with_repeats(self, key: str) -> tuple[str, ...]:
        """As `words`, but a word may stand there more than once."""
        value = self.values.get(key, "")
        if isinstance(value, tuple):
            return value
        return tuple(word.strip() for word in value.split(",")) if value else ()

    def where(self, key: str) -> Location:
        """The line of `key`, or of the entry when it has no such key."""
        return self.locations.get(key, self.location)

    def allow_only(self, keys: tuple[str, ...]) -> None:
        """Raises DeclarationError for a key that is not among `keys`."""
        for key in self.values:
            if key not in keys:
                raise DeclarationError(self.where(key), f"unknown key `{key}`", f"the keys are {', '.join(keys)}")


def read_entries(path: Path, name: str) -> list[Entry]:
    """The entries of the file at `path`, which errors call `name`. Raises DeclarationError."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DeclarationError(Location(name, line), f"not YAML: {error.problem}") from error
    if root is None:
        return []
    if not isinstance(root, yaml.SequenceNode):
        raise DeclarationError(
            Location(name, root.start_mark.line + 1), "expected a list of entries that start with `- `"
        )
    return [_read_entry(node, name) for node in root.value]


def _read_entry(node: yaml.Node, name: str) -> Entry:
    location = Location(name, node.start_mark.line + 1)
    if not isinstance(node, yaml.MappingNode):
        raise DeclarationError(location, "expected an entry of the form `key: value`")
    values: dict[str, str | tuple[str, ...]] = {}
    locations: dict[str, Location] = {}
    for key, value, place in _pairs(node, name):
        if key in values:
            raise DeclarationError(place, f"the key `{key}` stands twice in one entry")
        values[key] = value
        locations[key] = place
    return Entry(location, values, locations)


def _pairs(node: yaml.MappingNode, name: str) -> Iterator[tuple[str, str | tuple[str, ...], Location]]:
    for key_node, value_node in node.value:
        place = Location(name, key_node.start_mark.line + 1)
        if not isinstance(key_node, yaml.ScalarNode):
            raise DeclarationError(place, "a key must be a word")
        key = str(key_node.value)
        if isinstance(value_node, yaml.ScalarNode):
            yield key, str(value_node.value).strip(), place
        elif isinstance(value_node, yaml.SequenceNode) and all(
            isinstance(item, yaml.ScalarNode) for item in value_node.value
        ):
            yield key, tuple(str(item.value) for item in value_node.value), place
        else:
            raise DeclarationError(place, f"the value of `{key}` must be text or a list of words")
