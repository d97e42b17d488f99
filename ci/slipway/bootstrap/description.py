"""The description of one package of the embedded channel, read from ``data/packages/**/NAME.yaml``.

Everything is checked on load: a key that nobody reads, a value of the wrong type, a pattern that does not fit its
destination are errors that name the file and the key. ``${name}``, ``${version}``, ``${placeholder}`` and, in a
package that is made per Python, ``${python}`` (3.11), ``${full_python}`` (3.11.7) and ``${py}`` (311) are filled in
before a value is looked at; ``$${name}`` stands for the text ``${name}``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import yaml

from slipway.base import errors
from slipway.bootstrap.mapping import Glob, PatternError, Rule, Template
from slipway.bootstrap.section import Section
from slipway.model import RunExports

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLACEHOLDER = "/slipway_prefix_placeholder" + "_placehold" * 18
"""Stands for the prefix in text files of packages; long, so that it can serve binary files too."""

Kind = Literal["wheel", "deb", "interpreter"]
_KINDS: tuple[Kind, ...] = ("wheel", "deb", "interpreter")


@dataclass(frozen=True)
class SourceDescription:
    """Where files come from, and which of them are taken.

    Attributes:
        kind: ``wheel`` (named in the lock), ``deb`` (of the locked suite) or ``interpreter`` (the running CPython).
        name: name of the wheel's project or of the Debian package; the version X.Y for an interpreter.
        pin: the wheel's exact version.
        install: lay a wheel out as pip would (site-packages, scripts, entry points), before `rules`.
        rules: the file mapping. Paths of a wheel start with ``site/``, ``data/``, ``scripts/`` or ``headers/``.
        licenses: globs of files to keep as licence texts.
        link_root: absolute symlinks are made relative, as if this folder of the package were ``/``.
    """

    kind: Kind
    name: str
    pin: str | None = None
    install: bool = False
    rules: tuple[Rule, ...] = ()
    licenses: tuple[Glob, ...] = ()
    link_root: str | None = None


@dataclass(frozen=True)
class TextFile:
    """A file of the package that is written here: `path` in the package, its content and permission bits."""

    path: str
    content: str
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    """Symlinks: one at `path`, or, with `each`, one for every staged file that matches it."""

    each: Glob | None
    path: Template | str
    target: Template | str


@dataclass(frozen=True)
class RunPath:
    """ELF files and the run path that they get."""

    files: tuple[Glob, ...]
    value: str


@dataclass(frozen=True)
class Step:
    """Shell lines that finish the staged tree, run in it.

    They see the named packages unpacked at ``$TOOLS``, the named files at ``$FILES``, the interpreter as ``$PYTHON``.
    """

    script: str
    tools: tuple[str, ...]
    files: tuple[TextFile, ...]


@dataclass(frozen=True)
class PackageDescription:
    """One package, with every variable filled in.

    Attributes:
        origin: the data file.
        build_prefix: what the build string starts with (``py311_`` for one built per Python), before the hash.
        build_suffix: what it ends with, where match specs select by it (``_cpython``).
        noarch_python: a pure Python package: files in ``site-packages/``, entry points made on installation.
        virtual: holds no files and needs no licence of its own.
    """

    origin: Path
    name: str
    version: str
    build_number: int
    build_prefix: str
    build_suffix: str
    noarch_python: bool
    virtual: bool
    summary: str
    home: str
    license: str
    depends: tuple[str, ...]
    constrains: tuple[str, ...]
    run_exports: RunExports
    sources: tuple[SourceDescription, ...]
    texts: tuple[TextFile, ...]
    links: tuple[Link, ...]
    run_paths: tuple[RunPath, ...]
    steps: tuple[Step, ...]
    python: str | None
    fingerprint: str

    @property
    def subdir(self) -> str:
        """``noarch`` or ``linux-64``."""
        return "noarch" if self.noarch_python else "linux-64"

    @property
    def tools(self) -> frozenset[str]:
        """Names of the packages that its steps need."""
        return frozenset(name for step in self.steps for name in step.tools)


@dataclass(frozen=True)
class Selection:
    """What a request picks: each is compared with a description's `when` and `per`."""

    cuda: str | None
    blas: str


@dataclass(frozen=True)
class RawDescription:
    """A data file as loaded, not yet instantiated for a Python version."""

    origin: Path
    values: Mapping[str, object]
    digest: str
    when_cuda: tuple[str, ...]
    when_blas: tuple[str, ...]
    when_interpreter: tuple[str, ...]
    per_python: bool

    def wanted(self, selection: Selection) -> bool:
        """Whether the request needs this package."""
        if self.when_cuda and selection.cuda not in self.when_cuda:
            return False
        return not self.when_blas or selection.blas in self.when_blas


def load(path: Path, digest: str) -> RawDescription:
    """Read one data file; `digest` is the sha256 of its bytes."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise errors.ChannelError("this is not YAML: " + str(getattr(error, "problem", error)), where=where) from None
    section = Section(path, "", document, {})
    when = section.section("when")
    cuda, blas, interpreter = when.texts("cuda"), when.texts("blas"), when.texts("interpreter")
    for origin in interpreter:
        if origin not in ("snapshot", "debian"):
            raise when.error("interpreter", f"an interpreter is a `snapshot` or from `debian`; found `{origin}`")
    when.finish()
    per = section.text("per", "")
    if per not in ("", "python"):
        raise section.error("per", f"a package is made once per `python` or once; found `{per}`")
    values = {key: value for key, value in document.items() if key not in ("when", "per")}
    return RawDescription(path, values, digest, cuda, blas, interpreter, per == "python")


def instantiate(raw: RawDescription, *, python: str | None, full_python: str | None, files: Path) -> PackageDescription:
    """Fill in the variables of one description and check all of it.

    Args:
        python: the version X.Y for a description that is made per Python, else None.
        full_python: its version X.Y.Z.
        files: the folder that ``file:`` entries are relative to.
    """
    variables = {"placeholder": PLACEHOLDER}
    if python and full_python:
        variables |= {"python": python, "full_python": full_python, "py": python.replace(".", "")}
    first = Section(raw.origin, "", dict(raw.values), variables)
    name = first.text("name")
    if raw.origin.stem != name:
        raise first.error("name", f"the file is called `{raw.origin.name}`, but the package `{name}`")
    version = first.text("version")
    variables |= {"name": name, "version": version}
    section = Section(raw.origin, "", {k: v for k, v in raw.values.items() if k not in ("name", "version")}, variables)
    virtual = section.flag("virtual")
    sources = tuple(_source(item, version) for item in section.sections("sources"))
    texts = tuple(_text(item, files) for item in section.sections("texts")) + _activation(section, files)
    if not sources and not texts and not virtual:
        raise section.error("sources", "nothing goes into this package; say `virtual: true` if that is meant")
    if sources and not any(source.licenses or source.install for source in sources):
        raise section.error("sources", "no source names its `licenses`")
    description = PackageDescription(
        origin=raw.origin,
        name=name,
        version=version,
        build_number=section.number("build_number", 0),
        build_prefix=section.text("build_prefix", f"py{variables['py']}_" if python else ""),
        build_suffix=section.text("build_suffix", ""),
        noarch_python=section.flag("noarch_python"),
        virtual=virtual,
        summary=section.text("summary"),
        home=section.text("home", ""),
        license=section.text("license"),
        depends=section.texts("depends"),
        constrains=section.texts("constrains"),
        run_exports=_run_exports(section.section("run_exports")),
        sources=sources,
        texts=texts,
        links=tuple(_link(item) for item in section.sections("links")),
        run_paths=tuple(_run_path(item) for item in section.sections("run_paths")),
        steps=tuple(_step(item, files) for item in section.sections("steps")),
        python=python,
        fingerprint=raw.digest,
    )
    section.finish()
    return description


def _source(section: Section, version: str) -> SourceDescription:
    kinds = [kind for kind in _KINDS if section.has(kind)]
    if len(kinds) != 1:
        raise section.error("", f"a source has exactly one of {', '.join(f'`{kind}`' for kind in _KINDS)}")
    kind = kinds[0]
    name = section.text(kind)
    source = SourceDescription(
        kind=kind,
        name=name,
        pin=section.text("pin", version) if kind == "wheel" else None,
        install=section.flag("install"),
        rules=tuple(_rule(item) for item in section.sections("files")),
        licenses=section.globs("licenses"),
        link_root=section.text("link_root", "") or None,
    )
    if source.install and kind != "wheel":
        raise section.error("install", "only a wheel can be installed")
    if not (source.rules or source.licenses or source.install):
        raise section.error("files", "this source gives nothing to the package")
    section.finish()
    return source


def _rule(section: Section) -> Rule:
    take = section.text("take")
    to = section.text("to")
    excluded = section.globs("except")
    mode = section.text("mode", "")
    if mode and not re.fullmatch(r"[0-7]{3}", mode):
        raise section.error("mode", f"expected three octal digits such as `755`, found `{mode}`")
    try:
        pattern = Glob.parse(take)
        destination = Template.parse(to, pattern)
    except PatternError as error:
        raise section.error("to", str(error)) from None
    rule = Rule(
        pattern,
        destination,
        excluded,
        int(mode, 8) if mode else None,
        section.flag("optional"),
        section.flag("follow"),
    )
    section.finish()
    return rule


def _text(section: Section, files: Path) -> TextFile:
    path = section.text("path")
    content = section.text("content", "")
    name = section.text("file", "")
    if bool(content) == bool(name):
        raise section.error("content", "a text has either `content` or `file`")
    mode = 0o755 if section.flag("executable") else 0o644
    text = TextFile(path, content or section.expand("file", _read(section, files, name)), mode)
    section.finish()
    return text


def _read(section: Section, files: Path, name: str) -> str:
    try:
        return (files / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise section.error("file", f"there is no file `{files / name}`") from None


def _activation(section: Section, files: Path) -> tuple[TextFile, ...]:
    activation = section.section("activation")
    if not activation.has("activate"):
        activation.finish()
        return ()
    names = {"activate": activation.text("activate"), "deactivate": activation.text("deactivate")}
    activation.finish()
    return tuple(
        # Scripts are shell: their ${...} are the shell's.
        TextFile(f"etc/conda/{event}.d/{name}", _read(activation, files / "activation", name))
        for event, name in names.items()
    )


def _link(section: Section) -> Link:
    each = section.text("each", "")
    path, target = section.text("path"), section.text("target")
    section.finish()
    if not each:
        return Link(None, path, target)
    try:
        glob = Glob.parse(each)
        return Link(glob, Template.parse(path, glob), Template.parse(target, glob))
    except PatternError as error:
        raise section.error("each", str(error)) from None


def _run_path(section: Section) -> RunPath:
    run_path = RunPath(section.globs("files"), section.text("value"))
    section.finish()
    return run_path


def _step(section: Section, files: Path) -> Step:
    script = section.text("run")
    names = section.texts("files")
    step = Step(script, section.texts("tools"), tuple(TextFile(name, _read(section, files, name)) for name in names))
    section.finish()
    return step


def _run_exports(section: Section) -> RunExports:
    exports = RunExports(
        weak=section.texts("weak"),
        strong=section.texts("strong"),
        noarch=section.texts("noarch"),
        weak_constrains=section.texts("weak_constrains"),
        strong_constrains=section.texts("strong_constrains"),
    )
    section.finish()
    return exports
