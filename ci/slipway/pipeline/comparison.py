"""Where two builds of a package differ, and why: a timestamp, a path, an order, or something else.

Files are compared as people would read them: text as it is; archives, bytecode and libraries as a listing of what they
hold, so that a time inside a header or a folder inside a library shows as such.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import itertools
import json
import re
import stat
import struct
import time
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

DIFF_LINES = 40
"""Of one file; more of them help nobody."""

READABLE_BYTES = 64 << 20
"""What is larger, when unpacked, is not looked into."""

_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
TIME = re.compile(
    rb"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?"
    rb"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:" + _MONTH + rb" [ \d]\d|\d?\d " + _MONTH + rb")"
    rb"(?: \d\d:\d\d:\d\d(?: [AP]M)?(?: [A-Z]{3,4})?)?(?: \d{4})?"
    rb"|\b\d\d:\d\d:\d\d\b|\b20\d\d[01]\d[0-3]\d(?:T?\d{4,6}Z?)?\b|\b1[5-9]\d{8,11}(?:\.\d+)?\b"
)
"""A date, a time of day, or seconds since 1970 between 2017 and 2033."""

FOLDER = re.compile(rb"(?:/[\w.+@~-]+){2,}/?|_GLOBAL__N__[0-9a-f]{8}_")
"""A path, or the hash of one: nvcc names what is in a file's anonymous namespace after the folder of the file."""

PRINTABLE = re.compile(rb"[\x20-\x7e\t]{4,}")
STRING_SECTIONS = frozenset({".dynstr", ".strtab", ".rodata", ".comment", ".debug_str", ".debug_line_str", ".interp"})
BUILD_ID = "build id: "
BROKEN = (ELFError, OSError, ValueError, EOFError, KeyError, struct.error, zlib.error, zipfile.BadZipFile)
OPAQUE = "(content) "
"""How a line begins that stands for bytes which cannot be read."""


@dataclass(frozen=True)
class Difference:
    """One file of the package that is not the same, why, and a diff that a person can read."""

    file: str
    why: str
    diff: str = ""


def compare_trees(first: Path, second: Path) -> Iterator[Difference]:
    """What is different between two unpacked packages; what merely follows from other differences comes last."""
    names = [
        {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_symlink() or not path.is_dir()}
        for tree in (first, second)
    ]
    for name in sorted(names[0] ^ names[1]):
        yield Difference(name, "only in the first package" if name in names[0] else "only in the second package")
    changed = set(names[0] ^ names[1])
    for name in sorted(names[0] & names[1] - {"info/paths.json"}):
        found = compare_files(name, first / name, second / name)
        if found is not None:
            changed.add(name)
            yield found
    name = "info/paths.json"
    if name in names[0] & names[1]:
        found = compare_files(name, first / name, second / name)
        if found is not None:
            listings = [_without_hashes((tree / name).read_bytes(), changed) for tree in (first, second)]
            follows = bool(changed) and listings[0] == listings[1]
            yield Difference(name, "follows from the above: their hashes and sizes") if follows else found


def _without_hashes(listing: bytes, names: set[str]) -> object:
    content = json.loads(listing)
    return [entry for entry in content["paths"] if entry["_path"] not in names]


def compare_files(name: str, one: Path, two: Path) -> Difference | None:
    """The difference between two files or links, None where there is none."""
    kinds = ["link" if path.is_symlink() else "file" for path in (one, two)]
    if kinds[0] != kinds[1]:
        return Difference(name, f"other: a {kinds[0]} in the first package, a {kinds[1]} in the second")
    contents = [bytes(path.readlink()) if path.is_symlink() else path.read_bytes() for path in (one, two)]
    if contents[0] != contents[1]:
        return Difference(name, reason(*contents), readable_diff(name, *contents))
    if kinds[0] == "file":
        modes = ["a program" if path.stat().st_mode & stat.S_IXUSR else "no program" for path in (one, two)]
        if modes[0] != modes[1]:
            return Difference(name, f"other: {modes[0]} in the first package, {modes[1]} in the second")
    return None


def reason(one: bytes, two: bytes) -> str:
    """Why two contents differ: any of timestamp, path and order, as far as that explains it all, or ``other``."""
    before, after = readable(one), readable(two)
    changed = {*before} ^ {*after}
    if changed and all(line.startswith(BUILD_ID) for line in changed):
        return (
            "other: only the build id, the linker's hash of all that it linked: something differed that was "
            "stripped or rewritten later, most often the folder of the build"
        )
    # What can be read explains what cannot: another path also moves all that lies behind it.
    told = [[line for line in lines if not line.startswith((BUILD_ID, OPAQUE))] for lines in (before, after)]
    if told[0] == told[1]:
        if any(line.startswith(f"{OPAQUE}.dynstr") for line in changed):
            return "path: of another length, in a run path that was overwritten later"
        told = [before, after]
    for count in (1, 2, 3):
        for names in itertools.combinations(NORMALISERS, count):
            if _normalised(told[0], names) == _normalised(told[1], names):
                return " and ".join(names)
    at = next((index for index, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return f"other: the content, first at byte {at} ({len(one)} and {len(two)} bytes)"


def _no_times(lines: Sequence[bytes]) -> list[bytes]:
    return [TIME.sub(b"TIME", line) for line in lines]


def _no_folders(lines: Sequence[bytes]) -> list[bytes]:
    return [FOLDER.sub(b"FOLDER", line) for line in lines]


def _sorted(lines: Sequence[bytes]) -> list[bytes]:
    """In one order, and the words of every line too; or else all words of the text."""
    return sorted(word for line in lines for word in re.split(rb"[,;:\s\[\](){}]+", line) if word)


NORMALISERS: dict[str, Callable[[Sequence[bytes]], list[bytes]]] = {
    "timestamp": _no_times,
    "path": _no_folders,
    "order": _sorted,
}


def _normalised(lines: Sequence[str], names: Sequence[str]) -> list[bytes]:
    result = [line.encode(errors="surrogateescape") for line in lines]
    for name in names:
        result = NORMALISERS[name](result)
    return result


def readable_diff(name: str, one: bytes, two: bytes) -> str:
    """A unified diff of what can be read of the two, its beginning."""
    diff = list(difflib.unified_diff(readable(one), readable(two), f"first/{name}", f"second/{name}", lineterm="", n=1))
    more = len(diff) - DIFF_LINES
    return "\n".join([*diff[:DIFF_LINES], *([f"... and {more} more lines"] if more > 0 else [])])


def readable(content: bytes) -> list[str]:
    """Lines that say what is in `content`: its text, or what a binary file of a known kind holds."""
    for sign, reader in READERS.items():
        if content.startswith(sign):
            try:
                return list(reader(content))
            except BROKEN:
                break  # it only looked like one
    if is_bytecode(content):
        return list(_bytecode(content))
    if b"\0" not in content:
        return content.decode(errors="surrogateescape").splitlines()
    return list(_strings(content))


def _strings(content: bytes, where: str = "") -> Iterator[str]:
    for match in PRINTABLE.finditer(content):
        yield f"{where}{match.group().decode('ascii')}"
    yield f"{OPAQUE}{where}{len(content)} bytes, sha256 {_hash(content)}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _when(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


def _elf(content: bytes) -> Iterator[str]:
    file = ELFFile(io.BytesIO(content))
    for section in file.iter_sections():
        if section["sh_type"] in ("SHT_NULL", "SHT_NOBITS"):
            continue
        data = section.data()
        if section.name == ".note.gnu.build-id":
            yield f"{BUILD_ID}{data[16:].hex()}"
        elif section.name in STRING_SECTIONS:
            yield from _strings(data, f"{section.name}: ")
        else:
            yield f"{OPAQUE}{section.name}: {len(data)} bytes, sha256 {_hash(data)}"


def _gzip(content: bytes) -> Iterator[str]:
    yield f"packed at {_when(struct.unpack('<I', content[4:8])[0])}, header {content[8:10].hex()}"
    inner = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(content, READABLE_BYTES)
    yield from readable(inner)


def _zip(content: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            year, month, day, hour, minute, second = entry.date_time
            yield (
                f"{entry.filename}: {year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}, "
                f"mode {entry.external_attr >> 16:o}"
            )
            if entry.file_size <= READABLE_BYTES:
                yield from (f"{entry.filename}: {line}" for line in readable(archive.read(entry)))


def _ar(content: bytes) -> Iterator[str]:
    at = 8
    while at + 60 <= len(content):
        header = content[at : at + 60].decode("ascii", errors="replace")
        name, size = header[:16].strip(), int(header[48:58])
        yield f"{name}: {_when(int(header[16:28] or 0))}, owner {header[28:40].strip()}, mode {header[40:48].strip()}"
        yield from (f"{name}: {line}" for line in readable(content[at + 60 : at + 60 + size]))
        at += 60 + size + size % 2


def is_bytecode(content: bytes) -> bool:
    """Whether that is Python's: every version's magic number ends in a line break."""
    return len(content) > 16 and content[2:4] == b"\r\n" and content[16:17] in (b"\xe3", b"c")


def _bytecode(content: bytes) -> Iterator[str]:
    flags, first, second = struct.unpack("<III", content[4:16])
    yield f"python {content[:2].hex()}, " + (
        f"source hash {first:08x}{second:08x}" if flags else f"source of {_when(first)}, {second} bytes"
    )
    yield from _strings(content[16:])


READERS: dict[bytes, Callable[[bytes], Iterator[str]]] = {
    b"\x7fELF": _elf,
    b"\x1f\x8b": _gzip,
    b"PK\x03\x04": _zip,
    b"!<arch>\n": _ar,
}
