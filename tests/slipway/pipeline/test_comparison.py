"""Why two files differ, for every kind of file that is looked into."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import os
import py_compile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elftools.elf.elffile import ELFFile

from slipway.pipeline.comparison import Difference, compare_files, compare_trees, readable, readable_diff, reason

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("one", "two", "why"),
    [
        (b"on 2026-01-01 10:00:00", b"on 2027-01-01 11:00:00", "timestamp"),
        (b"built Nov 21 2026 04:13:10", b"built Jan  3 2027 17:00:59", "timestamp"),
        (b"Sat Nov 21 04:13:10 UTC 2026", b"Mon Nov 30 04:13:11 UTC 2026", "timestamp"),
        (b'"timestamp": 1795228448437', b'"timestamp": 1795228473930', "timestamp"),
        (b"version 20261121", b"version 20261231", "timestamp"),
        (b"in /home/me/build/x", b"in /srv/build/x", "path"),
        (b"in /home/me/build/x at 10:00:00", b"in /srv/build/x at 11:00:00", "timestamp and path"),
        (
            b"\0_ZN40_GLOBAL__N__f0b77c9f_8_truth_cu_f19853bc",
            b"\0_ZN40_GLOBAL__N__b10c3da4_8_truth_cu_f19853bc",
            "path",
        ),
        (b"a\nb\n", b"b\na\n", "order"),
        (b'{"a": 1, "b": [2, 3]}', b'{"b": [3, 2], "a": 1}', "order"),
        (b"/x/a b\n/x/c d\n", b"/y/c d\n/y/a b\n", "path and order"),
        (b"abc", b"abd", "other: the content, first at byte 2 (3 and 3 bytes)"),
        (b"ab", b"abd", "other: the content, first at byte 2 (2 and 3 bytes)"),
        (b"\0\1abcdef /tmp/one/x\0", b"\0\1abcdef /tmp/another/x\0", "path"),
        (b"\0\1abcdef\0", b"\0\2abcdef\0", "other: the content, first at byte 1 (9 and 9 bytes)"),
    ],
)
def test_reasons(one: bytes, two: bytes, why: str) -> None:
    assert reason(one, two) == why


def test_binary_files_show_what_they_say() -> None:
    diff = readable_diff("x", b"\0built in /tmp/one\0", b"\0built in /tmp/two\0")
    assert "-built in /tmp/one" in diff
    assert "+built in /tmp/two" in diff


def test_long_diffs_are_cut_and_say_so() -> None:
    one = "".join(f"{number}\n" for number in range(100)).encode()
    assert readable_diff("x", one, b"").splitlines()[-1] == "... and 63 more lines"


def packed(text: bytes, seconds: int) -> bytes:
    return gzip.compress(text, mtime=seconds)


def zipped(text: bytes, year: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.txt", (year, 1, 1, 0, 0, 0)), text)
    return buffer.getvalue()


def library(text: bytes, seconds: int) -> bytes:
    header = b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"a.o/", seconds, 0, 0, 0o644, len(text))
    return b"!<arch>\n" + header + text


@pytest.mark.parametrize(("make", "other_time"), [(packed, 1_000_000_000), (zipped, 1999), (library, 1_000_000_000)])
def test_times_inside_archives(make: Callable[[bytes, int], bytes], other_time: int) -> None:
    now = 2026 if make is zipped else 1_700_000_000
    assert reason(make(b"text", now), make(b"text", other_time)) == "timestamp"
    assert reason(make(b"in /a/b", now), make(b"in /c/d", now)) == "path"
    assert reason(make(b"one", now), make(b"two", now)).startswith("other: the content")


def test_damaged_archives_are_compared_as_bytes() -> None:
    one = packed(b"text" * 100, 1)[:-20]
    two = packed(b"text" * 101, 2)[:-25] + b"\0"
    assert reason(one, two).startswith("other")
    assert readable(b"PK\x03\x04 a text after all") == ["PK\x03\x04 a text after all"]


def test_bytecode_with_the_time_of_its_source(tmp_path: Path) -> None:
    source = tmp_path / "a.py"
    contents = []
    for seconds in (1_600_000_000, 1_700_000_000):
        source.write_text("x = 1\n")
        os.utime(source, (seconds, seconds))
        compiled = py_compile.compile(str(source), cfile=str(tmp_path / "a.pyc"), dfile="a.py")
        assert compiled is not None
        contents.append(Path(compiled).read_bytes())
    assert reason(*contents) == "timestamp"
    source.write_text("x = 2\n")
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compiled = py_compile.compile(str(source), cfile=str(tmp_path / "a.pyc"), dfile="a.py", invalidation_mode=mode)
    assert compiled is not None
    assert reason(contents[0], Path(compiled).read_bytes()).startswith("other")


@pytest.fixture(scope="module")
def elf() -> bytes:
    spec = importlib.util.find_spec("zstandard.backend_c") or importlib.util.find_spec("yaml._yaml")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_bytes()


def changed_section(content: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    section = ELFFile(io.BytesIO(content)).get_section_by_name(name)
    assert section is not None
    start, size = section["sh_offset"], section["sh_size"]
    replaced = change(content[start : start + size])
    assert len(replaced) == size
    return content[:start] + replaced + content[start + size :]


def test_parts_of_a_library(elf: bytes) -> None:
    def saying(text: bytes) -> bytes:
        return changed_section(elf, ".rodata", lambda data: text + b"\0" + data[len(text) + 1 :])

    assert reason(saying(b"/home/one/x"), saying(b"/home/two/y")) == "path"
    assert reason(saying(b"Jan  1 2026"), saying(b"Feb  2 2027")) == "timestamp"
    code = changed_section(elf, ".text", lambda data: bytes([data[0] ^ 255]) + data[1:])
    assert reason(elf, code).startswith("other: the content")
    assert ".text: " in readable_diff("x.so", elf, code)
    identified = changed_section(elf, ".note.gnu.build-id", lambda data: data[:16] + bytes(len(data) - 16))
    assert reason(elf, identified).startswith("other: only the build id")
    assert "+build id: 00000000" in readable_diff("x.so", elf, identified)


def write_tree(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def listing(*hashes: str) -> bytes:
    paths = [{"_path": f"{name}.txt", "sha256": value} for name, value in zip("ab", hashes, strict=True)]
    return json.dumps({"paths": paths}).encode()


def test_trees(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "1", {"a.txt": b"1", "b.txt": b"b", "c": b"c", "info/paths.json": listing("1", "b")})
    two = write_tree(tmp_path / "2", {"a.txt": b"2", "b.txt": b"b", "d": b"d", "info/paths.json": listing("2", "b")})
    found = {difference.file: difference.why for difference in compare_trees(one, two)}
    assert found == {
        "a.txt": "other: the content, first at byte 0 (1 and 1 bytes)",
        "c": "only in the first package",
        "d": "only in the second package",
        "info/paths.json": "follows from the above: their hashes and sizes",
    }
    (two / "info/paths.json").write_bytes(listing("2", "c"))
    assert [difference.why for difference in compare_trees(one, two)][-1].startswith("other: the content")
    assert list(compare_trees(one, one)) == []


def test_kinds_and_modes(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"same")
    two.write_bytes(b"same")
    assert compare_files("x", one, two) is None
    two.chmod(0o755)
    found = compare_files("x", one, two)
    assert found == Difference("x", "other: no program in the first package, a program in the second")
    two.unlink()
    two.symlink_to("one")
    found = compare_files("x", one, two)
    assert found == Difference("x", "other: a file in the first package, a link in the second")
