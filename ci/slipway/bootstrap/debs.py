"""Fetches Debian packages with a private apt: its own lists, cache and sources, as an ordinary user.

The sources are the machine's own ones, narrowed to Debian's suite, so that mirrors and proxies stay as configured and
the system's apt is neither changed nor needs to be up to date. apt checks the index's signature, then the file against
the index; we check the file again when it is moved into the cache.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.base.files import says_disk_full
from slipway.base.http import DownloadWatch, read_limits
from slipway.base.platform import LINUX_64

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from slipway.base.proc import Answer, Processes

_CONDA_FORGE = "use `--channel conda-forge` on a machine that is not Debian"
_LINE = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})$")


NATIVE = str(LINUX_64.debian)
"""What Debian calls the processor that the channel is for."""

_SPARE = 16_000_000
"""Bytes that apt may write beside the packages that it is to fetch."""


@dataclass(frozen=True)
class OfferedDeb:
    """What the signed index offers for a name: version, file name, size in bytes and sha256.

    The name is apt's: that of a package for another processor than this machine's ends in it (``libc6:arm64``).
    """

    name: str
    version: str
    file: str
    size: int
    sha256: str


def machine_codename(os_release: Path) -> str:
    """Debian's codename of this machine (``bookworm``); raises HostError when it is no Debian."""
    values: dict[str, str] = {}
    if os_release.exists():
        for line in os_release.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("=")
            values[key] = value.strip("\"'")
    if values.get("ID") != "debian" or "VERSION_CODENAME" not in values:
        raise errors.HostError(
            f"the embedded channel needs Debian, and this machine is {values.get('PRETTY_NAME', 'something else')}",
            hint=_CONDA_FORGE,
        )
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise errors.HostError(f"the embedded channel needs `{program}`, which is missing", hint=_CONDA_FORGE)
    return values["VERSION_CODENAME"]


def architectures(names: Iterable[str]) -> tuple[str, ...]:
    """Debian's names of the processors that packages with apt's `names` are for, this machine's first."""
    others = {name.partition(":")[2] for name in names} - {"", NATIVE}
    return (NATIVE, *sorted(others))


def debian_sources(
    etc_apt: Path,
    codename: str,
    suite: str,
    architectures: Sequence[str] = (NATIVE,),
    *,
    kind: str = "deb",
    component: str = "main",
) -> str:
    """The machine's Debian sources as one deb822 text, with `suite` in place of the machine's own `codename`.

    Args:
        etc_apt: the folder that holds ``sources.list`` and ``sources.list.d``.
        kind: ``deb`` for packages, ``deb-src`` for their sources.
        component: of the suite, whichever the machine's own sources name beside ``main``.
    """
    narrowed = (_narrow(one, codename, suite, architectures, kind, component) for one in _read_sources(etc_apt))
    stanzas = [stanza for stanza in narrowed if stanza is not None]
    if not stanzas:
        raise errors.HostError(
            f"no apt source of this machine offers Debian's `{codename}`",
            where=str(etc_apt),
            hint=f"add Debian's own sources to {etc_apt}, or {_CONDA_FORGE}",
        )
    return "\n".join(stanzas)


def _read_sources(etc_apt: Path) -> Iterator[dict[str, str]]:
    parts = etc_apt / "sources.list.d"
    one_line = [etc_apt / "sources.list", *sorted(parts.glob("*.list"))]
    for path in one_line:
        if path.exists():
            yield from filter(None, map(_from_line, path.read_text(encoding="utf-8").splitlines()))
    for path in sorted(parts.glob("*.sources")):
        yield from _from_deb822(path.read_text(encoding="utf-8"))


def _from_line(line: str) -> dict[str, str] | None:
    match = re.match(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<rest>[^#]+)", line)
    if not match:
        return None
    fields = {"URIs": match["uri"], "Suites": match["suite"], "Components": match["rest"].strip()}
    for option in shlex.split(match["options"] or ""):
        key, _, value = option.partition("=")
        if key.lower() in ("signed-by", "trusted"):
            fields[key.title()] = value
    return fields


def _from_deb822(text: str) -> Iterator[dict[str, str]]:
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        key = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace():
                fields[key] += "\n" + line
                continue
            key, _, value = line.partition(":")
            fields[key.strip()] = value.strip()
        if "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes").lower() not in ("no", "false"):
            yield fields


def _narrow(
    fields: dict[str, str], codename: str, suite: str, architectures: Sequence[str], kind: str, component: str
) -> str | None:
    ours = {codename, *(f"{codename}{end}" for end in ("-updates", "-security", "/updates"))}
    suites = [name.replace(codename, suite, 1) for name in fields.get("Suites", "").split() if name in ours]
    if not suites or "main" not in fields.get("Components", "").split():
        return None
    kept = {key: value for key, value in fields.items() if key.title() in ("Uris", "Signed-By", "Trusted")}
    lines = [f"Types: {kind}", f"Suites: {' '.join(suites)}", f"Components: {component}"]
    lines += [f"Architectures: {' '.join(architectures)}"]
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in kept.items())]) + "\n"


class Apt:
    """apt with its own state in `folder`."""

    def __init__(
        self, folder: Path, sources: str, processes: Processes, architectures: Sequence[str] = (NATIVE,)
    ) -> None:
        self._folder = folder
        self._processes = processes
        self._limits = read_limits()
        for name in ("lists/partial", "archives/partial", "sources.d", "empty"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "sources.d" / "debian.sources").write_text(sources, encoding="utf-8")
        # Only Debian's own packages count, whatever else a mirror offers under the same suite: the first match wins.
        (folder / "preferences").write_text(
            "Package: *\nPin: release o=Debian\nPin-Priority: 990\n\nPackage: *\nPin: release *\nPin-Priority: -1\n",
            encoding="utf-8",
        )
        (folder / "status").touch()
        settings = {
            "Dir::Etc::SourceList": folder / "empty" / "none",
            "Dir::Etc::SourceParts": folder / "sources.d",
            "Dir::Etc::Preferences": folder / "preferences",
            "Dir::Etc::PreferencesParts": folder / "empty",
            "Dir::State": folder,
            "Dir::State::Lists": folder / "lists",
            "Dir::State::Status": folder / "status",
            "Dir::Cache": folder,
            "Dir::Cache::Archives": folder / "archives",
            "APT::Architecture": NATIVE,
            "APT::Sandbox::User": "root",  # the cache is the user's: apt's own user cannot write there
            "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
            "Acquire::http::Timeout": self._limits.silent_seconds,
            "Acquire::https::Timeout": self._limits.silent_seconds,
        }
        # The machine's hooks (cleaning its own cache after an update, for one) have no business with our folders.
        hooks = ("APT::Update::Pre-Invoke", "APT::Update::Post-Invoke", "APT::Update::Post-Invoke-Success")
        self._configuration = folder / "apt.conf"
        self._configuration.write_text(
            "".join(f"#clear {hook};\n" for hook in hooks)
            + "".join(f'{key} "{value}";\n' for key, value in settings.items())
            + "".join(f'APT::Architectures:: "{name}";\n' for name in architectures),
            encoding="utf-8",
        )

    def update(self) -> None:
        """Fetch the signed indexes."""
        watch = DownloadWatch(self._folder / "lists", "Debian's package index", self._limits, self._limits.index_bytes)
        outcome = self._run("apt-get", "update", cwd=self._folder, watch=watch)
        if outcome.status != 0:
            raise _failure(outcome, "Debian's package index", self._folder)

    def offers(self, names: Sequence[str]) -> dict[str, OfferedDeb]:
        """What the index offers for each of `names`."""
        outcome = self._run("apt-get", "--print-uris", "download", *names, cwd=self._folder)
        offers: dict[str, OfferedDeb] = {}
        for line in outcome.text.splitlines():
            if match := _LINE.match(line.strip()):
                plain, version, processor = match["file"].removesuffix(".deb").split("_")
                name = plain if processor in (NATIVE, "all") else f"{plain}:{processor}"
                offers[name] = OfferedDeb(
                    name, urllib.parse.unquote(version), match["file"], int(match["size"]), match["sha256"]
                )
        missing = [name for name in names if name not in offers]
        if outcome.status != 0 or missing:
            raise errors.HostError(
                f"Debian's index does not offer {', '.join(missing) or 'what is needed'}",
                hint="check the apt sources of this machine",
                detail=outcome.tail,
            )
        return offers

    def listed(self, debs: Sequence[OfferedDeb]) -> set[str]:
        """The sha256 of those of `debs` that an index lists still, if not as the newest."""
        outcome = self._run("apt-cache", "show", *(deb.name for deb in debs), cwd=self._folder)
        return set(re.findall(r"^SHA256: ([0-9a-f]{64})$", outcome.text, re.MULTILINE))

    def download(self, debs: Sequence[OfferedDeb]) -> list[Path]:
        """Download packages with one run of apt, which goes on where an interrupted download stopped."""
        folder = self._folder / "archives"
        names = ", ".join(deb.name for deb in debs[:5]) + (", ..." if len(debs) > 5 else "")
        watch = DownloadWatch(
            folder, f"Debian packages ({names})", self._limits, sum(deb.size for deb in debs) + _SPARE
        )
        wanted = [f"{deb.name}={deb.version}" for deb in debs]
        outcome = self._run("apt-get", "download", *wanted, cwd=folder, watch=watch)
        paths = [folder / deb.file for deb in debs]
        if outcome.status != 0 or not all(path.exists() for path in paths):
            raise _failure(outcome, f"Debian packages ({names})", self._folder)
        return paths

    def download_source(self, name: str) -> Path:
        """The upstream archive of the newest source package `name`."""
        folder = self._folder / "archives"
        watch = DownloadWatch(folder, f"the sources of {name}", self._limits, self._limits.file_bytes)
        outcome = self._run("apt-get", "source", "--download-only", "--tar-only", name, cwd=folder, watch=watch)
        found = sorted(folder.glob(f"{name}_*.orig.tar.*"), key=lambda path: path.stat().st_mtime)
        if outcome.status != 0 or not found:
            raise _failure(outcome, f"the sources of {name}", self._folder)
        return found[-1]

    def _run(self, program: str, *arguments: str, cwd: Path, watch: Callable[[], None] | None = None) -> Answer:
        command = [program, "-q", "-c", str(self._configuration), *arguments]
        return self._processes.run(
            command,
            cwd=cwd,
            what="fetching Debian packages",
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            watch=watch,
        )


def _failure(outcome: Answer, what: str, folder: Path) -> errors.SlipwayError:
    if says_disk_full(outcome.text):
        return errors.DiskFullError(
            "the disk filled up while apt was downloading", where=str(folder), detail=outcome.tail
        )
    if re.search(r"Hash Sum mismatch|not signed|NO_PUBKEY|BADSIG|wrong signature", outcome.text, re.IGNORECASE):
        return errors.IntegrityError(
            f"apt refuses {what}", hint="try again; if it stays, the mirror is damaged", detail=outcome.tail
        )
    return errors.NetworkError(
        f"apt cannot download {what}",
        hint="check the network and the machine's apt sources, then run the same command again",
        detail=outcome.tail,
    )
