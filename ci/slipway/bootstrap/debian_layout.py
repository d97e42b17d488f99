"""Lays a Debian package out as conda's packages are: ``usr/lib/x86_64-linux-gnu/libz.so`` becomes ``lib/libz.so``.

Documentation, translations and what a system's administrator sets up stay out, and so does a static library where the
same package has the shared one. Text that names Debian's folders names the prefix afterwards, symlinks lead to where
their targets went, and the run paths of all programs and libraries lead to ``lib``.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from slipway.base.platform import PLATFORMS
from slipway.bootstrap.description import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from slipway.bootstrap.mapping import Glob
    from slipway.bootstrap.sources import SourceEntry, Tree

TRIPLET: Final = "(?:" + "|".join(known.gnu_triplet for known in PLATFORMS.values() if known.gnu_triplet) + ")"
"""A pattern: how Debian names its folders of libraries, on any processor."""

COMMON_LICENCES: Final = "usr/share/common-licenses/"
"""Where the package base-files has the texts that others refer to."""

_LEFT_OUT: Final = re.compile(
    r"(etc|var|lib/systemd|usr/lib/(systemd|python3|debug|mime|sysusers\.d|tmpfiles\.d|valgrind))/"
    r"|usr/share/(applications|apport|bash-completion|bug|debhelper|doc|doc-base|emacs|fish|info|lintian|locale|man|menu"
    r"|nano|pixmaps|perl5/Debian|python3|vim|zsh)/"
    r"|.*\.la$|.*/__pycache__/"
)
_PLACES: Final = (
    (re.compile(rf"(usr/)?(lib|include)/{TRIPLET}/"), r"\2/"),
    (re.compile(r"(usr/)?(lib|lib64|bin|libexec)/"), r"\2/"),
    (re.compile(r"(usr/)?sbin/"), "bin/"),
    (re.compile(r"usr/(include|share)/"), r"\1/"),
)
_TEXT: Final = re.compile(r"lib/(pkgconfig|cmake)/|share/(?!aclocal)|bin/|lib/git-core/|lib/perl|libexec/")
_NAMED: Final = re.compile(
    rf"(?:(?<![\w.@$}}-])|(?<=-[LI]))/usr/(s?bin|include|lib|libexec|share)(/{TRIPLET})?(?=[/\"'`:;,)\s]|$)", re.M
)
_HOSTS: Final = re.compile(r"/(usr/)?bin/(env|sh|bash|cat|sed|rm|cp|mv|true|false|pwd|uname|ls|mkdir|date|tr|expr)\b")
_PREFIX_LINE: Final = re.compile(r"^(prefix|exec_prefix|PREFIX)=/usr$", re.M)
_ABOVE: Final = re.compile(r"^get_filename_component\(_IMPORT_PREFIX \"\$\{_IMPORT_PREFIX\}\" PATH\)\n", re.M)
_UP: Final = re.compile(r"(\$\{CMAKE_CURRENT_LIST_DIR\}|\$\{_?SELF_DIR\})/\.\./\.\./\.\./\.\.(?=/|\")")


def place_of(path: str) -> str | None:
    """Where a file of a Debian package goes, relative to the prefix; None for what is left out."""
    if _LEFT_OUT.match(path):
        return None
    for pattern, replacement in _PLACES:
        if match := pattern.match(path):
            return match.expand(replacement) + path[match.end() :]
    return None


def lay_out(entries: Sequence[SourceEntry], tree: Tree, excluded: Sequence[Glob]) -> int:
    """Put the files of one Debian package into `tree`; returns how many.

    Args:
        excluded: of the package's own paths.
    """
    shared = {posixpath.splitext(entry.path)[0] for entry in entries if entry.path.endswith(".so")}
    taken = 0
    for entry in entries:
        target = place_of(entry.path)
        named = posixpath.join(posixpath.dirname(entry.path), posixpath.basename(entry.link or entry.path))
        stem, suffix = posixpath.splitext(named)
        if target is None or (suffix == ".a" and stem in shared) or any(glob.matches(entry.path) for glob in excluded):
            continue
        if entry.link is not None:
            taken += _link(entry.path, entry.link, target, tree)
            continue
        content = entry.read()
        if _TEXT.match(target) and b"\0" not in content:
            content = relocate(target, content)
        tree.put(target, content, 0o755 if entry.executable else 0o644)
        taken += 1
    return taken


def _link(path: str, link: str, target: str, tree: Tree) -> int:
    where = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), link)).lstrip("/")
    leads = place_of(where)
    if leads is None or leads == target:
        return 0
    tree.link(target, posixpath.relpath(leads, posixpath.dirname(target) or "."))
    return 1


def relocate(path: str, content: bytes) -> bytes:
    """A text file with the prefix in the place of Debian's folders; a few programs stay the host's."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    text = _PREFIX_LINE.sub(rf"\1={PLACEHOLDER}", text)
    text = re.sub(rf"(\$\{{\w+\}}/(?:lib|include))/{TRIPLET}\b", r"\1", text)
    if path.startswith("lib/cmake/"):
        # One folder less lies between these files and the prefix.
        text = _UP.sub(r"\1/../../..", _ABOVE.sub("", text, count=1))

    def named(match: re.Match[str]) -> str:
        if _HOSTS.match(text, match.start()):
            return match[0]
        return f"{PLACEHOLDER}/{'bin' if match[1] == 'sbin' else match[1]}"

    return _NAMED.sub(named, text).encode()


def run_paths(paths: Sequence[str], is_elf: Callable[[str], bool]) -> Iterator[tuple[str, Collection[str]]]:
    """Run paths, each with the programs and libraries of a package that it is for: ``lib``, and where they lie."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        if path.partition("/")[0] in ("bin", "lib", "libexec") and is_elf(path):
            folders.setdefault(posixpath.dirname(path), []).append(path)
    for folder, files in sorted(folders.items()):
        library = posixpath.relpath("lib", folder)
        yield "$ORIGIN" if library == "." else f"$ORIGIN/{library}:$ORIGIN", files
