"""settings.yaml as types. Every key is checked: a misspelt one is an error that names the place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from slipway.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_SETTINGS = Path(__file__).parent / "settings.yaml"

ENGINES = ("slipway", "conda-build")
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

    @property
    def pinned(self) -> str:
        """What a step's ``uses`` says."""
        return f"{self.uses}@{self.commit}"


@dataclass(frozen=True)
class Platform:
    """Where the packages of one subdir are built.

    Attributes:
        runner: GitHub's label.
        image: container that GitLab runs the job in; None where there is none (macOS, Windows).
        tags: GitLab's runner tags.
        engine: one of `ENGINES`.
        tested: whether anyone has seen it run; publishing leaves the others out.
    """

    subdir: str
    runner: str
    image: str | None
    tags: tuple[str, ...]
    engine: str
    tested: bool


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


@dataclass(frozen=True)
class Resources:
    """What a job takes of its machine: memory in GB, at most that many cores, and minutes until it is given up."""

    memory_gb: float
    cores: int
    minutes: int


@dataclass(frozen=True)
class CompilerCache:
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
class Settings:
    """The whole file."""

    channels: tuple[str, ...]
    actions: Mapping[str, Action]
    python: str
    cache_path: str
    cache_key_files: tuple[str, ...]
    compiler_cache: CompilerCache
    platforms: Mapping[str, Platform]
    gpu: Gpu
    check_platform: str
    check_command: str
    resources: Mapping[str, Resources]

    def resources_of(self, output: str) -> Resources:
        """Those of an output, or the default."""
        return self.resources.get(output, self.resources["default"])


def load_settings(path: Path = DEFAULT_SETTINGS) -> Settings:
    """Read and check a settings file.

    Raises:
        UsageError: it is not YAML, a key is missing or unknown, or a value is of the wrong kind.
    """
    try:
        root = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the CI settings cannot be read: {error.strerror}", where=str(path)) from error
    except yaml.YAMLError as error:
        raise UsageError(f"not valid YAML: {error}", where=str(path)) from None
    top = _Section(path, "", root)
    actions = top.section("actions")
    cache = top.section("cache")
    checks = top.section("checks")
    platforms = {subdir: _platform(subdir, section) for subdir, section in top.sections("platforms").items()}
    settings = Settings(
        channels=top.texts("channels"),
        actions={name: _action(actions.section(name)) for name in ACTIONS},
        python=top.text("python"),
        cache_path=cache.text("path"),
        cache_key_files=cache.texts("key-files"),
        compiler_cache=_compiler_cache(top.section("compiler-cache")),
        platforms=platforms,
        gpu=_gpu(top.section("gpu"), platforms),
        check_platform=checks.one_of("platform", tuple(platforms)),
        check_command=checks.text("command"),
        resources={name: _resources(section) for name, section in top.sections("resources").items()},
    )
    if len(settings.cache_key_files) > 2:
        raise cache.error("key-files", "names more than two files, which is all that GitLab takes")
    if "default" not in settings.resources:
        raise top.error("resources", "needs a `default`")
    for section in (top, actions, cache, checks):
        section.finish()
    return settings


def _action(section: _Section) -> Action:
    action = Action(section.text("uses", NAME), section.text("version", VERSION), section.text("commit", COMMIT))
    section.finish()
    return action


def _platform(subdir: str, section: _Section) -> Platform:
    image = section.value("image", (str, type(None)))
    platform = Platform(
        subdir=subdir,
        runner=section.text("runner"),
        image=image,
        tags=section.texts("tags"),
        engine=section.one_of("engine", ENGINES),
        tested=section.value("tested", (bool,)),
    )
    section.finish()
    return platform


def _gpu(section: _Section, platforms: Mapping[str, Platform]) -> Gpu:
    gpu = Gpu(
        platform=section.one_of("platform", tuple(platforms)),
        package=section.text("package"),
        labels=section.texts("labels"),
        tags=section.texts("tags"),
        requires=section.texts("requires"),
        commands=section.texts("commands"),
    )
    section.finish()
    return gpu


def _compiler_cache(section: _Section) -> CompilerCache:
    variables = section.section("variables")
    cache = CompilerCache(
        folder=section.value("folder", (bool,)),
        variables={str(name): variables.text(name) for name in variables.content},
        secrets=section.texts("secrets", empty=True),
    )
    section.finish()
    return cache


def _resources(section: _Section) -> Resources:
    resources = Resources(
        memory_gb=float(section.positive("memory_gb")),
        cores=int(section.positive("cores")),
        minutes=int(section.positive("minutes")),
    )
    section.finish()
    return resources


class _Section:
    """A mapping of the file that knows where it is, and which of its keys were read."""

    def __init__(self, path: Path, place: str, content: object) -> None:
        self.path = path
        self.place = place
        if not isinstance(content, dict):
            raise UsageError(f"`{place or 'the file'}` must map keys to values", where=str(path))
        self.content: dict[Any, Any] = content
        self.seen: set[str] = set()

    def error(self, key: str, problem: str) -> UsageError:
        return UsageError(f"`{self._name(key)}` {problem}", where=str(self.path))

    def _name(self, key: object) -> str:
        return f"{self.place}.{key}" if self.place else str(key)

    def value(self, key: str, kinds: tuple[type, ...]) -> Any:
        self.seen.add(key)
        if key not in self.content:
            raise self.error(key, "is missing")
        value = self.content[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.error(key, f"must be {' or '.join(kind.__name__ for kind in kinds)}, not {value!r}")
        return value

    def text(self, key: str, pattern: re.Pattern[str] | None = None) -> str:
        value: str = self.value(key, (str,))
        if not value or (pattern is not None and not pattern.fullmatch(value)):
            shape = f"; it must match {pattern.pattern}" if pattern is not None else ""
            raise self.error(key, f"is {value!r}{shape}" if value else "is empty")
        return value

    def texts(self, key: str, *, empty: bool = False) -> tuple[str, ...]:
        values = self.value(key, (list,))
        if not (values or empty) or not all(isinstance(value, str) and value for value in values):
            raise self.error(key, "must be a list of texts")
        return tuple(values)

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in known:
            raise self.error(key, f"is {value!r}; it must be one of {', '.join(known)}")
        return value

    def positive(self, key: str) -> float:
        value: float = self.value(key, (int, float))
        if value <= 0:
            raise self.error(key, "must be more than 0")
        return value

    def section(self, key: str) -> _Section:
        return _Section(self.path, self._name(key), self.value(key, (dict,)))

    def sections(self, key: str) -> dict[str, _Section]:
        whole = self.section(key)
        return {str(name): _Section(self.path, whole._name(name), content) for name, content in whole.content.items()}

    def finish(self) -> None:
        """Complain about keys that nobody asked for."""
        unknown = [key for key in self.content if key not in self.seen]
        if unknown:
            raise self.error(str(unknown[0]), f"is unknown; there is {', '.join(sorted(self.seen))}")
