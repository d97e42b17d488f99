"""The policies: what a package has to keep to, as data files in ``data/``, each checked when it is loaded.

One dataclass per file says which keys it has; a key too many, one missing, or a value of another type is an error that
names the file and the key.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml

from slipway.base.errors import UsageError
from slipway.base.events import Severity  # noqa: TC001 - the policies' types are read when they are loaded
from slipway.verify.archive import Limits  # noqa: TC001 - as above
from slipway.verify.traces import Pattern  # noqa: TC001 - as above

POLICY_FOLDER = Path(__file__).parent / "data"
"""``ci/slipway/verify/data``, installed with the package."""


_T = TypeVar("_T")


class PolicyError(UsageError):
    """A policy file cannot be read."""


@dataclass(frozen=True)
class Implied:
    """A library whose package may stay undeclared, because a declared one `by` this name promises it."""

    library: str
    by: str
    reason: str


@dataclass(frozen=True)
class Unused:
    """A dependency that may stay although nothing links to its libraries. Names are patterns."""

    package: str
    dependency: str
    reason: str


@dataclass(frozen=True)
class Linking:
    """linking.yaml. Attributes: system and driver: library pattern -> why it needs no package."""

    system: Mapping[str, str]
    driver: Mapping[str, str]
    implied: tuple[Implied, ...]
    unused: tuple[Unused, ...]


@dataclass(frozen=True)
class Floor:
    """A family of symbol versions, and which release of which package brings each of them.

    Attributes:
        prefix: ``GLIBCXX_`` and the like.
        package: whose lower bound in the dependencies must be high enough.
        releases: version of the symbol -> first release that has it; None: they are the same.
        unless_declared: what is promised where the package is not among the dependencies at all.
        oldest: no channel has an older release, so a dependency without a bound lets none in.
    """

    prefix: str
    package: str
    releases: Mapping[str, str] | None = None
    unless_declared: str | None = None
    oldest: str = "0"


@dataclass(frozen=True)
class Floors:
    """floors.yaml."""

    floors: tuple[Floor, ...]


@dataclass(frozen=True)
class OpenMP:
    """openmp.yaml.

    Attributes:
        runtimes: file names by which the loader finds an OpenMP runtime.
        not_loaded: patterns of paths at which a runtime lies that no program loads from there, with the reason.
    """

    runtimes: tuple[str, ...]
    not_loaded: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Traces:
    """traces.yaml. Attributes: severities: how bad a trace of a sort is, in the files and below ``info/``."""

    patterns: tuple[Pattern, ...]
    files: Mapping[str, Severity]
    info: Mapping[str, Severity]


@dataclass(frozen=True)
class Licences:
    """licences.yaml. Attributes: text_required_of: patterns of packages that are refused without a licence's text."""

    text_required_of: tuple[str, ...]


@dataclass(frozen=True)
class Budget:
    """The most bytes that a package (pattern) may have.

    Attributes:
        package_bytes: of the package file.
        installed_bytes: of all its files, unpacked.
        files: path pattern -> bytes; the first that matches counts.
    """

    package: str
    reason: str
    package_bytes: int | None = None
    installed_bytes: int | None = None
    files: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """sizes.yaml; the first budget whose pattern matches counts."""

    budgets: tuple[Budget, ...]


@dataclass(frozen=True)
class DeviceList:
    """The device code that the libraries of one package (pattern) hold, taken together."""

    package: str
    architectures: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Devices:
    """cuda.yaml."""

    lists: tuple[DeviceList, ...]


@dataclass(frozen=True)
class Symbols:
    """symbols.yaml.

    Attributes:
        libraries: path patterns of what has an interface that others link to.
        private: regular expressions of mangled names that are no part of it, with the reason.
        shown: how many names of each kind a finding lists.
    """

    libraries: tuple[str, ...]
    private: Mapping[str, str]
    shown: int


@dataclass(frozen=True)
class PythonPackage:
    """What one package has to bring for Python.

    Attributes:
        distribution: its name in its metadata.
        stubs: paths below site-packages that must be there.
        console_scripts: names of its programs.
    """

    package: str
    distribution: str
    stubs: tuple[str, ...] = ()
    console_scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class PythonPolicy:
    """python.yaml. Attributes: installers: what INSTALLER may say."""

    installers: tuple[str, ...]
    packages: tuple[PythonPackage, ...]


@dataclass(frozen=True)
class Policies:
    """All of them; one file each."""

    archive: Limits
    linking: Linking
    floors: Floors
    openmp: OpenMP
    traces: Traces
    licences: Licences
    sizes: Sizes
    cuda: Devices
    symbols: Symbols
    python: PythonPolicy


def load_policies(folder: Path = POLICY_FOLDER) -> Policies:
    """Read every policy file.

    Raises:
        PolicyError: one is missing, no YAML, or does not say what it should.
    """
    types_by_name = typing.get_type_hints(Policies)
    return Policies(**{name: _load(folder / f"{name}.yaml", kind) for name, kind in types_by_name.items()})


def _load(path: Path, kind: type[_T]) -> _T:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PolicyError(f"the policy cannot be read: {error}", where=str(path)) from error
    value: _T = _convert(document, kind, str(path), "")
    return value


def _convert(value: object, kind: Any, path: str, key: str) -> Any:
    """`value` as `kind`: a dataclass, a tuple, a mapping, a literal or a plain type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else _convert(value, next(a for a in arguments if a is not type(None)), path, key)
    if dataclasses.is_dataclass(kind):
        return _construct(value, kind, path, key)
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(item, arguments[0], path, f"{key}[{index}]") for index, item in enumerate(value))
    if origin is Mapping and isinstance(value, dict):
        return {
            _convert(name, arguments[0], path, f"{key}.{name}"): _convert(item, arguments[1], path, f"{key}.{name}")
            for name, item in value.items()
        }
    if origin is Literal and value in arguments:
        return value
    if isinstance(kind, type) and isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    wanted: dict[Any, str] = {
        tuple: "a list",
        Mapping: "keys and values",
        Literal: f"one of {', '.join(map(str, arguments))}",
    }
    expected = wanted.get(origin, getattr(kind, "__name__", str(kind)))
    raise PolicyError(f"`{key}`: expected {expected}, found `{value}`", where=path, hint="quote strings of digits")


def _construct(value: object, kind: Any, path: str, key: str) -> Any:
    if not isinstance(value, dict):
        raise PolicyError(f"`{key or 'the file'}`: expected keys and values, found `{value}`", where=path)
    fields = {found.name: found for found in dataclasses.fields(kind)}
    for name in value:
        if name not in fields:
            raise PolicyError(f"unknown key `{f'{key}.{name}'.lstrip('.')}`", where=path, hint=", ".join(fields))
    for name, found in fields.items():
        optional = found.default is not dataclasses.MISSING or found.default_factory is not dataclasses.MISSING
        if name not in value and not optional:
            raise PolicyError(f"the key `{f'{key}.{name}'.lstrip('.')}` is missing", where=path)
    hints = typing.get_type_hints(kind)
    return kind(
        **{name: _convert(item, hints[name], path, f"{key}.{name}".lstrip(".")) for name, item in value.items()}
    )


def match_name(pattern: str, name: str) -> bool:
    """Whether a pattern of a policy (``libtorch*``) takes a name."""
    return fnmatchcase(name, pattern)
