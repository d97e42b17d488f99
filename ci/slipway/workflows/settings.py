"""settings.yaml as types. Every key is checked: a misspelt one is an error that names the place."""

from __future__ import annotations

import re
from collections.abc import Mapping  # noqa: TC003 - these types are read when the file is converted to them
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from slipway.base.errors import UsageError
from slipway.base.schema import InvalidValueError, read_yaml, yaml_key
from slipway.bootstrap.choices import embedded_choices
from slipway.bootstrap.pins import EMBEDDED

if TYPE_CHECKING:
    from slipway.model import RecipeSettings

DEFAULT_SETTINGS = Path(__file__).parent / "settings.yaml"

Engine = Literal["slipway", "conda-build"]
ENGINES: tuple[str, ...] = get_args(Engine)
ACTIONS = ("checkout", "setup-python", "cache", "upload", "download", "setup-conda")
NAME = re.compile(r"[\w.-]+/[\w./-]+")
COMMIT = re.compile(r"[0-9a-f]{40}")
VERSION = re.compile(r"v\d+(\.\d+)*")


@dataclass(frozen=True)
class Action:
    """An action of GitHub's market: which, at which commit, and what that commit's tag says."""

    uses: str
    version: str
    commit: str

    def __post_init__(self) -> None:
        for key, pattern in (("uses", NAME), ("version", VERSION), ("commit", COMMIT)):
            if not pattern.fullmatch(getattr(self, key)):
                raise InvalidValueError(f"is {getattr(self, key)!r}; it must match {pattern.pattern}", key)

    @property
    def pinned(self) -> str:
        """What a step's ``uses`` says."""
        return f"{self.uses}@{self.commit}"


@dataclass(frozen=True)
class JobPlatform:
    """Where the packages of one subdir are built.

    Attributes:
        runner: GitHub's label.
        image: container that GitLab runs the job in; None where there is none (macOS, Windows).
        tags: GitLab's runner tags.
        engine: one of `ENGINES`.
        tested: whether anyone has seen it run; publishing leaves the others out.
        built_on: the subdir of that machine, if it is another one: slipway compiles there for this platform.
    """

    runner: str
    image: str | None
    tags: tuple[str, ...]
    engine: Engine
    tested: bool
    built_on: str | None = None
    subdir: str = field(init=False, default="")


@dataclass(frozen=True)
class Gpu:
    """The job on a machine with a device, once for each variant of `package`.

    Attributes:
        labels: GitHub's runner labels; `tags` are GitLab's.
        requires: what the commands need beside the package.
        commands: run in the checkout, after everything was installed into dist/env.
    """

    platform: str
    package: str
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    requires: tuple[str, ...]
    commands: tuple[str, ...]

    def __post_init__(self) -> None:
        for key in ("labels", "tags", "requires", "commands"):
            if not getattr(self, key):
                raise InvalidValueError("is empty", key)


@dataclass(frozen=True)
class Resources:
    """What a job takes of its machine: memory in GB, at most that many cores, and minutes until it is given up."""

    memory_gb: float
    cores: int
    minutes: int

    def __post_init__(self) -> None:
        for key in ("memory_gb", "cores", "minutes"):
            if getattr(self, key) <= 0:
                raise InvalidValueError("must be more than 0", key)


@dataclass(frozen=True)
class CompilerCacheSettings:
    """Where sccache keeps what jobs compiled.

    Attributes:
        folder: it is a folder, which the service hands from one job to the next.
        variables: set in every job that builds, as they are.
        secrets: names of the project's secrets that open the store.
    """

    folder: bool
    variables: Mapping[str, str]
    secrets: tuple[str, ...]


@dataclass(frozen=True)
class Downloads:
    """What is kept between runs: a folder, and the files whose change begins another one."""

    path: str
    key_files: tuple[str, ...] = yaml_key("key-files")

    def __post_init__(self) -> None:
        if len(self.key_files) > 2:
            raise InvalidValueError("names more than two files, which is all that GitLab takes", "key-files")


@dataclass(frozen=True)
class Checks:
    """The job that checks a change before anything is built: its platform and its command."""

    platform: str
    command: str


@dataclass(frozen=True)
class Settings:
    """The whole file.

    Attributes:
        channels: where packages come from; none for the embedded channel.
        gpu: the job on a device; None for none.
        checks: what comes first; None for nothing.
        installed: whether jobs install slipway, as in other repositories, instead of having it in their checkout.
    """

    channels: tuple[str, ...]
    actions: Mapping[str, Action]
    python: str
    cache: Downloads
    platforms: Mapping[str, JobPlatform]
    gpu: Gpu | None
    checks: Checks | None
    resources: Mapping[str, Resources]
    compiler_cache: CompilerCacheSettings = yaml_key("compiler-cache")  # noqa: RUF009 - it is dataclasses.field
    installed: bool = False

    def __post_init__(self) -> None:
        for subdir, platform in self.platforms.items():
            object.__setattr__(platform, "subdir", subdir)  # which is its key in the file
            if platform.built_on is not None and platform.engine != "slipway":
                raise InvalidValueError("is what slipway does, not conda-build", f"platforms.{subdir}.built_on")
        for name in ACTIONS:
            if name not in self.actions:
                raise InvalidValueError(f"lacks `{name}`", "actions")
        for key in ("gpu", "checks"):
            named = getattr(getattr(self, key), "platform", None)
            if named is not None and named not in self.platforms:
                known = ", ".join(self.platforms)
                raise InvalidValueError(f"its platform is {named!r}; it must be one of {known}", key)
        if "default" not in self.resources:
            raise InvalidValueError("needs a `default`", "resources")

    @property
    def main_platform(self) -> JobPlatform:
        """Where checks run, and packages are put together."""
        return self.platforms[self.checks.platform] if self.checks else next(iter(self.platforms.values()))

    @property
    def has_cross(self) -> bool:
        """Whether some jobs compile for another platform than their machine's."""
        return any(platform.built_on for platform in self.platforms.values())

    def resources_of(self, output: str) -> Resources:
        """Those of an output, or the default."""
        return self.resources.get(output, self.resources["default"])


def load_settings(path: Path = DEFAULT_SETTINGS) -> Settings:
    """Read and check a settings file.

    Raises:
        UsageError: it is not YAML, a key is missing or unknown, or a value is of the wrong kind.
    """
    return read_yaml(path, Settings, hint="ci/slipway/workflows/settings.yaml shows every key")


def settings_elsewhere(own: Settings, recipe: RecipeSettings, where: str) -> Settings:
    """The settings of another repository: the actions and machines of `own`, and what its recipe's slipway.yaml says.

    Args:
        where: that file.

    Raises:
        UsageError: it names a platform or a runner that there are no jobs for.
    """
    built = [subdir for subdir, platform in own.platforms.items() if platform.engine == "slipway"]
    wanted = recipe.platforms or built
    for subdir in recipe.runners:
        if subdir not in wanted:
            raise UsageError(f"a runner of {subdir}, which is none of its `platforms`", where=where)
    return replace(
        own,
        channels=recipe.channels,
        cache=replace(own.cache, key_files=()),
        platforms={subdir: _platform_elsewhere(subdir, own, recipe, where) for subdir in wanted},
        gpu=None,
        checks=None,
        installed=True,
        resources={"default": replace(own.resources["default"], minutes=own.resources["default"].minutes * 3)},
    )


def _platform_elsewhere(subdir: str, own: Settings, recipe: RecipeSettings, where: str) -> JobPlatform:
    """Slipway where it runs, else conda-build on the platform's own machine if one is named, else slipway across."""
    known, runner = own.platforms.get(subdir), recipe.runners.get(subdir)
    main = own.main_platform
    uses_embedded = not recipe.channels or EMBEDDED in recipe.channels
    if known is None or known.engine != "slipway":
        if runner is None and uses_embedded and subdir in embedded_choices().targets:
            return replace(main, tags=(), built_on=main.subdir)
        if runner is None or known is None:
            raise UsageError(
                f"slipway has no jobs for {subdir}", where=where,
                hint=f"it crosses over from {main.subdir} to {', '.join(embedded_choices().targets)} with the embedded "
                f"channel; conda-build has jobs for {', '.join(own.platforms)}, on machines that `runners` names",
            )  # fmt: skip
        if uses_embedded:
            raise UsageError(
                f"conda-build, which builds on {runner.github}, cannot read the embedded channel", where=where,
                hint="name `channels` that have what the recipe needs, or let slipway cross over: without `runners`",
            )  # fmt: skip
    return replace(known, tags=()) if runner is None else replace(known, runner=runner.github, tags=runner.gitlab)
