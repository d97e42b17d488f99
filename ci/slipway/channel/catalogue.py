"""What a published channel holds: one file, `catalogue.json`, from which all of its indexes are made.

Whoever publishes reads it, adds to it, and puts it back if nobody else did so meanwhile. So two publishers lose
nothing, and a file of the indexes that is lost or half written is made again from it. A channel that has none yet is
taken over by what its indexes say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - `convert` reads the annotations
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ChannelError
from slipway.base.json_file import parse_json
from slipway.base.platform import PLATFORMS
from slipway.base.schema import convert
from slipway.channel import rattler
from slipway.channel.archive import SUFFIXES
from slipway.channel.hotfixes import Hotfix  # noqa: TC001 - the same
from slipway.channel.package import PACKAGE_SUFFIX, read_info_files
from slipway.channel.package_writer import to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

CATALOGUE = "catalogue.json"
VERSION = 3
KNOWN_VERSIONS = (1, 2, VERSION)
"""The first had no `Catalogue.number`, the second no `Catalogue.identity`."""

BILL_SUFFIX = ".cdx.json"
STATEMENT_SUFFIX = ".intoto.json"
"""What proves a package lies beside it: its name with these (see `slipway.proof`)."""

ABOUT = ("description", "dev_url", "doc_url", "home", "license", "license_family", "summary")
"""What a channel's overview (channeldata.json) tells of a package, beside its record."""


@dataclass(frozen=True)
class CataloguedPackage:
    """A package of a channel.

    Attributes:
        record: what its index says of it, before hotfixes.
        run_exports: what it adds to the requirements of what is built with it.
        about: the entries of `ABOUT` that it has.
    """

    record: Mapping[str, Any]
    run_exports: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Of its file, in hex."""
        return str(self.record.get("sha256", ""))


@dataclass(frozen=True)
class ChannelState:
    """Which state of which channel a catalogue is; for what the two are, see `Catalogue`."""

    number: int = 0
    identity: str = ""


@dataclass(frozen=True)
class Catalogue:
    """A channel's packages by their path (``linux-64/toy-1-0.conda``), in the order of paths.

    Attributes:
        removed: paths of packages that were there and are gone.
        hotfixes: what indexes say otherwise than the packages, in the order in which it is applied.
        number: how often it was changed, so that readers know an earlier state of a channel from a later one.
        identity: made by chance with the channel, so that readers know it from others that the same keys sign.
    """

    packages: Mapping[str, CataloguedPackage] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    hotfixes: tuple[Hotfix, ...] = ()
    number: int = 0
    identity: str = ""

    def to_bytes(self) -> bytes:
        """The file."""
        return to_json({"version": VERSION, **asdict(self)})

    @property
    def state(self) -> ChannelState:
        """Which one it is."""
        return ChannelState(self.number, self.identity)

    def with_packages(self, packages: Mapping[str, CataloguedPackage]) -> Catalogue:
        """The same with more packages."""
        together = dict(sorted({**self.packages, **packages}.items()))
        return replace(self, packages=together, removed=tuple(path for path in self.removed if path not in packages))

    def without_packages(self, paths: Iterable[str]) -> Catalogue:
        """The same without some packages."""
        gone = set(paths)
        left = {path: package for path, package in self.packages.items() if path not in gone}
        return replace(self, packages=left, removed=tuple(sorted({*self.removed, *gone})))


def parse_catalogue(content: bytes, where: str) -> Catalogue:
    """The catalogue that stands in a file.

    Raises:
        ChannelError: it is damaged, or of a later version.
    """
    document = parse_json(content)
    version = document.pop("version", None) if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ChannelError(
            f"the channel's catalogue is of version {version}, and this slipway knows {VERSION}",
            where=where,
            hint="publish with a newer slipway",
        )
    found = convert(document, Catalogue) if version in KNOWN_VERSIONS else None
    if found is None:
        raise ChannelError(
            "the channel's catalogue is damaged",
            where=where,
            hint="take the file away: the channel's indexes tell what it holds",
        )
    _check_paths(found, where)
    return found


def _check_paths(catalogue: Catalogue, where: str) -> None:
    """See to it that packages and their indexes lie where those of their names lie in every channel.

    Raises:
        ChannelError: one has another place, which may be outside of the channel, or no version that can be read.
    """
    for path in (*catalogue.packages, *catalogue.removed):
        subdir, _, file = path.partition("/")
        known = catalogue.packages.get(path)
        if (
            subdir not in PLATFORMS
            or "/" in file
            or not file.endswith(SUFFIXES)
            or (known is not None and not _fits(subdir, file, known.record))
        ):
            raise ChannelError(f"`{path}` is no place of the package that the channel has there", where=where)


def _fits(subdir: str, file: str, record: Mapping[str, Any]) -> bool:
    name = "-".join(str(record.get(key)) for key in ("name", "version", "build"))
    if record.get("subdir") != subdir or not file.startswith(f"{name}.") or type(record.get("build_number")) is not int:
        return False
    try:
        rattler.Version(str(record["version"]))
    except rattler.exceptions.InvalidVersionError:
        return False
    return True


def take_over(read: Callable[[str], bytes | None]) -> Catalogue:
    """The catalogue of a channel that has none, from its indexes.

    Args:
        read: gives a file of the channel by its name, or None.

    Raises:
        ChannelError: an index is damaged.
    """
    packages: dict[str, CataloguedPackage] = {}
    for subdir in PLATFORMS:
        document = _read_index(read, f"{subdir}/repodata_from_packages.json")
        if document is None:
            document = _read_index(read, f"{subdir}/repodata.json") or {}
        exports = _read_index(read, f"{subdir}/run_exports.json") or {}
        try:
            for kind in ("packages", "packages.conda"):
                for name, record in document.get(kind, {}).items():
                    known = exports.get(kind, {}).get(name, {}).get("run_exports", {})
                    packages[f"{subdir}/{name}"] = CataloguedPackage({"subdir": subdir, **record}, known)
        except (AttributeError, TypeError):
            raise ChannelError("the channel's index is damaged", where=f"{subdir}/repodata.json") from None
    found = Catalogue().with_packages(packages)
    _check_paths(found, "repodata.json")
    return found


def _read_index(read: Callable[[str], bytes | None], name: str) -> dict[str, Any] | None:
    """An index of a channel; None where there is none: a damaged one is not an empty one, whose packages would go."""
    content = read(name)
    if content is None:
        return None
    found = parse_json(content)
    if not isinstance(found, dict):
        raise ChannelError("the channel's index is damaged: it is no JSON object", where=name)
    return found


def describe_package(path: Path, record: Mapping[str, Any]) -> CataloguedPackage:
    """A package file as its channel's catalogue tells of it.

    Raises:
        IntegrityError: it cannot be read.
    """
    if not path.name.endswith(PACKAGE_SUFFIX):
        raise ChannelError("not a conda package", where=str(path), hint=f"its name ends in {PACKAGE_SUFFIX}")
    info = read_info_files(path, ["about.json", "run_exports.json"])
    found = {name: json.loads(content) for name, content in info.items()}
    about = found.get("about.json", {})
    told = {key: about[key] for key in ABOUT if about.get(key)}
    return CataloguedPackage(record, found.get("run_exports.json", {}), told)
