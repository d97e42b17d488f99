"""Writes the description of a package that is made of Debian's, from what these say of themselves, and locks them.

Versions, licences, summaries and dependencies come from the packages' control files and copyrights. What a package
exports to those that link with it comes from its shlibs: a shared library whose name has one number is taken to stay
the same until the first number of the version moves, one with two until the second does.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import tarfile
from collections.abc import Mapping  # noqa: TC003 - read when the file is converted
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from slipway.base.errors import ChannelError, IntegrityError, UsageError
from slipway.base.proc import Processes, capture
from slipway.base.schema import read_yaml
from slipway.bootstrap.cache import Cache
from slipway.bootstrap.choices import ON_DEMAND
from slipway.bootstrap.debian_layout import COMMON_LICENCES, place_of
from slipway.bootstrap.described import Added, write_description
from slipway.bootstrap.download import DebianArchive, Host
from slipway.bootstrap.inventory import read_inventory
from slipway.bootstrap.lock import Lock, read_lock, write_lock
from slipway.bootstrap.sources import open_deb

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.base import log
    from slipway.bootstrap.debs import OfferedDeb

_PINS: Final = {"x": 1, "x.x": 2, "x.x.x": 3}


@dataclass(frozen=True)
class DebianNames:
    """``data/debian.yaml``."""

    provided: Mapping[str, str]
    ignored: tuple[str, ...]
    licences: Mapping[str, str]


@dataclass(frozen=True)
class Asked:
    """A package to describe: the Debian packages that it is made of, and what is not as they say.

    Attributes:
        name: by default the first one's, without a library's number and ``-dev``.
        pin: what must stay the same of the version for a library to fit: ``x``, ``x.x`` or ``x.x.x``.
        licence: an SPDX expression.
        group: the folder below ``on_demand``.
    """

    debs: tuple[str, ...]
    name: str | None = None
    pin: str | None = None
    licence: str | None = None
    group: str = "libraries"


@dataclass(frozen=True)
class DebFacts:
    """What a Debian package says of itself.

    Attributes:
        version: of the upstream project.
        depends: the first of each group of alternatives.
        libraries: name and number of each shared library (``("libz", "1")``).
        common: the licence texts that its copyright refers to, in the folder of all licences.
        holds: how many of its files have a place in a prefix.
    """

    name: str
    version: str
    depends: tuple[str, ...]
    summary: str
    home: str
    libraries: tuple[tuple[str, str], ...]
    copyright: str | None
    common: tuple[str, ...]
    holds: int


class DebianAdder:
    """Describes one package after the other; what they need is described before them, where the channel lacks it."""

    def __init__(self, data: Path, cache: Path, reporter: log.Reporter) -> None:
        self._data = data
        self._reporter = reporter
        self._store = Cache(cache)
        self._inventory = read_inventory(data)
        self._names = read_yaml(data / "debian.yaml", DebianNames, error=ChannelError)
        self._lock = read_lock(self._inventory.lock_path)
        self._locked = dict(self._lock.debs)
        known, archives = Lock(self._lock.suite, {}, {}), self._inventory.settings.archives
        self._archive = DebianArchive(self._store, known, Host(), Processes(), archives=archives, offline=False)
        self._known = {raw.head.name for raw in self._inventory.descriptions}
        self._owners: dict[str, str] = {}
        for description in self._inventory.everything():
            for source in description.sources:
                if source.deb and source.install:
                    exports = [spec for spec in description.run_exports.weak if spec.split()[0] == description.name]
                    self._owners[source.deb] = exports[0] if exports else description.name
        self.added: list[Added] = []
        self.left_out: list[str] = []

    def add(self, asked: Asked) -> None:
        """Describe and lock a package, and what it needs.

        Raises:
            UsageError: the channel has it.
            HostError: Debian has no such package.
            ChannelError: one does not say its licence, or holds nothing for a prefix.
        """
        name = asked.name or plain_name(asked.debs[0])
        if name in self._known:
            raise UsageError(f"the embedded channel has `{name}`", where=str(self._data / "packages"))
        self._known.add(name)
        self._owners |= dict.fromkeys(asked.debs, name)
        offered = self._archive.offers(asked.debs)
        with self._reporter.step(f"Debian's {', '.join(asked.debs)}"):
            facts = [self._read(offered[deb]) for deb in asked.debs]
        depends: list[str] = []
        for wanted in dict.fromkeys(one for fact in facts for one in fact.depends):
            if spec := self._depend_on(wanted, asked):
                depends.append(spec)
        description = describe(name, facts, tuple(dict.fromkeys(depends)), asked, self._names)
        exports = description.get("run_exports", {}).get("weak", [])
        if not exports and any(deb.endswith("-dev") for deb in asked.debs):
            # Headers of libraries that are packages of their own: who compiles with these runs with those.
            runtime = [
                self._owners[one] for one in facts[0].depends if one in self._owners and not one.endswith("-dev")
            ]
            if runtime:
                description["run_exports"] = {"weak": runtime}
        path = self._data / "packages" / ON_DEMAND / asked.group / f"{name}.yaml"
        order = ("name", "version", "summary", "home", "license", "depends", "run_exports", "sources")
        write_description(path, {key: description[key] for key in order if key in description})
        self._owners |= dict.fromkeys(asked.debs, exports[0] if exports else name)
        self._locked |= offered
        self.added.append(Added(name, path))

    def write_lock(self) -> None:
        """Note what was added in the lock file."""
        write_lock(self._inventory.lock_path, self._lock.suite, self._locked.values(), self._lock.wheels.values())

    def _depend_on(self, wanted: str, asked: Asked) -> str | None:
        if wanted in asked.debs or wanted in self._names.ignored:
            return None
        if wanted in self._names.provided:
            return self._names.provided[wanted]
        if wanted in self._owners:
            return self._owners[wanted]
        if wanted.endswith(("-dev", "-doc")) or wanted.startswith(("python3-", "libjs-")):
            self.left_out.append(f"{wanted}, which {asked.debs[0]} asks for")
            return None
        self.add(Asked((wanted,)))
        return self._owners[wanted]

    def _read(self, deb: OfferedDeb) -> DebFacts:
        self._archive.fetch([deb])
        path = self._store.download(deb.sha256, deb.file)
        assert path is not None  # it was stored a moment ago
        with self._store.scratch() as scratch:
            return read_deb(path, scratch)

    def exclusive(self) -> Any:
        """Hold the cache; see `slipway.bootstrap.cache.Cache.exclusive`."""
        return self._store.exclusive(self._reporter)


def read_deb(path: Path, scratch: Path) -> DebFacts:
    """The facts of a Debian package.

    Raises:
        IntegrityError: it cannot be read.
    """
    answer = capture(["dpkg-deb", "--ctrl-tarfile", path], env=os.environ, what="reading a Debian package")
    if answer.status != 0:
        raise IntegrityError("this Debian package cannot be read", where=str(path), detail=answer.tail)
    with tarfile.open(fileobj=io.BytesIO(answer.output)) as archive:
        control = {
            posixpath.normpath(member.name): (archive.extractfile(member) or io.BytesIO()).read().decode()
            for member in archive.getmembers()
            if member.isfile()
        }
    fields = dict(re.findall(r"^([\w-]+): *(.*(?:\n[ \t].*)*)", control["control"], re.MULTILINE))
    with open_deb(path, scratch) as entries:
        listed = {entry.path: entry for entry in entries}
        own = listed.get(f"usr/share/doc/{fields['Package']}/copyright")
        text = own.read().decode(errors="replace") if own is not None and own.link is None else None
    groups = ", ".join(fields[key] for key in ("Pre-Depends", "Depends") if key in fields)
    return DebFacts(
        name=fields["Package"],
        version=upstream_version(fields["Version"]),
        depends=tuple(
            re.split(r"[\s(:|]", group.strip(), maxsplit=1)[0] for group in groups.split(",") if group.strip()
        ),
        summary=fields["Description"].splitlines()[0].strip(),
        home=fields.get("Homepage", ""),
        libraries=tuple(re.findall(r"^(lib\S+) (\S+) ", control.get("shlibs", ""), re.MULTILINE)),
        copyright=text,
        common=tuple(sorted(set(re.findall(rf"/{COMMON_LICENCES}([\w.-]*\w)", text or "")))),
        holds=sum(place_of(name) is not None for name in listed),
    )


def describe(
    name: str, facts: Sequence[DebFacts], depends: Sequence[str], asked: Asked, names: DebianNames
) -> dict[str, Any]:
    """The description of a package as plain data.

    Args:
        facts: of the Debian packages that it is made of; the first one's summary and version are the package's.
        depends: match specs.
    """
    for fact in facts:
        if not fact.holds:
            raise ChannelError(
                f"nothing of {fact.name} goes into a prefix", hint="name the package that holds the files"
            )
    first = facts[0]
    described: dict[str, Any] = {
        "name": name,
        "version": first.version,
        "summary": first.summary,
        "home": first.home or f"Debian's package {first.name}",
        "license": asked.licence or _licence(facts, names),
        "depends": list(depends),
        "sources": [{"deb": fact.name, "install": True} for fact in facts],
    }
    if common := sorted({text for fact in facts for text in fact.common}):
        globs = [COMMON_LICENCES + (common[0] if len(common) == 1 else "{" + ",".join(common) + "}")]
        described["sources"].append({"deb": "base-files", "licenses": globs})
    libraries = [library for fact in facts for library in fact.libraries]
    if libraries:
        parts = _PINS[asked.pin] if asked.pin else max(_stable_parts(first.version, number) for _, number in libraries)
        described["run_exports"] = {"weak": [f"{name} >={first.version},<{_next_version(first.version, parts)}"]}
    if not described["depends"]:
        del described["depends"]
    return described


def plain_name(deb: str) -> str:
    """conda's name for a Debian package: ``libssh2-1`` is libssh2, ``libpsl5`` is libpsl, ``m4`` is m4."""
    name = deb.removesuffix("-dev")
    if not name.startswith("lib"):
        return name
    shorter = re.sub(r"(-\d[\d.]*)+$", "", name)
    return shorter if shorter != name else re.sub(r"\d[\d.]*$", "", name)


def upstream_version(version: str) -> str:
    """``1:1.2.13.dfsg-1`` is 1.2.13."""
    plain = version.partition(":")[2] or version
    return re.sub(
        r"[.+~](dfsg|ds|repack|really|git|cvs|debian|nmu)\S*$", "", plain.rpartition("-")[0] or plain
    ).replace("-", ".")


def _stable_parts(version: str, number: str) -> int:
    """How many parts of the version the number of a shared library has; two where it counts for itself."""
    parts, given = version.split("."), number.split(".")
    return min(len(given), 3) if parts[: len(given)] == given else 2


def _next_version(version: str, parts: int) -> str:
    """The first version that is another one in its first `parts` numbers: ``1.2.13``, 1 -> ``2.0a0``."""
    numbers = [int(re.match(r"\d+", part)[0]) if re.match(r"\d+", part) else 0 for part in version.split(".")]  # type: ignore[index]
    kept = (numbers + [0] * parts)[:parts]
    kept[-1] += 1
    return ".".join(map(str, kept)) + ".0a0"


def _licence(facts: Sequence[DebFacts], names: DebianNames) -> str:
    """SPDX's expression for what the copyright says of all files."""
    for fact in facts:
        stanza = re.search(r"^Files: *\*(?:\s|\n(?=[^\n])).*?^License: *(.+?)$", fact.copyright or "", re.M | re.S)
        if stanza is None:
            continue
        words = re.split(r"\s*(?:,\s*)?\b(and|or)\b\s*", stanza[1].strip().rstrip(","))
        text = " ".join(word.upper() if word in ("and", "or") else _spdx(word, names) for word in words)
        try:
            return str(canonicalize_license_expression(text))
        except InvalidLicenseExpression:
            continue
    raise ChannelError(
        f"the copyright of {facts[0].name} does not say its licence as SPDX knows it",
        hint="say it: `slipway bootstrap add ... --license SPDX`",
    )


def _spdx(word: str, names: DebianNames) -> str:
    """``GPL-2+`` is GPL-2.0-or-later, ``Expat`` is MIT."""
    if match := re.fullmatch(r"(L?GPL|AGPL|GFDL)-?v?(\d(?:\.\d)?)(\+?)(?: with (.*))?", word):
        version = match[2] if "." in match[2] else f"{match[2]}.0"
        return f"{match[1]}-{version}-{'or-later' if match[3] else 'only'}"
    known = names.licences.get(word.lower())
    if known is not None:
        return known
    try:
        return str(canonicalize_license_expression(word))
    except InvalidLicenseExpression:
        return "LicenseRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-")
