"""Each rule finds what it is for, and nothing in a good package."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.verify import format_findings, has_errors, shared_files
from slipway.verify.elf import ElfFacts
from slipway.verify.facts import FileFacts, PackageFacts
from slipway.verify.policies import ERROR, WARNING, Finding, Surroundings, judge

ELF = ElfFacts(machine="EM_X86_64", dynamic=True, needed=("libc.so.6",), soname="liba.so", run_paths=("$ORIGIN",))
FILE = FileFacts(
    path="lib/liba.so", promised_sha256="1", actual_sha256="1", prefix_mode=None, leaked_path=None, elf=ELF
)
GOOD = PackageFacts(
    name="a-1-0.conda",
    index={"name": "a", "depends": ["libstdcxx >=12"]},
    about={"license": "MIT"},
    files=(FILE,),
    unlisted=(),
    licence_files=("LICENSE",),
)
AROUND = Surroundings({"libstdc++.so.6": "libstdcxx", "libz.so.1": "zlib"})


def verdicts(facts: PackageFacts) -> list[tuple[str, str]]:
    """Severity and rule of every finding."""
    return [(finding.severity, finding.rule) for finding in judge(facts, AROUND)]


def test_good_package_has_no_findings() -> None:
    assert verdicts(GOOD) == []


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (replace(FILE, actual_sha256=None), (ERROR, "paths")),
        (replace(FILE, actual_sha256="2"), (ERROR, "paths")),
        (replace(FILE, leaked_path="/w/bld/rattler-build_a/work/a.c"), (ERROR, "build-path")),
        (replace(FILE, prefix_mode="binary"), (WARNING, "build-path")),
        (replace(FILE, elf=replace(ELF, run_paths=("/opt/lib",))), (ERROR, "run-path")),
        (replace(FILE, elf=replace(ELF, needed=("libgone.so.1",))), (ERROR, "linking")),
        (replace(FILE, elf=replace(ELF, needed=("libz.so.1",))), (WARNING, "linking")),
        (replace(FILE, elf=replace(ELF, needed=("libcuda.so.1",))), (WARNING, "linking")),
    ],
)
def test_bad_file_is_found(file: FileFacts, expected: tuple[str, str]) -> None:
    assert verdicts(replace(GOOD, files=(file,))) == [expected]


@pytest.mark.parametrize(
    "elf",
    [
        replace(ELF, needed=("libstdc++.so.6",)),
        replace(ELF, needed=("liba.so",)),
        replace(ELF, dynamic=False, run_paths=("/static/archives/have/none",)),
    ],
)
def test_fine_linking_is_not_found(elf: ElfFacts) -> None:
    assert verdicts(replace(GOOD, files=(replace(FILE, elf=elf),))) == []


def test_unlisted_file_and_missing_licence() -> None:
    facts = replace(GOOD, unlisted=("share/x",), about={}, licence_files=())
    assert verdicts(facts) == [(ERROR, "paths"), (WARNING, "licence"), (WARNING, "licence")]


def test_metapackage_needs_no_licence() -> None:
    assert verdicts(replace(GOOD, files=(), about={}, licence_files=())) == []


def test_shared_file_names_the_other_package() -> None:
    others = {"b-1-0.conda": frozenset({"lib/liba.so", "lib/libb.so"}), "c-1-0.conda": frozenset({"x"})}
    assert shared_files(GOOD, others) == [
        Finding(ERROR, "a-1-0.conda", "shared-file", "lib/liba.so", "b-1-0.conda installs it too")
    ]


def test_table_puts_errors_first() -> None:
    warning = Finding(WARNING, "a", "licence", "x", "w")
    error = Finding(ERROR, "a", "paths", "y", "e")
    assert [line.split()[0] for line in format_findings([warning, error]).splitlines()[2:]] == [ERROR, WARNING]
    assert has_errors([warning, error])
    assert not has_errors([warning])
