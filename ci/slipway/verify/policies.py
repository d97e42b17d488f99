"""Judgement: what facts about a package mean. The lists are data; each rule is one function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slipway.verify.facts import PackageFacts

SYSTEM_LIBRARIES = frozenset(
    [
        "libc.so.6",
        "libm.so.6",
        "libdl.so.2",
        "libpthread.so.0",
        "librt.so.1",
        "libutil.so.1",
        "libresolv.so.2",
        "libanl.so.1",
        "libmvec.so.1",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    ]
)
"""glibc's own, promised by the ``__glibc`` virtual package."""

DRIVER_LIBRARIES = frozenset(("libcuda.so.1", "libnvidia-ml.so.1"))
"""The NVIDIA driver's: never packaged, there or not there at run time."""

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Finding:
    """One verdict. An ``error`` keeps a package out of the channel."""

    severity: str
    package: str
    rule: str
    where: str
    message: str


@dataclass(frozen=True)
class Surroundings:
    """What is around a package when it runs: library file name -> name of the package that brings it."""

    libraries: Mapping[str, str]


def judge(facts: PackageFacts, surroundings: Surroundings) -> Iterator[Finding]:
    """Every finding about one package."""
    yield from judge_alone(facts)
    yield from _linking(facts, surroundings)


def judge_alone(facts: PackageFacts) -> Iterator[Finding]:
    """What can be said without knowing the package's dependencies."""
    for rule in (_paths, _build_paths, _licences):
        yield from rule(facts)


def _finding(severity: str, facts: PackageFacts, rule: str, where: str, message: str) -> Finding:
    return Finding(severity, facts.name, rule, where, message)


def _paths(facts: PackageFacts) -> Iterator[Finding]:
    for entry in facts.files:
        if entry.actual_sha256 is None:
            yield _finding(ERROR, facts, "paths", entry.path, "paths.json names it, but it is not in the package")
        elif entry.promised_sha256 is not None and entry.promised_sha256 != entry.actual_sha256:
            yield _finding(ERROR, facts, "paths", entry.path, "its content is not what paths.json promises")
    for path in facts.unlisted:
        yield _finding(ERROR, facts, "paths", path, "it is in the package, but paths.json does not name it")


def _build_paths(facts: PackageFacts) -> Iterator[Finding]:
    for entry in facts.files:
        if entry.leaked_path is not None:
            yield _finding(ERROR, facts, "build-path", entry.path, f"holds a path of the build: {entry.leaked_path}")
        elif entry.prefix_mode == "binary":
            message = "a binary with the prefix in it, patched on installation"
            yield _finding(WARNING, facts, "build-path", entry.path, message)


def _licences(facts: PackageFacts) -> Iterator[Finding]:
    if not facts.files:
        return  # a metapackage: nothing to license
    if not facts.about.get("license"):
        yield _finding(WARNING, facts, "licence", "info/about.json", "no licence is named (`about/license`)")
    if not facts.licence_files:
        yield _finding(WARNING, facts, "licence", "info/licenses", "no licence text (`about/license_file`)")


def _linking(facts: PackageFacts, surroundings: Surroundings) -> Iterator[Finding]:
    own = {entry.path.rpartition("/")[2] for entry in facts.files}
    depends = {str(spec).split()[0] for spec in facts.index.get("depends", ())}
    for entry in facts.files:
        if entry.elf is None or not entry.elf.dynamic:
            continue
        for run_path in entry.elf.run_paths:
            if not run_path.startswith("$ORIGIN"):
                yield _finding(ERROR, facts, "run-path", entry.path, f"looks for libraries in `{run_path}`")
        for library in entry.elf.needed:
            if library in own or library in SYSTEM_LIBRARIES:
                continue
            provider = surroundings.libraries.get(library)
            if provider is None and library in DRIVER_LIBRARIES:
                yield _finding(WARNING, facts, "linking", entry.path, f"cannot load without the driver's {library}")
            elif provider is None:
                yield _finding(ERROR, facts, "linking", entry.path, f"needs {library}, which nothing brings along")
            elif provider not in depends:
                message = f"needs {library} of `{provider}`, which is no direct dependency"
                yield _finding(WARNING, facts, "linking", entry.path, message)
