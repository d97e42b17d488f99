"""The description of one package of the embedded channel, read from ``data/packages/**/NAME.yaml``.

Everything is checked on load: a key that nobody reads, a value of the wrong type, a pattern that does not fit its
destination are errors that name the file and the key. ``${name}``, ``${version}``, ``${placeholder}`` and, in a
package that is made per Python, ``${python}`` (3.11), ``${full_python}`` (3.11.7), ``${py}`` (311) and
``${python_build}`` (cpython), or, per CUDA, what `slipway.bootstrap.choices.read_cuda` gives, are filled in before a
value is looked at; ``$${name}`` stands for the text ``${name}``. What a package is made for is ``${platform}``
(linux-aarch64), and ``${gnu}`` (aarch64-linux-gnu) what Debian's folders there are called.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping  # noqa: TC003 - a file is converted to these types
from dataclasses import dataclass, field, fields, replace
from pathlib import Path  # noqa: TC003 - as above
from typing import Literal

from slipway.base.errors import ChannelError
from slipway.base.platform import LINUX_64, NOARCH, Platform
from slipway.base.schema import InvalidValueError, YamlDocument, read_document, show_key, yaml_key
from slipway.bootstrap.choices import ON_DEMAND, python_build
from slipway.bootstrap.mapping import Glob, Rule, check_template
from slipway.model import RunExports

PLACEHOLDER = "/slipway_prefix_placeholder" + "_placehold" * 18
"""Stands for the prefix in text files of packages; long, so that it can serve binary files too."""

Kind = Literal["wheel", "deb", "interpreter"]
_KINDS: tuple[Kind, ...] = ("wheel", "deb", "interpreter")
_HINT = "`ci/slipway/bootstrap/data/README.md` lists the keys of a package description"


@dataclass(frozen=True)
class SourceDescription:
    """Where files come from, and which of them are taken.

    Exactly one of `wheel` (a project, named in the lock), `deb` (a package of the locked suite) and `interpreter` (the
    running CPython, by its version X.Y) is given.

    Attributes:
        pin: the wheel's exact version; the package's own where the file does not say.
        install: lay a wheel out as pip would (site-packages, scripts, entry points), a Debian package as conda's are
            (`slipway.bootstrap.debian_layout`), before `files`.
        excluded: what `install` leaves out of a Debian package.
        files: the file mapping. Paths of a wheel start with ``site/``, ``data/``, ``scripts/`` or ``headers/``.
        licenses: globs of files to keep as licence texts.
        link_root: absolute symlinks are made relative, as if this folder of the package were ``/``.
        platforms: those that the package takes it for; empty: all.
        cuda: the versions, X.Y or X, that a package that is made per CUDA takes it for; empty: all.
    """

    wheel: str | None = None
    deb: str | None = None
    interpreter: str | None = None
    pin: str | None = None
    install: bool = False
    excluded: tuple[Glob, ...] = yaml_key("except", default=())
    files: tuple[Rule, ...] = ()
    licenses: tuple[Glob, ...] = ()
    link_root: str | None = None
    platforms: tuple[str, ...] = ()
    cuda: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if sum(getattr(self, kind) is not None for kind in _KINDS) != 1:
            raise InvalidValueError(f"a source has exactly one of {', '.join(f'`{kind}`' for kind in _KINDS)}")
        if self.wheel is None and self.pin is not None:
            raise InvalidValueError("only a wheel has a version to pin", "pin")
        if self.interpreter is not None and self.install:
            raise InvalidValueError("an interpreter says its `files`", "install")
        if self.excluded and not (self.deb and self.install):
            raise InvalidValueError("only where a Debian package is installed; a rule of `files` has its own", "except")
        if not (self.files or self.licenses or self.install):
            raise InvalidValueError("this source gives nothing to the package", "files")

    @property
    def kind(self) -> Kind:
        """Which of the three it is."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    def serves(self, platform: Platform, cuda: str) -> bool:
        """Whether a package for `platform`, and for `cuda` if it is made for one, takes it."""
        if self.platforms and platform.subdir not in self.platforms:
            return False
        return not self.cuda or not {cuda, cuda.partition(".")[0]}.isdisjoint(self.cuda)

    @property
    def name(self) -> str:
        """Of the project, the Debian package or the version of the interpreter."""
        return str(getattr(self, self.kind))


@dataclass(frozen=True)
class TextFile:
    """A file of the package that is written here: its `content`, or a `file` of the data folder that holds it."""

    path: str
    content: str = ""
    file: str = ""
    executable: bool = False

    def __post_init__(self) -> None:
        if bool(self.content) == bool(self.file):
            raise InvalidValueError("a text has either `content` or `file`", "content")


@dataclass(frozen=True)
class SymbolicLink:
    """Symlinks: one at `path`, or, with `each`, one for every staged file that matches it."""

    path: str
    target: str
    each: Glob | None = None

    def __post_init__(self) -> None:
        if self.each is not None:
            for key in ("path", "target"):
                check_template(getattr(self, key), self.each, key)


@dataclass(frozen=True)
class RunPath:
    """ELF files and the run path that they get."""

    files: tuple[Glob, ...]
    value: str


@dataclass(frozen=True)
class FinishingStep:
    """Shell lines that finish the staged tree, run in it.

    They see the named packages unpacked at ``$TOOLS``, the named files at ``$FILES``, the interpreter as ``$PYTHON``.
    """

    run: str
    tools: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wrapper:
    """A program that takes folders from its environment: they are `variables` there, unless the user has set them."""

    program: str
    variables: Mapping[str, str]


@dataclass(frozen=True)
class Activation:
    """Scripts of the data folder's ``activation/`` for an environment's arrival and leave.

    With `settings`, shell variables that the first one begins with, several packages share the scripts: the package's
    name becomes part of theirs.
    """

    activate: str
    deactivate: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def texts(self, package: str, read: Callable[[str, str], str]) -> Iterator[TextFile]:
        """The files of a package; `read` gives a script's text by its key and its name."""
        lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in self.settings.items())
        for event, name in (("activate", self.activate), ("deactivate", self.deactivate)):
            path = f"{event}-{package}.sh" if self.settings else name
            yield TextFile(f"etc/conda/{event}.d/{path}", (lines if event == "activate" else "") + read(event, name))


@dataclass(frozen=True)
class When:
    """What a request must pick for the package to be in the channel; empty: anything."""

    blas: tuple[str, ...] = ()
    interpreter: tuple[Literal["snapshot", "debian"], ...] = ()
    python: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a package is called, and what decides whether and how often its description is filled in."""

    name: str
    version: str
    when: When = field(default_factory=When)
    per: Literal["python", "cuda"] | None = None


@dataclass(frozen=True, kw_only=True)
class DescriptionFile(Head):
    """A data file with its variables filled in.

    Attributes:
        build_prefix: what the build string starts with (``py311_`` for one built per Python), before the hash.
        build_suffix: what it ends with, where match specs select by it (``_cpython``).
        noarch_python: a pure Python package: files in ``site-packages/``, entry points made on installation.
        virtual: holds no files and needs no licence of its own.
    """

    summary: str
    license: str
    home: str = ""
    build_number: int = 0
    build_prefix: str | None = None
    build_suffix: str = ""
    noarch_python: bool = False
    virtual: bool = False
    depends: tuple[str, ...] = ()
    constrains: tuple[str, ...] = ()
    run_exports: RunExports = field(default_factory=RunExports)
    sources: tuple[SourceDescription, ...] = ()
    texts: tuple[TextFile, ...] = ()
    links: tuple[SymbolicLink, ...] = ()
    run_paths: tuple[RunPath, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()
    steps: tuple[FinishingStep, ...] = ()
    activation: Activation | None = None

    def __post_init__(self) -> None:
        if not (self.sources or self.texts or self.activation or self.virtual):
            raise InvalidValueError("nothing goes into this package; say `virtual: true` if that is meant", "sources")
        if self.sources and not any(source.licenses or source.install for source in self.sources):
            raise InvalidValueError("no source names its `licenses`", "sources")


@dataclass(frozen=True, kw_only=True)
class PackageDescription(DescriptionFile):
    """One package, with its files read.

    Attributes:
        origin: the data file, and `fingerprint` the digest of its bytes and of what CUDA filled in.
        python: the version X.Y that it is made for, where it is made per Python.
        platform: what it is made for.
        step_files: content of each file that `steps` name.
    """

    origin: Path
    fingerprint: str
    python: str | None
    platform: Platform
    step_files: Mapping[str, str]

    @property
    def subdir(self) -> str:
        """``noarch``, or that of its platform."""
        return NOARCH if self.noarch_python else self.platform.subdir

    @property
    def tools(self) -> frozenset[str]:
        """Names of the packages that its steps need."""
        return frozenset(name for step in self.steps for name in step.tools)


@dataclass(frozen=True)
class Selection:
    """What a request picks: each is compared with a description's `when` and `per`."""

    cuda: tuple[str, ...]
    blas: str


@dataclass(frozen=True)
class RawDescription:
    """A data file as loaded, not yet instantiated for a Python or a CUDA; `digest` is the sha256 of its bytes."""

    document: YamlDocument
    head: Head
    digest: str

    @property
    def on_demand(self) -> bool:
        """Whether the package is in a channel only where somebody asks for it, or for what needs it."""
        return ON_DEMAND in self.document.path.parts

    def wanted(self, selection: Selection) -> bool:
        """Whether the request needs this package."""
        if self.head.per == "cuda" and not selection.cuda:
            return False
        return not self.head.when.blas or selection.blas in self.head.when.blas


def load(path: Path, digest: str) -> RawDescription:
    """Read one data file; `digest` is the sha256 of its bytes.

    Raises:
        ChannelError: it is no YAML, or does not say properly when it is wanted.
    """
    document = read_document(path, error=ChannelError, hint=_HINT)
    return RawDescription(document, document.only("name", "version", "when", "per").convert(Head), digest)


def instantiate(
    raw: RawDescription,
    *,
    python: str | None = None,
    full_python: str | None = None,
    cuda: Mapping[str, str] | None = None,
    files: Path,
    platform: Platform = LINUX_64,
) -> PackageDescription:
    """Fill in the variables of one description and check all of it.

    Args:
        python: the version X.Y for a description that is made per Python, else None.
        full_python: its version X.Y.Z.
        cuda: what a description that is made per CUDA is filled in with.
        files: the folder that ``file:`` entries are relative to.

    Raises:
        ChannelError: a key is missing or unknown, or a value is not what it should be.
    """
    variables = {"placeholder": PLACEHOLDER, "platform": platform.subdir, "gnu": str(platform.gnu_triplet)}
    variables |= cuda or {}
    if python and full_python:
        variables |= {"python": python, "full_python": full_python, "py": python.replace(".", "")}
        variables["python_build"] = python_build(python)
    named = raw.document.only("name", "version").expand(variables)
    variables |= {"name": named.value["name"], "version": named.value["version"]}
    document = raw.document.expand(variables)
    given = document.convert(DescriptionFile)
    if document.path.stem != given.name:
        message = f"`name`: the file is called `{document.path.name}`, but the package `{given.name}`"
        raise document.error(message, ("name",))

    def read(folder: Path, name: str, *key: str | int) -> str:
        try:
            return (folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise document.error(f"`{show_key(key)}`: there is no file `{folder / name}`", key) from None

    def filled(text: TextFile, index: int) -> TextFile:
        if not text.file:
            return text
        key = ("texts", index, "file")
        content = document.expand_text(read(files, text.file, *key), variables, key)
        return replace(text, file="", content=content)

    def read_script(event: str, name: str) -> str:  # shell: its ${...} are the shell's
        return read(files / "activation", name, "activation", event)

    activation = () if given.activation is None else tuple(given.activation.texts(given.name, read_script))
    return PackageDescription(
        **{key.name: getattr(given, key.name) for key in fields(given)}
        | {
            "build_prefix": given.build_prefix or (f"py{variables['py']}_" if python else ""),
            "sources": tuple(
                replace(source, pin=source.pin or given.version) if source.wheel else source
                for source in given.sources
                if source.serves(platform, variables.get("cuda", ""))
            ),
            "texts": tuple(filled(text, index) for index, text in enumerate(given.texts)) + activation,
        },
        origin=document.path,
        fingerprint=raw.digest if cuda is None else f"{raw.digest} {sorted(cuda.items())}",
        python=python,
        platform=platform,
        step_files={
            name: read(files, name, "steps", index, "files")
            for index, step in enumerate(given.steps)
            for name in step.files
        },
    )
