"""What libraries and programs are linked to, and whether the package's dependencies agree."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from slipway.base.events import ERROR, WARNING
from slipway.verify.policies import match_name
from slipway.verify.surroundings import resolve_link

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from slipway.base.events import Finding
    from slipway.verify.elf import ElfFacts
    from slipway.verify.facts import FileFacts
    from slipway.verify.rules.case import Case


def _dynamic(case: Case) -> Iterator[tuple[FileFacts, ElfFacts]]:
    for entry in case.facts.files:
        if entry.elf is not None and entry.elf.dynamic:
            yield entry, entry.elf


def _needs(case: Case) -> Iterator[tuple[str, str]]:
    """Path of a file, and each library that it needs from outside of the package and of the system."""
    own = {entry.name for entry in case.facts.files}
    own |= {entry.elf.soname for _, entry in enumerate(case.facts.files) if entry.elf and entry.elf.soname}
    for entry, elf in _dynamic(case):
        for library in elf.needed:
            if library not in own and not _allowed(library, case.policies.linking.system):
                yield entry.path, library


def _allowed(library: str, patterns: Mapping[str, str]) -> bool:
    return any(match_name(pattern, library) for pattern in patterns)


def run_paths(case: Case) -> Iterator[Finding]:
    """Libraries are looked for relative to the file that needs them, and inside the prefix."""
    for entry, elf in _dynamic(case):
        for run_path in elf.run_paths:
            first, _, rest = run_path.partition("/")
            if first not in ("$ORIGIN", "${ORIGIN}"):
                cure = "link with -Wl,-rpath,'$ORIGIN/...', or let the build engine make it relative"
                message = f"looks for libraries in `{run_path}`, which is not relative to it"
                yield case.finding(ERROR, "run-path", entry.path, message, cure)
                continue
            folder = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), rest))
            if folder == ".." or folder.startswith("../"):
                cure = "take one `..` away: the path is counted from the folder of the file"
                message = f"looks for libraries in `{run_path}`, outside of the prefix"
                yield case.finding(ERROR, "run-path", entry.path, message, cure)


def needed_libraries(case: Case) -> Iterator[Finding]:
    """Every library that is needed is in the package, in its environment, or on the list of the system's."""
    if case.surroundings is None:
        return
    brought = case.surroundings.libraries
    for path, library in _needs(case):
        if library in brought:
            continue
        if _allowed(library, case.policies.linking.driver):
            cure = "load it with dlopen: the package must import on machines without a driver"
            message = f"cannot load without {library}, which comes with a driver"
            yield case.finding(WARNING, "linking", path, message, cure)
        else:
            cure = "add the package that brings it to `requirements/host`; its run_exports add it to `run`"
            yield case.finding(ERROR, "linking", path, f"needs {library}, which nothing brings along", cure)


def undeclared(case: Case) -> Iterator[Finding]:
    """What is linked to comes from a package that is declared, or that a declared one promises by its run_exports."""
    if case.surroundings is None:
        return
    declared = case.facts.dependency_names
    packages = case.surroundings.packages
    promised = {name for dependency in declared & packages.keys() for name in packages[dependency].exported}
    brought = case.surroundings.libraries
    for path, library in _needs(case):
        provider = brought.get(library)
        if provider is None or provider in declared or provider in promised or _is_implied(case, library):
            continue
        cure = f"add `{provider}` to `requirements/run` (or to `host`, if it has run_exports)"
        message = f"needs {library} of `{provider}`, which is there by chance: no dependency declares it"
        yield case.finding(ERROR, "undeclared", path, message, cure)


def _is_implied(case: Case, library: str) -> bool:
    return any(
        match_name(implied.library, library) and implied.by in case.facts.dependency_names
        for implied in case.policies.linking.implied
    )


def unused(case: Case) -> Iterator[Finding]:
    """A dependency that brings libraries and nothing else to use is linked to."""
    if case.surroundings is None or not any(True for _ in _dynamic(case)):
        return
    needed = {library for _, elf in _dynamic(case) for library in elf.needed}
    for name in sorted(case.facts.dependency_names & case.surroundings.packages.keys()):
        inventory = case.surroundings.packages[name]
        if not inventory.libraries or inventory.has_other_uses or inventory.libraries & needed:
            continue
        if any(
            match_name(allowed.package, case.facts.package) and match_name(allowed.dependency, name)
            for allowed in case.policies.linking.unused
        ):
            continue
        if any(_is_linked_through(case, library, name) for library in needed):
            continue
        cure = "remove it from `requirements`, or name it in `build/ignore_run_exports`, or give the reason it is there"
        message = (
            f"depends on `{name}`, but links to none of its libraries ({', '.join(sorted(inventory.libraries)[:4])})"
        )
        yield case.finding(WARNING, "unused", "info/index.json", message, cure)


def _is_linked_through(case: Case, library: str, name: str) -> bool:
    """Whether `name` is declared for the sake of a library that another package brings under its promise."""
    return any(match_name(implied.library, library) and implied.by == name for implied in case.policies.linking.implied)


def openmp(case: Case) -> Iterator[Finding]:
    """There is exactly one OpenMP runtime in the environment, under however many names."""
    if case.surroundings is None:
        return
    names = case.policies.openmp.runtimes
    files: dict[str, str] = {}
    unknown: list[str] = []
    links: dict[str, str] = {}
    for entry in case.facts.files:
        if _is_runtime(entry.name, names) and not _allowed(entry.path, case.policies.openmp.not_loaded):
            if entry.target:
                links[entry.path] = resolve_link(entry.path, entry.target)
            else:
                files[entry.path] = case.facts.package
    for package, inventory in case.surroundings.packages.items():
        for path, is_link in inventory.links.items():
            if not _is_runtime(posixpath.basename(path), names) or _allowed(path, case.policies.openmp.not_loaded):
                continue
            if not is_link:
                files[path] = package
            elif path in inventory.targets:
                links[path] = resolve_link(path, inventory.targets[path])
            else:
                unknown.append(path)
    loaded: set[str] = set()
    for path in {*files, *links}:
        if posixpath.basename(path) in names:
            loaded.add(_end_of_links(path, links))
    cure = "let one of them take the other's place: `_openmp_mutex` chooses, and `libgomp` or `llvm-openmp` follows"
    shown = ", ".join(f"{path} of `{files.get(path, '?')}`" for path in sorted(loaded))
    if len(loaded) > 1:
        severity = WARNING if unknown else ERROR
        message = f"{len(loaded)} OpenMP runtimes are in its environment: {shown}"
        yield case.finding(severity, "openmp", "info/index.json", message, cure)
    needed = {library for _, elf in _dynamic(case) for library in elf.needed if library in names}
    if needed and not loaded and not unknown:
        message = f"uses OpenMP ({', '.join(sorted(needed))}), and no runtime is in its environment"
        yield case.finding(ERROR, "openmp", "info/index.json", message, cure)


def _is_runtime(name: str, runtimes: tuple[str, ...]) -> bool:
    """One of the loader's names, or one with the full version behind it."""
    return any(name == runtime or name.startswith(f"{runtime}.") for runtime in runtimes)


def _end_of_links(path: str, links: Mapping[str, str]) -> str:
    seen: set[str] = set()
    while path in links and path not in seen:
        seen.add(path)
        path = links[path]
    return path
