"""The policies: what a package has to keep to, as data files in ``data/``, each checked when it is loaded.

One dataclass per file says which keys it has; a key too many, one missing, or a value of another type is an error that
names the file and the key.
"""

from __future__ import annotations

import difflib
import typing
from collections.abc import Mapping  # noqa: TC003 - the policies' types are read when they are loaded
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from slipway.base.errors import UsageError
from slipway.base.events import Severity  # noqa: TC001 - as above
from slipway.base.schema import InvalidValueError, read_yaml
from slipway.verify.traces import Pattern  # noqa: TC001 - as above

POLICY_FOLDER = Path(__file__).parent / "data"
"""``ci/slipway/verify/data``, installed with the package."""


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
    """The device code that the libraries of one package (pattern) hold, taken together.

    Attributes:
        architectures: ``sm_90``, ``compute_90``; or `declared_in` names the CMake file of the package that lists them.
    """

    package: str
    reason: str
    architectures: tuple[str, ...] = ()
    declared_in: str = ""

    def __post_init__(self) -> None:
        if bool(self.architectures) == bool(self.declared_in):
            raise InvalidValueError("a list has either `architectures` or `declared_in`", "architectures")
        if self.declared_in and not self.declared_in.endswith(".cmake"):
            raise InvalidValueError("only of CMake files (.cmake) is the text known", "declared_in")


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

    linking: Linking
    floors: Floors
    openmp: OpenMP
    traces: Traces
    licences: Licences
    sizes: Sizes
    cuda: Devices
    symbols: Symbols
    python: PythonPolicy


def load_policies(own: Path | None = None) -> Policies:
    """Read every policy file.

    Args:
        own: a folder whose files take the place of those of the same name.

    Raises:
        PolicyError: one is no YAML, or does not say what it should; `own` holds another file, or is not there.
    """
    kinds = typing.get_type_hints(Policies)
    files = {name: POLICY_FOLDER / f"{name}.yaml" for name in kinds}
    if own is not None:
        if not own.is_dir():
            raise PolicyError("there is no such folder of policies", where=str(own))
        for path in sorted(own.glob("*.yaml")):
            if path.stem not in kinds:
                close = difflib.get_close_matches(path.stem, kinds, n=1)
                hint = f"did you mean `{close[0]}.yaml`?" if close else "there are " + ", ".join(kinds)
                raise PolicyError("this is no policy", where=str(path), hint=hint)
            files[path.stem] = path
    return Policies(**{name: read_yaml(files[name], kind, error=PolicyError) for name, kind in kinds.items()})


def match_name(pattern: str, name: str) -> bool:
    """Whether a pattern of a policy (``libtorch*``) takes a name."""
    return fnmatchcase(name, pattern)
