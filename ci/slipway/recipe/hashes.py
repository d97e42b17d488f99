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
_HASH: Final = re.compile(f"h[0-9a-f]{{{HASH_LENGTH}}}")
NUMPY_XX: Final = re.compile(r"numpy\s*x\.x|pin_compatible\(['\"]numpy.*max_pin=['\"]x\.x['\"]")
"""Requirements that bind a package to a NumPy version, which then moves from the hash into the build string."""


def name_of(spec: str) -> str:
    """``python >=3.9`` -> ``python``."""
    return spec.split()[0] if spec.split() else ""


def trim_build_only(
    used: Iterable[str], requirements: Mapping[str, Sequence[str]], ignore_build_only: Sequence[str]
) -> frozenset[str]:
    """Drop keys that name packages of only the run section, or of only the build section where that does not count."""
    names = {
        section: {name_of(spec).replace("-", "_") for spec in requirements.get(section, ())}
        for section in ("build", "host", "run")
    }
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
    ignore_build_only: Sequence[str] = (),
    numpy_in_build_string: bool = False,
) -> dict[str, str]:
    """The keys and values that the hash covers.

    Args:
        used: the output's used keys.
        variant: the values in force.
        requirements: the output's requirements by section.
        ignore_version: keys that the configuration excludes.
        ignore_build_only: keys that count only if the host requirements name them.
        numpy_in_build_string: whether the build string already says the NumPy version.
    """
    kept = trim_build_only((key for key in used if key in variant), requirements, ignore_build_only)
    excluded = [*_NAMED_IN_BUILD_STRING, *ignore_version, *(["numpy"] if numpy_in_build_string else [])]
    # By prefix, as conda-build does it: `python` excludes `python_min` too. A value with a space also fixes a build.
    keys = [key for key in sorted(kept) if " " in variant[key] or not key.startswith(tuple(excluded))]
    contents = {} if keys == ["target_platform"] else {key: variant[key] for key in keys}
    virtual = [spec for spec in requirements.get("run", ()) if spec.startswith("__")]
    return contents | {name_of(spec): spec for spec in virtual}


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
) -> str:
    """The build string of an output that sets none, without the hash: ``py311_0``, ``py_0``, ``0``."""
    built_with = {name_of(spec) for spec in requirements.get("host", ()) or requirements.get("build", ())}
    parts: list[str] = []
    run_names = {name_of(spec) for spec in requirements.get("run", ())}
    for prefix, names, places in _LANGUAGES:
        for name in names:
            if name not in run_names or name not in built_with or (name == "numpy" and not numpy_in_build_string):
                continue
            if noarch == name:
                parts.append(prefix)
                continue
            version = next((variant[key] for key in _keys_of(names) if variant.get(key)), "")
            entry = prefix + "".join(version.split(".")[:places])
            if entry not in parts:
                parts.append(entry)
    text = "".join(parts) + ("_" if parts else "")
    return text + "".join(f"{feature}_" for feature in features) + str(number)


def _keys_of(names: Sequence[str]) -> list[str]:
    return [*names, *(name.replace("-", "_") for name in names if "-" in name)]


def with_hash(build_string: str, contents: Mapping[str, str]) -> str:
    """Put the hash into a build string: over its placeholder, or before the build number."""
    hashed = digest(contents)
    if _HASH.search(build_string):
        return _HASH.sub(hashed, build_string)
    head, _, tail = build_string.rpartition("_")
    if head:
        return f"{head}{hashed}_{tail}"
    return f"{hashed}_{tail}" if hashed else tail


def as_json(value: Any) -> str:
    """The form in which ``slipway render --json`` and the golden files are written."""
    return json.dumps(value, indent=1, sort_keys=True)
