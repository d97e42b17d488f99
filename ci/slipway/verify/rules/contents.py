"""What is in the files: all that was promised and nothing of the machine that built them."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from slipway.base.events import ERROR, WARNING
from slipway.base.platform import PLATFORMS
from slipway.channel.judgement import find_case_collisions
from slipway.verify.policies import match_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base.events import Finding
    from slipway.verify.rules.case import Case


def paths(case: Case) -> Iterator[Finding]:
    """paths.json names every file of the package and nothing else, with its content."""
    cure = "build the package again; whatever changed it after the build did not update info/paths.json"
    for entry in case.facts.files:
        if not entry.present:
            yield case.finding(ERROR, "paths", entry.path, "paths.json names it, but it is not in the package", cure)
        elif entry.actual_sha256 and entry.promised_sha256 and entry.promised_sha256 != entry.actual_sha256:
            yield case.finding(ERROR, "paths", entry.path, "its content is not what paths.json promises", cure)
        elif entry.actual_sha256 and entry.promised_size is not None and entry.promised_size != entry.size:
            message = f"it has {entry.size} bytes, and paths.json says {entry.promised_size}"
            yield case.finding(ERROR, "paths", entry.path, message, cure)
    for path in case.facts.unlisted:
        yield case.finding(ERROR, "paths", path, "it is in the package, but paths.json does not name it", cure)


def names(case: Case) -> Iterator[Finding]:
    """No two files have names that file systems take for one, where the package is installed on such (not on Linux)."""
    platform = PLATFORMS.get(str(case.facts.index.get("subdir")))
    if platform is not None and platform.system == "linux":
        return
    cure = "give one of them another name in the build script, or leave it out"
    for first, second in find_case_collisions(entry.path for entry in case.facts.files):
        yield case.finding(ERROR, "names", second, f"it differs from `{first}` in nothing but case", cure)


def modes(case: Case) -> Iterator[Finding]:
    """No file runs as somebody else, and none can be changed by everybody."""
    for entry in case.facts.files:
        if entry.mode & (stat.S_ISUID | stat.S_ISGID):
            cure = "`chmod u-s,g-s` it in the build script: installing a package must not give rights"
            yield case.finding(ERROR, "modes", entry.path, f"runs with its owner's rights (mode {entry.mode:o})", cure)
        elif entry.mode & stat.S_IWOTH and not entry.target:
            cure = "`chmod o-w` it in the build script"
            yield case.finding(ERROR, "modes", entry.path, f"anybody may write to it (mode {entry.mode:o})", cure)


def broken_elf(case: Case) -> Iterator[Finding]:
    """What begins like a library or program can be read as one."""
    for entry in case.facts.files:
        if entry.broken_elf is not None:
            cure = "look at what wrote it: the file was truncated or patched wrongly"
            yield case.finding(ERROR, "broken-elf", entry.path, f"cannot be read as ELF: {entry.broken_elf}", cure)


def build_paths(case: Case) -> Iterator[Finding]:
    """No file mentions where it was built; a prefix that installation replaces is declared."""
    yield from _traces(
        case,
        "build-path",
        "path",
        "compile with -ffile-prefix-map, install instead of copying from the build tree, or remove the line",
    )
    for entry in case.facts.files:
        if entry.prefix_mode == "binary":
            cure = "find data through the library's own place ($ORIGIN, dladdr) rather than a compiled-in prefix"
            message = "a binary with the prefix in it, patched on installation"
            yield case.finding(WARNING, "build-path", entry.path, message, cure)


def user_names(case: Case) -> Iterator[Finding]:
    """No file mentions who built it."""
    yield from _traces(case, "user-name", "user", "remove it from the file, or build in a folder outside of a home")


def secrets(case: Case) -> Iterator[Finding]:
    """No key, token or password lies in a file."""
    cure = "withdraw the secret now, then remove it from the sources or from what the build writes down"
    yield from _traces(case, "secret", "secret", cure)


def _traces(case: Case, rule: str, sort: str, cure: str) -> Iterator[Finding]:
    policy = case.policies.traces
    for files, severities in ((case.facts.files, policy.files), (case.facts.info, policy.info)):
        for entry in files:
            for trace in entry.traces:
                if trace.sort == sort:
                    times = f", {trace.count} times" if trace.count > 1 else ""
                    message = f"holds {trace.name}: {trace.excerpt} (byte {trace.offset}{times})"
                    yield case.finding(severities[sort], rule, entry.path, message, cure)


def licences(case: Case) -> Iterator[Finding]:
    """A package with files names its licence and brings its text."""
    if not case.facts.files:
        return  # a metapackage: nothing to license
    if not case.facts.about.get("license"):
        cure = "set `about/license` in the recipe to an SPDX expression"
        yield case.finding(WARNING, "licence", "info/about.json", "no licence is named", cure)
    if not case.facts.licence_files:
        cure = "set `about/license_file` in the recipe"
        required = any(match_name(pattern, case.facts.package) for pattern in case.policies.licences.text_required_of)
        yield case.finding(
            ERROR if required else WARNING, "licence", "info/licenses", "the licence's text is not in the package", cure
        )
