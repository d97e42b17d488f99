"""The types that flow through slipway. Frozen: a later stage makes a new value, it never fills in an old one.

Words are conda's: *variant* (one choice of values for the keys of conda_build_config.yaml), *output* (one package that
a recipe makes), *subdir* (``linux-64``, ``noarch``), *build string*, *run_exports*, *channel*.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Variant = Mapping[str, str]
"""One value per variant key, as strings (``12.4`` in YAML counts as ``"12.4"``)."""


META_NAME = "meta.yaml"
"""A recipe in conda-build's dialect."""

V1_NAME = "recipe.yaml"
"""A recipe in rattler-build's format, which is called v1."""

RECIPE_SETTINGS = "slipway.yaml"
"""What a recipe says to slipway alone, beside its meta.yaml; conda-build does not know this file."""


@dataclass(frozen=True)
class VariantOption:
    """A short name of a variant key, for command lines.

    Attributes:
        key: the variant key.
        title: what messages call it; by default the key.
        takes: what its value looks like; ``X.Y`` is a version of two numbers, other words are only shown.
        default: the value that is built when nobody says another one; None for all.
        several: whether it may be said again, for a build of each value.
        help: what the commands' help says of it.
    """

    key: str
    title: str = ""
    takes: str = "VALUE"
    default: str | None = None
    several: bool = False
    help: str = ""


@dataclass(frozen=True)
class WheelSettings:
    """How a package becomes a wheel, see `slipway.release.wheels`.

    Attributes:
        takes: other packages whose files go into it.
        places: folders of an environment (``lib``), and what they are called in the wheel.
        requires: packages that the wheel does not hold, and the projects of PyPI that bring them, of the same version.
        elsewhere: their libraries, as patterns.
    """

    takes: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    requires: Mapping[str, str] = field(default_factory=dict)
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunnerSettings:
    """A platform's own machine in CI: what GitHub's ``runs-on`` says, and GitLab's ``tags``."""

    github: str
    gitlab: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecipeSettings:
    """``slipway.yaml``, all of it optional.

    Attributes:
        channels: where packages come from when no `--channel` is named; the word `embedded` is the embedded channel.
        platforms: subdirs that it is built for; none means all.
        runners: by platform, the machine that its jobs in CI run on; without one, slipway's other machines cross over.
        policies: a folder, from the recipe's own, of files such as licences.yaml, which replace slipway's own policies.
        leaves_out: what each output does not read of its sources, as patterns of .gitignore, by the output's name.
        links: by the output's name, those of the same recipe that it only compiles against and links: it runs nothing
            of theirs, so that it is not built again as long as headers, symbols and all that is no library's code stay.
        options: short names of variant keys for the command line, by name.
        network: names of the outputs whose scripts and tests use the network.
        wheels: the outputs that `slipway release` makes wheels of, too.
    """

    channels: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    runners: Mapping[str, RunnerSettings] = field(default_factory=dict)
    policies: str | None = None
    leaves_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, VariantOption] = field(default_factory=dict)
    network: tuple[str, ...] = ()
    wheels: Mapping[str, WheelSettings] = field(default_factory=dict)


@dataclass(frozen=True)
class Requirements:
    """Match specs per section, in the order they are written, with every pin resolved."""

    build: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    run_constrained: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunExports:
    """What a package adds to the run requirements of packages that are built with it."""

    weak: tuple[str, ...] = ()
    strong: tuple[str, ...] = ()
    noarch: tuple[str, ...] = ()
    weak_constrains: tuple[str, ...] = ()
    strong_constrains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """One entry of a recipe's `source`: a folder (`path`), a file (`url`) or a git repository, with its patches.

    The names are conda-build's, but for those that come from elsewhere:

    Attributes:
        mirrors: further addresses of the same file.
        git_commit: what `git_rev` means, and `git_describe` what git says of it; known once it is fetched.
        unsupported: a key of it that slipway does not follow.
    """

    path: str | None = None
    url: str | None = None
    sha256: str | None = None
    git_url: str | None = None
    git_rev: str | None = None
    folder: str | None = None
    patches: tuple[str, ...] = ()
    mirrors: tuple[str, ...] = ()
    fn: str | None = None
    md5: str | None = None
    sha1: str | None = None
    expand: bool = True
    no_hoist: bool = False
    git_depth: int | None = None
    git_commit: str | None = None
    git_describe: str | None = None
    unsupported: str | None = None

    @property
    def found(self) -> dict[str, str]:
        """What fetching told about it."""
        known = {"git_commit": self.git_commit, "git_describe": self.git_describe}
        return {key: value for key, value in known.items() if value is not None}


def git_address(url: str, recipe: Path) -> str:
    """`git_url` as git takes it: what starts with a dot is relative to the recipe's folder."""
    if url.startswith("."):
        return str((recipe / url).resolve())
    return os.path.expanduser(url) if url.startswith("~") else url  # noqa: PTH111  (it may be no path)


@dataclass(frozen=True)
class OutputTest:
    """The `test` section of one output."""

    imports: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    source_files: tuple[str, ...] = ()
    script: str | None = None


@dataclass(frozen=True)
class RenderedOutput:
    """One package to build: everything about it is known, nothing is left to evaluate.

    Attributes:
        variant: every variant key and value that was in force (scripts see them as environment variables).
        hash_input: the keys that count for the build string's hash, see ``recipe/hashes.py``.
        script: file name of the build script, relative to the recipe folder; or None.
        script_commands: inline commands; used when `script` is None.
        script_env: variables that the script may see, as the recipe's `script_env` asks.
        secret_env: those of them whose values nobody may print or write down: what is the caller's.
        build: the rest of the rendered `build` section (entry_points, ignore_run_exports, binary_relocation, ...).
        listing: requirements and run_exports in the form that ``slipway render --json`` prints.
        staging: the top level's own build, where it comes before this one: the output lists files and takes them from
            it, or has a script that goes on where the top level's ends. It is no package that anybody else sees.
        solved_from: `key` as long as nothing is solved, which jobs of CI are called by.
        v1: of a recipe.yaml, what rattler-build rendered: requirements with pins, tests and all that the fields above
            do not say.
    """

    name: str
    version: str
    build_string: str
    build_number: int
    subdir: str
    noarch: str | None
    variant: Variant
    hash_input: Variant
    requirements: Requirements
    run_exports: RunExports
    recipe_dir: Path
    sources: tuple[Source, ...] = ()
    script: str | None = None
    script_commands: tuple[str, ...] = ()
    script_env: Mapping[str, str] = field(default_factory=dict)
    secret_env: tuple[str, ...] = ()
    test: OutputTest = field(default_factory=OutputTest)
    about: Mapping[str, Any] = field(default_factory=dict)
    build: Mapping[str, Any] = field(default_factory=dict)
    listing: Mapping[str, Any] = field(default_factory=dict)
    staging: RenderedOutput | None = None
    solved_from: str = ""
    v1: Mapping[str, Any] | None = None

    @property
    def recipe_path(self) -> Path:
        """The file that it was rendered from."""
        return self.recipe_dir / (META_NAME if self.v1 is None else V1_NAME)

    @property
    def takes_files(self) -> bool:
        """Whether it has no script and takes the files that it lists from `staging`."""
        return self.staging is not None and self.script is None and not self.script_commands

    @property
    def key(self) -> str:
        """``name-version-build``: unique in a channel's subdir, and the name of its logs and CI jobs."""
        return f"{self.name}-{self.version}-{self.build_string}"


@dataclass(frozen=True)
class Artifact:
    """A built package on disk: a ``.conda`` file, its sha256 and size in bytes, and the seconds it took to build."""

    output: RenderedOutput
    path: Path
    sha256: str
    size: int
    seconds: float
    reused: bool = False
