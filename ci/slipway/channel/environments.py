"""Environments: what the solver picks for a request, and putting it into a folder.

An installation that was cut off is noticed (see `slipway.channel.prefix`) and begun anew; a package whose name, version
and build stayed while its content changed (a rebuild) is reinstalled.
"""

from __future__ import annotations

import functools
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from slipway.base.errors import ChannelError, IntegrityError, NetworkError, SlipwayError, SolveError
from slipway.base.platform import LINUX_64
from slipway.base.text import printable
from slipway.base.user_folders import cache_folder
from slipway.channel import limited_access, rattler
from slipway.channel.package import rattler_panics
from slipway.channel.prefix import Prefix, installed_paths
from slipway.channel.repodata import SUBDIRS, check_repodata
from slipway.channel.specs import package_name, strict_spec
from slipway.channel.taken import SolvedPackage, linked_cache, take_packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from slipway.base.log import Reporter, Task
    from slipway.base.platform import Platform
    from slipway.channel.limited_access import LimitedAccess

WRONG_BYTES = re.compile(r"(hash|sha256|checksum).*(mismatch|differ)|invalid checksum", re.IGNORECASE | re.DOTALL)
"""How the installer says that a package is not what the index promises."""


@dataclass(frozen=True)
class Solution:
    """Everything an environment holds, in the order of its names."""

    packages: tuple[SolvedPackage, ...]
    records: tuple[rattler.RepoDataRecord, ...]
    platform: Platform = LINUX_64


def virtual_packages(platform: Platform = LINUX_64) -> list[rattler.GenericVirtualPackage]:
    """What this machine offers (``__glibc``, ``__cuda``, ...), as CONDA_OVERRIDE_* variables may correct it.

    Where it emulates another platform, what its own processors can do is left out.
    """
    overrides = rattler.VirtualPackageOverrides.from_env()
    found = [package.into_generic() for package in rattler.VirtualPackage.detect(overrides)]
    return [one for one in found if platform == LINUX_64 or one.name.normalized not in ("__archspec", "__cuda")]


def solve(
    specs: Sequence[str],
    channels: Sequence[str],
    virtual: Sequence[rattler.GenericVirtualPackage] | None = None,
    *,
    platform: Platform = LINUX_64,
) -> Solution:
    """Pick packages that satisfy `specs`, from channels of which the earlier ones win.

    Args:
        virtual: what the machine offers; None for this machine.
        platform: what the environment is for.

    Raises:
        SolveError: there is no solution; the message is the solver's.
        ChannelError: a channel has no index.
        NetworkError: a channel cannot be reached.
    """
    wanted = ", ".join(f"`{spec}`" for spec in specs)
    for folder in filter(None, map(local_folder, channels)):
        for subdir in (folder / name for name in platform.subdirs if (folder / name).is_dir()):
            check_repodata(subdir)
    try:
        with _named_errors(channels) as access:
            records = rattler.run(
                rattler.solve(
                    sources=access.channels,
                    specs=[printable(strict_spec(spec)) for spec in specs],
                    platforms=[rattler.Subdir(subdir) for subdir in platform.subdirs],
                    virtual_packages=virtual_packages(platform) if virtual is None else virtual,
                    gateway=_gateway(access),
                )
            )
    except rattler.exceptions.SolverError as error:
        unsolvable = SolveError(
            f"no environment satisfies {wanted}",
            where=", ".join(channels),
            hint="the solver's reasons are above; CONDA_OVERRIDE_GLIBC, CONDA_OVERRIDE_CUDA and friends change what "
            "this machine is taken for",
            detail=str(error),
            code="unsolvable",
        )
        unsolvable.channels = tuple(channels)
        raise unsolvable from error
    except rattler.exceptions.InvalidMatchSpecError as error:
        raise SolveError(f"not a valid match spec among {wanted}: {error}") from error
    records.sort(key=lambda record: record.name.normalized)
    return Solution(tuple(map(_solved_package, records)), tuple(records), platform)


def local_folder(url: str) -> Path | None:
    """The folder (or file) of a ``file://`` address; None for what is not of this machine."""
    return Path(unquote(urlsplit(url).path)) if url.startswith("file://") else None


@dataclass(frozen=True)
class Offered:
    """A package that a channel has."""

    url: str
    sha256: str
    subdir: str


def offered(names: Sequence[str], address: str) -> list[Offered]:
    """Every version of the packages `names` that a channel has.

    Raises:
        NetworkError: it cannot be reached.
    """
    subdirs = [rattler.Subdir(subdir) for subdir in SUBDIRS]
    with _named_errors([address]) as access:
        gateway = _gateway(access)
        answer = rattler.run(gateway.query(access.channels, subdirs, list(names), recursive=False))
    records = [record for found in answer for record in found]
    return [Offered(str(record.url), (record.sha256 or b"").hex(), str(record.subdir)) for record in records]


def package_names(channels: Sequence[str], platform: Platform = LINUX_64) -> frozenset[str]:
    """The names of all packages that `channels` have for a platform.

    Raises:
        NetworkError: one cannot be reached.
    """
    with _named_errors(channels) as access:
        gateway = _gateway(access)
        found = rattler.run(gateway.names(access.channels, [rattler.Subdir(subdir) for subdir in platform.subdirs]))
    return frozenset(name.normalized for name in found)


def needed_names(specs: Iterable[str], channels: Sequence[str]) -> frozenset[str]:
    """The names in `specs`, and of all that packages of `channels` need to be installed with them.

    Raises:
        NetworkError: a channel cannot be reached.
    """
    names = set(map(package_name, specs))
    subdirs = [rattler.Subdir(subdir) for subdir in SUBDIRS]
    with _named_errors(channels) as access:
        gateway = _gateway(access)
        answer = rattler.run(gateway.query(access.channels, subdirs, sorted(names), recursive=True))
    return frozenset(names.union(package_name(spec) for found in answer for record in found for spec in record.depends))


def _gateway(access: LimitedAccess) -> rattler.Gateway:
    """What reads the indexes of channels, a new one each time: a channel may have been written meanwhile."""
    client = _client_of_folders() if all(map(local_folder, access.channels)) else access.client()
    return rattler.Gateway(cache_dir=cache_folder() / "repodata", client=client)


@functools.cache
def _client_of_folders() -> rattler.Client:
    """It has nothing to fetch. Each new one would read the machine's certificates, half of what solving takes."""
    return rattler.Client()


@contextmanager
def _named_errors(channels: Sequence[str]) -> Iterator[LimitedAccess]:
    """Access to `channels`, and errors that say what is wrong with them."""
    with limited_access.limited_access(channels) as access:
        try:
            yield access
        except (
            rattler.exceptions.InvalidChannelError,
            rattler.exceptions.InvalidUrlError,
            UnicodeEncodeError,
        ) as error:
            raise ChannelError(f"there can be no such channel: {error}", where=", ".join(channels)) from error
        except (rattler.exceptions.GatewayError, rattler.exceptions.FetchRepoDataError) as error:
            text = access.explain(str(error))
            if all(map(local_folder, channels)):
                raise ChannelError(f"a channel cannot be read: {text}", where=", ".join(channels)) from error
            raise _unreachable(text, channels) from error


_DAMAGED = re.compile(
    r"parse|deserialize|decode zstd|invalid (type|value|length|utf-8|archive)"
    r"|(missing|duplicate|unknown) (field|variant)"
)
"""What rattler says of an index, or a shard of one, that came and cannot be read."""


def _unreachable(text: str, channels: Sequence[str]) -> SlipwayError:
    if _DAMAGED.search(text):
        return ChannelError(
            f"a channel's index is damaged: {text}",
            where=", ".join(channels),
            hint="ask who publishes it, or try again",
        )
    hints = {
        r"\b40[13]\b": "it asks who you are: give the address a user and a password, or a token (/t/ before the "
        "channel's name), or name a file of credentials in RATTLER_AUTH_FILE",
        r"certificate": "name the certificates of those whom you trust in SSL_CERT_FILE",
    }
    hint = next((hint for sign, hint in hints.items() if re.search(sign, text)), "is the network up?")
    return NetworkError(f"a channel cannot be reached: {text}", where=", ".join(channels), hint=hint)


def _solved_package(record: rattler.RepoDataRecord) -> SolvedPackage:
    return SolvedPackage(
        name=record.name.normalized,
        version=str(record.version),
        build=str(record.build),
        sha256=(record.sha256 or b"").hex(),
        size=record.size or 0,
        url=str(record.url),
    )


_AT_ARRIVAL: Final = ("pre-link", "post-link")
"""Scripts that conda runs when a package arrives; see docs/trust.md."""


def install(solution: Solution, prefix: Path, reporter: Reporter, *, into_existing: bool = False) -> int:
    """Make `prefix` hold exactly the packages of `solution`, beside what others put there; returns how many were new.

    Args:
        into_existing: take a folder, too, that holds other things and no environment of ours.

    Raises:
        UsageError: the folder holds other things, or a file where a package brings its own.
        IntegrityError: a package's bytes are not what the channel's index promises, or it is made to do harm.
        NetworkError: a package cannot be downloaded.
    """
    place = Prefix(prefix)
    place.check(into_existing=into_existing)
    if place.is_incomplete:
        reporter.line(f"{prefix.name}: an earlier installation was cut off; starting anew")
        place.clear()
    installed = installed_packages(prefix)
    wanted = {package.name: package.sha256 for package in solution.packages}
    if installed == wanted and place.is_ours:
        return 0
    changed = {name for name, sha256 in installed.items() if name in wanted and wanted[name] != sha256}
    missing = [package for package in solution.packages if installed.get(package.name) != package.sha256]
    # With another Python, all that lies in its folders is linked again.
    relinked = solution.packages if any(package.name == "python" for package in missing) else missing
    taken = take_packages(relinked)
    site_packages = _site_packages(solution.packages)
    place.begin([(one.entry, installed_paths(one.judged, site_packages)) for one in taken])
    with (
        reporter.task(f"installing into {prefix.name}", total=len(missing)) as task,
        linked_cache(taken) as cache,
        rattler_panics(str(prefix)),
    ):
        try:
            rattler.run(
                rattler.install(
                    list(solution.records),
                    target_prefix=prefix,
                    cache_dir=cache,
                    platform=rattler.Subdir(solution.platform.subdir),
                    reinstall_packages=changed,
                    reporter=_install_reporter(task),
                )
            )
        except rattler.exceptions.InstallerError as error:
            text = str(error)
            if WRONG_BYTES.search(text):
                raise IntegrityError(f"a package is not what its channel promises: {text}") from error
            raise NetworkError(f"a package could not be installed: {text}", where=str(prefix)) from error
    place.finish()
    for package in missing:
        for event in _AT_ARRIVAL:
            script = prefix / "bin" / f".{package.name}-{event}.sh"
            if script.is_file():
                reporter.line(f"{package.name} brings a {event} script, which slipway does not run: {script}")
    return len(missing)


def _site_packages(packages: Sequence[SolvedPackage]) -> str:
    """Where the solution's Python looks for modules, relative to the prefix."""
    for package in packages:
        if package.name == "python":
            return f"lib/python{'.'.join(package.version.split('.')[:2])}/site-packages"
    return "site-packages"


def installed_packages(prefix: Path) -> Mapping[str, str]:
    """Name and sha256 of what `prefix` holds."""
    found = {}
    for path in sorted((prefix / "conda-meta").glob("*.json")):
        try:
            record = rattler.PrefixRecord.from_path(path)
        except Exception as error:  # py-rattler's types differ by what is wrong
            raise ChannelError(
                f"the record of an installed package cannot be read: {error}",
                where=str(path),
                hint="install into another folder, or put the record right",
            ) from error
        found[record.name.normalized] = (record.sha256 or b"").hex()
    return found


def _install_reporter(task: Task) -> rattler.InstallerReporter:
    """Counts linked packages. py-rattler calls it from threads of its own; a task's update is safe there."""

    class Progress(rattler.InstallerReporter):  # its own methods do nothing, which is right for the other events
        def on_link_start(self, operation: int, package_name: str) -> int:
            task.update(text=package_name)
            return operation

        def on_link_complete(self, index: int) -> None:
            task.advance(1)

    return Progress()  # type: ignore[abstract]
