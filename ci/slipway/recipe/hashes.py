"""Hashes and build strings: the short name of everything that makes a package's variant what it is.

A build string reads ``py311h1234567_0``: languages whose version the package is bound to, ``h`` and seven digits of the
SHA-1 of the used variables' JSON, and the build number. Without used variables there is no hash.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from slipway.recipe.defaults import HASH_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_NAMED_IN_BUILD_STRING: Final = ("python", "r_base", "perl", "lua")
_LANGUAGES: Final = (
    ("np", ("numpy",), 2),
    ("py", ("python",), 2),
    ("pl", ("perl",), 3),
    ("lua", ("lua",), 2),
    ("r", ("r", "r-base"), 2),
    ("mro", ("mro-base",), 3),
    ("mro", ("mro-base_impl",), 3),
)
"""Prefix in the build string, package names, components of the version; in the order in which they are written."""
_ONE_VERSION: Final = re.compile(r"=*\d[\w.]*(\.\*)?")
_FIRST_VERSION: Final = re.compile(r"\d+(\.\w+)*")
HASH: Final = re.compile(f"h[0-9a-f]{{{HASH_LENGTH}}}")
NUMPY_XX: Final = re.compile(r"numpy\s*x\.x|pin_compatible\(['\"]numpy.*max_pin=['\"]x\.x['\"]")
"""Requirements that bind a package to a NumPy version, which then moves from the hash into the build string."""


def name_of(spec: str) -> str:
    """``python >=3.9`` -> ``python``."""
    return spec.split()[0] if spec.split() else ""


def trim_build_only(
    used: Iterable[str], requirements: Mapping[str, Sequence[str]], ignore_build_only: Sequence[str]
) -> frozenset[str]:
    """Drop keys that only the run section requires, or only the build section where that does not count.

    A run requirement counts as the key's only if it is the bare key, as conda-build has it: ``foo >=1`` does not.
    """
    names = {
        section: {name_of(spec).replace("-", "_") for spec in requirements.get(section, ())}
        for section in ("build", "host")
    } | {"run": set(requirements.get("run", ()))}
    candidates = frozenset(used)
    dropped = set()
    for key in candidates:
        in_build, in_host = key in names["build"], key in names["host"]
        if key in names["run"]:
            if not in_build and not in_host:
                dropped.add(key)
        elif in_build and not in_host and key in ignore_build_only:
            dropped.add(key)
    return candidates - dropped


def hash_input(
    used: Iterable[str],
    variant: Mapping[str, str],
    requirements: Mapping[str, Sequence[str]],
    *,
    ignore_version: Sequence[str] = (),
    numpy_in_build_string: bool = False,
) -> dict[str, str]:
    """The keys and values that the hash covers.

    Args:
        used: the output's used keys.
        variant: the values in force.
        requirements: the output's requirements by section.
        ignore_version: keys that the configuration excludes.
        numpy_in_build_string: whether the build string already says the NumPy version.
    """
    excluded = [*_NAMED_IN_BUILD_STRING, *ignore_version, *(["numpy"] if numpy_in_build_string else [])]
    # By prefix, as conda-build does it: `python` excludes `python_min` too. A value with a space also fixes a build.
    kept = sorted(key for key in used if key in variant)
    keys = [key for key in kept if " " in variant[key] or not key.startswith(tuple(excluded))]
    contents = {} if keys == ["target_platform"] else {key: variant[key] for key in keys}
    return contents | virtual_packages(requirements.get("run", ()))


def virtual_packages(run: Iterable[str]) -> dict[str, str]:
    """What run requirements ask of the machine, by name: ``__glibc >=2.17``. It counts as a key that is used."""
    return {name_of(spec): spec for spec in run if spec.startswith("__")}


def digest(contents: Mapping[str, str]) -> str:
    """``h`` and seven hex digits; empty without contents."""
    if not contents:
        return ""
    text = json.dumps(dict(contents), sort_keys=True)
    return "h" + hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:HASH_LENGTH]


def default_build_string(
    variant: Mapping[str, str],
    requirements: Mapping[str, Sequence[str]],
    *,
    number: int,
    noarch: str | None,
    numpy_in_build_string: bool,
    features: Sequence[str] = (),
    versions: Mapping[str, str] | None = None,
) -> str:
    """The build string of an output that sets none, without the hash: ``py311_0``, ``py_0``, ``0``.

    A language's version is that of the host environment; before it is known, what a pin says, or else the variant.

    Args:
        versions: exact version of each package in the host environment, where they are known.
    """
    built_with = {name_of(spec) for spec in requirements.get("host", ()) or requirements.get("build", ())}
    pins = versions or _exact_pins(requirements.get("host", ()) or requirements.get("build", ()))
    parts: list[str] = []
    run_names = {name_of(spec) for spec in requirements.get("run", ())}
    for prefix, names, places in _LANGUAGES:
        for name in names:
            if name not in run_names or name not in built_with or (name == "numpy" and not numpy_in_build_string):
                continue
            if noarch == name:
                parts.append(prefix)
                continue
            version = next(filter(None, (_version_of(key, pins, variant) for key in _keys_of(names))), "")
            entry = prefix + "".join(version.split(".")[:places])
            if entry not in parts:
                parts.append(entry)
    text = "".join(parts) + ("_" if parts else "")
    return text + "".join(f"{feature}_" for feature in features) + str(number)


def _exact_pins(specs: Sequence[str]) -> dict[str, str]:
    """Versions that `specs` leave no choice about."""
    pairs = (spec.split()[:2] for spec in specs)
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and _ONE_VERSION.fullmatch(pair[1])}


def _version_of(name: str, pins: Mapping[str, str], variant: Mapping[str, str]) -> str:
    found = _FIRST_VERSION.search(pins.get(name) or variant.get(name.replace("-", "_"), ""))
    return found[0] if found else ""


def _keys_of(names: Sequence[str]) -> list[str]:
    return [*names, *(name.replace("-", "_") for name in names if "-" in name)]


def with_hash(build_string: str, contents: Mapping[str, str]) -> str:
    """Put the hash into a build string: over its placeholder, or before the build number."""
    hashed = digest(contents)
    if HASH.search(build_string):
        return HASH.sub(hashed, build_string)
    head, _, tail = build_string.rpartition("_")
    if head:
        return f"{head}{hashed}_{tail}"
    return f"{hashed}_{tail}" if hashed else tail


def as_json(value: Any) -> str:
    """The form in which ``slipway render --json`` and the golden files are written."""
    return json.dumps(value, indent=1, sort_keys=True)
