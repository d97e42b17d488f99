"""What Python, pip and type checkers expect of an installed package."""

from __future__ import annotations

import configparser
import re
from email.parser import HeaderParser
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from slipway.base.events import ERROR, WARNING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message

    from slipway.base.events import Finding
    from slipway.verify.facts import FileFacts
    from slipway.verify.policies import PythonPackage
    from slipway.verify.rules.case import Case

_SITE = re.compile(r"(?:lib/python(?P<version>\d+\.\d+)/)?site-packages/(?P<rest>.+)")
_FOLDER = re.compile(r"lib/python(\d+\.\d+)/")
_TAG = re.compile(r"\.cpython-(\d)(\d+)[a-z]*(?:-[\w-]+)?\.(?:so|pyd|pyc|opt-[12]\.pyc)$")
_PYTHON = re.compile(r"(?:python|python_abi)\s+(?:[>=~]*)(\d+\.\d+)(?:\.\*|\.\d+|\s|$|,)")


def _site_packages(case: Case) -> dict[str, FileFacts]:
    """Path below site-packages -> file."""
    return {match["rest"]: entry for entry in case.facts.files if (match := _SITE.fullmatch(entry.path))}


def _policy(case: Case) -> PythonPackage | None:
    return next((found for found in case.policies.python.packages if found.package == case.facts.package), None)


def metadata(case: Case) -> Iterator[Finding]:
    """What can be imported has metadata: name and version as the package's, an installer, its files, its programs."""
    site = _site_packages(case)
    importable = {
        rest.partition("/")[0]
        for rest in site
        if rest.endswith((".py", ".so")) and not rest.partition("/")[0].endswith((".dist-info", ".egg-info", ".data"))
    }
    policy = _policy(case)
    if not importable:
        if policy is not None:
            cure = "install it with the Python of the host environment"
            yield case.finding(ERROR, "python-metadata", "site-packages", "holds no Python module", cure)
        return
    infos = sorted({rest.partition("/")[0] for rest in site if rest.partition("/")[0].endswith(".dist-info")})
    if not infos:
        cure = "install it with pip, or write METADATA, INSTALLER and RECORD beside it, so that pip knows of it"
        message = f"{', '.join(sorted(importable)[:3])} has no dist-info folder"
        # Recipes may install modules by hand, and conda-build lets them; what a policy names has to be known to pip.
        severity = WARNING if policy is None else ERROR
        yield case.finding(severity, "python-metadata", "site-packages", message, cure)
        return
    expected = policy.distribution if policy else case.facts.package
    names = []
    for info in infos:
        headers = HeaderParser().parsestr(site[f"{info}/METADATA"].text if f"{info}/METADATA" in site else "")
        names.append(canonicalize_name(headers.get("Name") or info.partition("-")[0]))
        yield from _one_distribution(case, site, info, headers, expected)
    if canonicalize_name(expected) not in names:
        cure = f"name it `{expected}` in its metadata, or say its name in ci/slipway/verify/data/python.yaml"
        severity = ERROR if policy else WARNING
        message = f"pip sees {', '.join(names)}, not {expected}"
        yield case.finding(severity, "python-metadata", infos[0], message, cure)
    yield from _programs(case, site, infos, policy.console_scripts if policy else ())


def _one_distribution(
    case: Case, site: dict[str, FileFacts], info: str, headers: Message, expected: str
) -> Iterator[Finding]:
    name, version = headers.get("Name", ""), headers.get("Version", "")
    cure = "build the metadata from the recipe's version, and let pip write it"
    for needed in ("METADATA", "INSTALLER", "RECORD"):
        if f"{info}/{needed}" not in site:
            yield case.finding(ERROR, "python-metadata", f"{info}/{needed}", "is not there", cure)
    if f"{info}/METADATA" in site and not (name and version):
        message = "METADATA has no Name or no Version"
        yield case.finding(ERROR, "python-metadata", f"{info}/METADATA", message, cure)
    elif len([found for found in site if found.endswith(".dist-info/METADATA")]) == 1:
        wanted = str(case.facts.index.get("version"))
        if version and not _same_version(version, wanted):
            message = f"says version {version}; the package is {wanted}"
            # A package under another name than its distribution may have reasons for another version, too.
            severity = ERROR if canonicalize_name(name) == canonicalize_name(expected) else WARNING
            yield case.finding(severity, "python-metadata", f"{info}/METADATA", message, cure)
    installer = site[f"{info}/INSTALLER"].text.strip() if f"{info}/INSTALLER" in site else None
    if installer is not None and installer not in case.policies.python.installers:
        cure = f"INSTALLER says who looks after it: {' or '.join(case.policies.python.installers)}"
        message = f"says `{installer}`"
        yield case.finding(ERROR, "python-metadata", f"{info}/INSTALLER", message, cure)
    if f"{info}/direct_url.json" in site:
        cure = "remove direct_url.json: it names a folder of the build"
        yield case.finding(ERROR, "python-metadata", f"{info}/direct_url.json", "says where it was built from", cure)


def _same_version(first: str, second: str) -> bool:
    try:
        return Version(first).public == Version(second).public
    except InvalidVersion:
        return first == second


def _programs(case: Case, site: dict[str, FileFacts], infos: list[str], declared: tuple[str, ...]) -> Iterator[Finding]:
    """Every console script of the metadata is installed, and every one that the policy names is in the metadata."""
    named: set[str] = set()
    for info in infos:
        path = f"{info}/entry_points.txt"
        if path not in site:
            continue
        parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        try:
            parser.read_string(site[path].text)
        except configparser.Error as error:
            cure = "write it as `[console_scripts]` and lines of `name = module:function`"
            yield case.finding(ERROR, "python-metadata", path, f"cannot be read: {error}".split("\n")[0], cure)
            continue
        named |= set(parser["console_scripts"]) if parser.has_section("console_scripts") else set()
    noarch = case.facts.links.get("noarch") or {}
    installed = {str(point).partition("=")[0].strip() for point in noarch.get("entry_points") or ()}
    installed |= {entry.name for entry in case.facts.files if entry.path.startswith(("bin/", "python-scripts/"))}
    for name in sorted(named - installed):
        cure = "name it in `build/entry_points`, or let pip install the script"
        message = f"the program `{name}` of its entry points is not installed"
        yield case.finding(ERROR, "python-metadata", f"bin/{name}", message, cure)
    for name in sorted(set(declared) - named):
        cure = "add it to the entry points, or take it out of ci/slipway/verify/data/python.yaml"
        message = f"the program `{name}` is declared, and its metadata has no entry point for it"
        yield case.finding(ERROR, "python-metadata", infos[0], message, cure)


def stubs(case: Case) -> Iterator[Finding]:
    """Type checkers find what the package promises them, and py.typed tells them that they may look."""
    site = _site_packages(case)
    policy = _policy(case)
    for path in policy.stubs if policy else ():
        if path not in site:
            cure = "install it with the package, or take it out of ci/slipway/verify/data/python.yaml"
            yield case.finding(ERROR, "python-stubs", path, "is not there", cure)
        elif path.endswith(".pyi") and not site[path].size:
            yield case.finding(ERROR, "python-stubs", path, "is empty", "generate it before it is installed")
    for package in sorted({rest.partition("/")[0] for rest in site if rest.endswith(".pyi") and "/" in rest}):
        if f"{package}/py.typed" not in site and not package.endswith("-stubs"):
            cure = f"add an empty {package}/py.typed: without it type checkers ignore the stubs"
            yield case.finding(WARNING, "python-stubs", package, "has stubs and no py.typed", cure)


def other_pythons(case: Case) -> Iterator[Finding]:
    """Nothing is compiled for, or lies where only, another Python than the declared one looks for it."""
    if case.facts.index.get("noarch") == "python":
        for entry in case.facts.files:
            if entry.elf is not None or _TAG.search(entry.path):
                cure = "take `noarch: python` out of the recipe, or the compiled file out of the package"
                yield case.finding(ERROR, "python-version", entry.path, "compiled, in a package for every Python", cure)
        return
    declared = next((match[1] for spec in case.facts.depends if (match := _PYTHON.match(f"{spec} "))), None)
    if case.facts.package == "python":  # it is the one that others declare
        declared = ".".join(str(case.facts.index["version"]).split(".")[:2])
    for entry in case.facts.files:
        folder, tag = _FOLDER.match(entry.path), _TAG.search(entry.path)
        found = {f"{tag[1]}.{tag[2]}"} if tag else set()
        found |= {folder[1]} if folder else set()
        for version in sorted(found - {declared}):
            if declared is None:
                cure = f"add `python` to `requirements/host` and `run`, pinned to {version}"
                message = f"is for Python {version}, and no Python is declared"
            else:
                cure = "clean the source tree before building: another Python left it there"
                message = f"is for Python {version}; the package is for {declared}"
            yield case.finding(ERROR, "python-version", entry.path, message, cure)
