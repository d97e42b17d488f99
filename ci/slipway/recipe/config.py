"""conda_build_config.yaml: from texts, stacked from low to high precedence, to the list of variants.

Keys hold lists of values; their Cartesian product is the matrix. `zip_keys` names groups of keys that advance
together. A later file replaces a key of an earlier one; a few keys (`extend_keys`) are merged instead and are the same
for the whole matrix. A later file that names only some keys of a zip group selects the rows that match.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import yaml

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.recipe import selectors
from slipway.recipe.choose import WITHOUT
from slipway.recipe.defaults import COMPILERS, SHARED_KEYS, VARIANT_KEYS
from slipway.recipe.document import ShallowScanner

if TYPE_CHECKING:
    from slipway.base.platform import Platform

MOST_VARIANTS: Final = 100_000
"""Variants that a configuration may multiply out to."""


@dataclass(frozen=True)
class VariantConfigText:
    """One configuration file.

    Attributes:
        path: what messages name it by.
        text: what it holds.
        offered: keys of which it does not say what to build, but what can be had; see `meet_offers`.
    """

    path: str
    text: str
    offered: frozenset[str] = frozenset()


@dataclass(frozen=True)
class VariantConfig:
    """One configuration, selectors applied.

    Attributes:
        values: key to list of values (all strings), or to a mapping for keys like `pin_run_as_build`.
        lines: key to the line of the file that it stands on.
    """

    path: str
    values: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)

    def where(self, key: str) -> str:
        return f"{self.path}:{self.lines[key]}" if key in self.lines else self.path


@dataclass(frozen=True)
class VariantSpace:
    """The matrix.

    Attributes:
        variants: every combination, in the order in which the product yields them; values are strings.
        shared: merged keys, the same for all variants (`pin_run_as_build`, `ignore_version`, ...).
        zip_groups: keys that advance together.
    """

    variants: tuple[dict[str, str], ...]
    shared: Mapping[str, Any]
    zip_groups: tuple[tuple[str, ...], ...]

    def loop_keys(self) -> frozenset[str]:
        """The keys that take more than one value."""
        first = self.variants[0]
        return frozenset(key for key in first if any(other[key] != first[key] for other in self.variants))

    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each key, each once, in their order."""
        return {key: tuple(dict.fromkeys(variant[key] for variant in self.variants)) for key in self.variants[0]}

    def reduce(self, variants: Sequence[dict[str, str]], used: frozenset[str]) -> tuple[dict[str, str], ...]:
        """One variant per distinct combination of the `used` keys and of the keys zipped to them."""
        together = set(used)
        for group in self.zip_groups:
            if together & set(group):
                together |= set(group)
        seen: dict[tuple[str | None, ...], dict[str, str]] = {}
        keys = sorted(together)
        for variant in variants:
            seen.setdefault(tuple(variant.get(key) for key in keys), variant)
        return tuple(seen.values())


class _TextLoader(ShallowScanner, yaml.BaseLoader):
    """YAML in which every value is text."""


def parse(source: VariantConfigText, *, platform: Platform, environ: Mapping[str, str]) -> VariantConfig:
    """Read one file.

    Raises:
        RecipeError: broken selector or YAML, a key that is no Jinja name, a value of an unexpected kind.
    """
    names = selectors.namespace({}, platform=platform, environ=environ)
    written = selectors.split_lines(source.text)
    selectors.warn_of_lists(written, source.path)
    lines = selectors.select(written, names, source.path)
    numbers = [line.number for line in lines]

    def where(mark: yaml.Mark | None) -> str:
        if mark is None or not numbers:
            return source.path
        return f"{source.path}:{numbers[min(mark.line, len(numbers) - 1)]}"

    try:
        root = yaml.compose("\n".join(line.text for line in lines), Loader=_TextLoader)
    except yaml.MarkedYAMLError as error:
        raise RecipeError(
            f"not valid YAML: {error.problem}", where=where(error.problem_mark), hint="check indentation and quotes"
        ) from None
    except yaml.YAMLError as error:
        raise RecipeError(f"not valid YAML: {error}", where=source.path) from None
    except RecursionError:
        raise RecipeError("nested too deeply", where=source.path) from None
    if root is None:
        return VariantConfig(source.path, {})
    if not isinstance(root, yaml.MappingNode):
        raise RecipeError(
            "a variant configuration maps keys to lists of values", where=where(root.start_mark),
            hint="write `python:` and below it `  - 3.11.*`",
        )  # fmt: skip
    values: dict[str, Any] = {}
    located: dict[str, int] = {}
    for key_node, value_node in root.value:
        key, place = key_node.value, where(key_node.start_mark)
        if not isinstance(key, str) or not key.replace("_", "a").isalnum():
            raise RecipeError(
                f"`{key}` cannot be a variant key", where=place, hint="use letters, digits and _ only, `-` becomes `_`"
            )
        value = _plain(value_node)
        if not value:
            continue
        if key in values:
            hint = f"the first is on line {located[key]}"
            said = RecipeWarning(f"`{key}` is set twice: the last counts, as in conda-build", where=place, hint=hint)
            warnings.warn(said, stacklevel=2)
        values[key] = _checked(key, value, place)
        located[key] = numbers[key_node.start_mark.line]
    return VariantConfig(source.path, values, located)


def _plain(node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {key.value: _plain(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return node.value


def _checked(key: str, value: Any, where: str) -> Any:
    if key == "zip_keys":
        groups = [group for group in (value if isinstance(value, list) else [value]) if group]
        nested = [isinstance(group, list) for group in groups]
        if any(nested) and not all(nested):
            raise RecipeError(
                "`zip_keys` mixes keys and groups of keys", where=where,
                hint="write either one list of keys, or a list of such lists",
            )  # fmt: skip
        return groups if any(nested) or not groups else [groups]
    if isinstance(value, Mapping):
        return value
    values = value if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in values):
        raise RecipeError(f"the values of `{key}` must be plain", where=where, hint="list strings or numbers")
    return values


def meet_offers(configs: Sequence[VariantConfig], offered: Sequence[frozenset[str]]) -> list[VariantConfig]:
    """The configurations, low precedence first, with only those of the offered values that what lies below can take.

    A recipe that lists None for a key can do without what it stands for, and takes each version that is offered. One
    that lists only versions gets no None, and of the versions those it lists, or all where it lists none of them.

    Args:
        configs: low precedence first.
        offered: of each configuration, the keys that it offers values of.
    """
    known: dict[str, Any] = {}
    met = []
    for config, keys in zip(configs, offered, strict=True):
        values = dict(config.values)
        for key in keys & values.keys() & known.keys():
            if WITHOUT not in known[key]:
                versions = [value for value in values[key] if value != WITHOUT]
                values[key] = [value for value in versions if value in known[key]] or versions
        met.append(replace(config, values=values))
        known |= values
    return met


def given(values: Mapping[str, Any], path: str = "--variants") -> VariantConfig:
    """A configuration that does not come from a file, such as the command line's."""
    as_text = {
        key: _checked(key, value if isinstance(value, Mapping) else _texts(value), path)
        for key, value in values.items()
    }
    return VariantConfig(path, as_text)


def _texts(value: Any) -> Any:
    return [_texts(item) for item in value] if isinstance(value, list | tuple) else str(value)


def combine(
    configs: Sequence[VariantConfig],
    *,
    platform: Platform,
    may_use: Callable[[str], bool] = lambda key: True,
    defaults: bool = True,
) -> VariantSpace:
    """Stack configurations, low precedence first, on conda-build's defaults, and multiply them out.

    Args:
        configs: low precedence first.
        platform: the default of `target_platform`.
        may_use: whether the recipe can depend on a key; keys that it cannot are kept at their first value, so that
            a long list of pins for other recipes does not multiply this one's matrix.
        defaults: whether conda-build's own values of languages and compilers lie below.

    Raises:
        RecipeError: zipped keys of different lengths, without values, or in two groups; a partial override of a zip
            group that matches none of its rows; a matrix of more than `MOST_VARIANTS`.
    """
    internal: dict[str, Any] = {}
    if defaults:
        usual = {**VARIANT_KEYS, **COMPILERS.get(platform.system, {})}
        internal = {key: [value] for key, value in usual.items()}
    internal |= {"target_platform": [platform.subdir]}
    internal |= {key: list(value) if isinstance(value, list) else dict(value)
                 for key, value in SHARED_KEYS.items()}  # fmt: skip
    stack = [VariantConfig("built-in defaults", internal), *configs]
    extended = {key for config in stack for key in config.values.get("extend_keys", ())}
    groups = _zip_groups(stack)
    group_of = {key: group for group in groups for key in group}
    merged: dict[str, Any] = {}
    for config in stack:
        for key, value in config.values.items():
            if key == "zip_keys":
                continue
            if key in extended:
                merged[key] = _extended(merged.get(key), value)
                continue
            group = group_of.get(key, (key,))
            whole = all(other in config.values for other in group) or not all(other in merged for other in group)
            if whole or all(len({**merged, **config.values}[other]) == len(value) for other in group):
                merged[key] = value
            elif missing := [item for item in value if item not in merged[key]]:
                raise RecipeError(
                    f"`{key}` is zipped with {_names(group, without=key)}, which {config.path} does not set, and no "
                    f"row has the value {missing[0]!r}",
                    where=config.where(key), hint="set all keys of the group, or choose among its rows",
                )  # fmt: skip
    _check_groups(groups, merged, stack)
    shared = {key: merged.pop(key) for key in extended if key in merged}
    shared |= {key: merged.pop(key) for key, value in list(merged.items()) if isinstance(value, Mapping)}
    variants = _product(merged, groups, may_use)
    return VariantSpace(_select_rows(variants, configs, group_of), shared, groups)


def _extended(before: Any, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {**(before or {}), **value}
    return list(dict.fromkeys([*(before or ()), *value]))


def _zip_groups(stack: Sequence[VariantConfig]) -> tuple[tuple[str, ...], ...]:
    groups = dict.fromkeys(tuple(group) for config in stack for group in config.values.get("zip_keys", ()))
    owner: dict[str, tuple[str, ...]] = {}
    for group in groups:
        for key in group:
            if key in owner:
                config = next(config for config in reversed(stack) if list(group) in config.values.get("zip_keys", ()))
                raise RecipeError(
                    f"`{key}` is in two groups of `zip_keys`", where=config.where("zip_keys"),
                    hint="a key can advance with one group only",
                )  # fmt: skip
            owner[key] = group
    return tuple(groups)


def _check_groups(
    groups: tuple[tuple[str, ...], ...], merged: Mapping[str, Any], stack: Sequence[VariantConfig]
) -> None:
    for group in groups:
        config = next(config for config in reversed(stack) if list(group) in config.values.get("zip_keys", ()))
        where = config.where("zip_keys")
        if absent := [key for key in group if key not in merged]:
            raise RecipeError(
                f"`zip_keys` names `{absent[0]}`, which has no values", where=where,
                hint="give it a list, or take it out of the group",
            )  # fmt: skip
        lengths = {key: len(merged[key]) for key in group}
        if len(set(lengths.values())) > 1:
            counted = ", ".join(f"`{key}` has {length}" for key, length in lengths.items())
            raise RecipeError(
                f"zipped keys must have equally many values: {counted}", where=where,
                hint="zip_keys pairs the first value with the first, the second with the second, and so on",
            )  # fmt: skip


def _names(group: Sequence[str], *, without: str) -> str:
    return ", ".join(f"`{key}`" for key in group if key != without)


def _product(
    merged: Mapping[str, list[str]], groups: tuple[tuple[str, ...], ...], may_use: Callable[[str], bool]
) -> tuple[dict[str, str], ...]:
    zipped = {key for group in groups for key in group}
    axes: list[list[dict[str, str]]] = [
        [{key: value} for value in values] for key, values in merged.items() if key not in zipped
    ]
    for group in groups:
        rows = zip(*(merged[key] for key in group), strict=True)
        axes.append([dict(zip(group, row, strict=True)) for row in rows])
    axes = [axis if any(may_use(key) for key in axis[0]) else axis[:1] for axis in axes]
    size = math.prod(len(axis) for axis in axes)
    if size > MOST_VARIANTS:
        longest = ", ".join(max(axes, key=len)[0])
        raise RecipeError(
            f"the configuration makes {size} variants; at most {MOST_VARIANTS} are rendered",
            hint=f"give `{longest}` fewer values, or couple keys with zip_keys",
        )
    return tuple({k: v for part in parts for k, v in part.items()} for parts in itertools.product(*axes))


def _select_rows(
    variants: tuple[dict[str, str], ...], configs: Sequence[VariantConfig], group_of: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], ...]:
    """Drop the rows of zip groups that a later file's partial override excludes."""
    filtered: set[str] = set()
    for config in reversed(configs):
        for key, values in config.values.items():
            if key in group_of and key not in filtered:
                filtered.add(key)
                variants = tuple(variant for variant in variants if variant[key] in values) or variants
    return variants
