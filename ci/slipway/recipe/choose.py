"""Picks outputs and variants from a rendered recipe by name and by variant key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.errors import VariantError
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.model import RenderedOutput

_EVERYWHERE = ("target_platform", "channel_targets")


def used_variant(output: RenderedOutput) -> dict[str, str]:
    """The variant keys that an output depends on, with their values; what is the same everywhere is left out."""
    used = {key: value for key, value in output.hash_input.items() if key not in _EVERYWHERE and key in output.variant}
    for spec in output.requirements.host:
        key = name_of(spec).replace("-", "_")
        if key in output.variant and output.noarch != "python" and key not in used and key in _LANGUAGES:
            used[key] = output.variant[key]
    return dict(sorted(used.items()))


_LANGUAGES = ("python", "numpy", "perl", "lua", "r_base")


def identifier(output: RenderedOutput) -> str:
    """One word for an output in its variant: selects it, names its folder and its CI job."""
    return f"{output.name}-{output.build_string}"


def choose(
    outputs: Sequence[RenderedOutput],
    names: Sequence[str] = (),
    values: Mapping[str, str] | None = None,
) -> tuple[RenderedOutput, ...]:
    """The outputs with one of `names` whose variant agrees with `values`, in the given order.

    A value agrees if it equals the variant's or is its version: ``python=3.11`` takes ``3.11.* *_cpython``. Keys that
    an output does not use do not exclude it.

    Raises:
        VariantError: a name or key does not exist, or nothing matches; says what does exist.
    """
    known_names = list(dict.fromkeys(output.name for output in outputs))
    for name in names:
        if name not in known_names:
            raise VariantError(f"the recipe has no output `{name}`", hint=f"it has {', '.join(known_names)}")
    for key, value in (values or {}).items():
        found = list(dict.fromkeys(used[key] for output in outputs if key in (used := used_variant(output))))
        if not found:
            known = sorted({key for output in outputs for key in used_variant(output)})
            raise VariantError(f"no output uses `{key}`", hint=f"they use {', '.join(known) or 'no variant keys'}")
        if not any(agrees(value, other) for other in found):
            raise VariantError(f"there is no variant with {key}={value}", hint=f"there is {key}={', '.join(found)}")
    chosen = tuple(output for output in outputs if _matches(output, names, values or {}))
    if not chosen:
        asked = ", ".join([*names, *(f"{key}={value}" for key, value in (values or {}).items())])
        raise VariantError(f"nothing matches {asked}", hint=f"there is {', '.join(map(identifier, outputs))}")
    return chosen


def _matches(output: RenderedOutput, names: Sequence[str], values: Mapping[str, str]) -> bool:
    used = used_variant(output)
    return (not names or output.name in names) and all(
        agrees(value, used[key]) for key, value in values.items() if key in used
    )


def agrees(asked: str, value: str) -> bool:
    """``3.11`` agrees with ``3.11``, ``3.11.*`` and ``3.11.* *_cpython``."""
    return asked in (value, value.split(" ")[0], value.split(" ")[0].removesuffix(".*"))
