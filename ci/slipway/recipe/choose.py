"""Which variants of a rendered recipe are meant: by the variant keys that its outputs use, and their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from slipway.base.errors import VariantError
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from slipway.model import RenderedOutput, Variant

WITHOUT: Final = "None"
"""The value of a key that says: without it, such as ``cuda_compiler_version: None``."""

CUDA_KEY: Final = "cuda_compiler_version"
"""conda-forge's key for the CUDA that an output is built with."""

_EVERYWHERE: Final = ("target_platform", "channel_targets")
_LANGUAGES: Final = ("python", "numpy", "perl", "lua", "r_base")


def used_variant(output: RenderedOutput) -> dict[str, str]:
    """The variant keys that an output depends on, with their values; what is the same everywhere is left out."""
    used = {key: value for key, value in output.hash_input.items() if key not in _EVERYWHERE and key in output.variant}
    for spec in output.requirements.host:
        key = name_of(spec).replace("-", "_")
        if key in output.variant and output.noarch != "python" and key not in used and key in _LANGUAGES:
            used[key] = output.variant[key]
    return dict(sorted(used.items()))


def identifier(output: RenderedOutput) -> str:
    """One word for an output in its variant: selects it, names its folder and its CI job."""
    return f"{output.name}-{output.build_string}"


def version_of(value: str) -> str:
    """The version in a variant's value: ``3.11.* *_cpython`` -> ``3.11``."""
    return value.split(" ")[0].removesuffix(".*")


def each_value(asked: str) -> list[str]:
    """The values that a key is asked for with: one, or several with commas between."""
    return asked.split(",")


def agrees(asked: str, value: str) -> bool:
    """``3.11`` agrees with ``3.11``, ``3.11.*`` and ``3.11.* *_cpython``, and so does ``3.11,3.12``."""
    known = (value, value.split(" ")[0], version_of(value))
    return asked in known or any(one in known for one in each_value(asked))


def belongs(output: RenderedOutput, asked: Variant) -> bool:
    """Whether an output is among those that are asked for.

    Only the keys that it uses have a say, and one that is built without something belongs to what is built with it.
    """
    used = used_variant(output)
    return all(used.get(key, WITHOUT) == WITHOUT or agrees(value, used[key]) for key, value in asked.items())


def variant_of(outputs: Iterable[RenderedOutput]) -> dict[str, str]:
    """The variant keys that outputs use, each with its first value; what says `WITHOUT` says nothing."""
    found: dict[str, str] = {}
    for output in outputs:
        for key, value in used_variant(output).items():
            if value != WITHOUT:
                found.setdefault(key, value)
    return found


@dataclass(frozen=True)
class RecipeMatrix:
    """Every output of a recipe in every variant, and what the configuration says, be it used or not.

    Attributes:
        outputs: in build order.
        configured: the values of each variant key.
        zip_groups: keys that advance together.
    """

    outputs: tuple[RenderedOutput, ...]
    configured: Mapping[str, tuple[str, ...]]
    zip_groups: tuple[tuple[str, ...], ...]

    def used_values(self, key: str) -> list[str]:
        """The values of a variant key, among the outputs that use it."""
        found = (used[key] for output in self.outputs if key in (used := used_variant(output)))
        return list(dict.fromkeys(found))

    def select(self, asked: Variant, titles: Mapping[str, str]) -> tuple[RenderedOutput, ...]:
        """The outputs that belong to what is asked for; all of them if nothing is.

        Args:
            titles: what messages call a key, where that is not its name.

        Raises:
            VariantError: there is no such key or value; says what there is.
        """
        for key, value in ((key, value) for key, values in asked.items() for value in each_value(values)):
            configured = self.configured.get(key, ())
            if any(agrees(value, known) for known in configured):
                continue
            known = self.used_values(key) or configured
            raise VariantError(
                f"the recipe has no variant for {titles.get(key, key)} {value}",
                hint=f"it has {', '.join(known)}" if known else self.describe(),
            )
        return tuple(output for output in self.outputs if belongs(output, asked))

    def with_defaults(self, asked: Variant, defaults: Variant) -> Variant:
        """`asked`, and for other keys the default where the matrix has it; what is an add-on is left out.

        An add-on is what a key stands for that may be None: unless somebody asks for it, or for a key that advances
        together with it, None is meant.
        """
        chosen = {
            key: value
            for key, value in defaults.items()
            if any(agrees(value, known) for known in self.configured.get(key, ()))
        } | dict(asked)
        for key, values in self.configured.items():
            group = next((group for group in self.zip_groups if key in group), (key,))
            if not chosen.keys() & set(group) and WITHOUT in values:
                chosen[key] = WITHOUT
        return chosen

    def describe(self) -> str:
        """The keys that the outputs use and their values, in words."""
        used = {key for output in self.outputs for key in used_variant(output)}
        return "; ".join(f"{key}: {', '.join(self.used_values(key))}" for key in sorted(used)) or "it has one variant"


def describe_asked(asked: Variant, titles: Mapping[str, str]) -> str:
    """`asked` in words: ``Python 3.11, without CUDA``."""
    named = {key: titles.get(key, key) for key in asked}
    return ", ".join(
        f"without {named[key]}" if value == WITHOUT else f"{named[key]} {value}" for key, value in asked.items()
    )
