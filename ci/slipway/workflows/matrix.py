"""What both CI systems are told: the jobs of every platform, and the words of their scripts."""

from __future__ import annotations

import itertools
import json
import os
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.platform import find_platform
from slipway.bootstrap.pins import EMBEDDED, embedded_pins
from slipway.recipe import load_recipe_settings
from slipway.recipe.hashes import HASH
from slipway.recipe.loader import CONFIG_NAME
from slipway.workflows.graph import Job, as_word, make_jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.request import Configurations
    from slipway.workflows.settings import Settings

HANDED = "dist/handed"
"""Where packages lie that jobs hand on, below their subdir: this job's own, too."""

HISTORY = ("dist/logs/*.build.json",)
"""What a build leaves for the next one, on another machine: how much memory its steps took."""

ONE_RECIPE = "dist/one-recipe"
"""Where a recipe of one output alone is written, on platforms that build with conda-build."""


@dataclass(frozen=True)
class Matrix:
    """Everything that the pipelines are written from.

    Attributes:
        recipe: the recipe's folder, relative to the checkout, as pipelines name it.
        sources: folders and files, relative to the checkout, that the packages are made from.
        jobs: by platform, each after those that it needs.
        configuration_words: the options by which commands in the checkout see the same matrix.
    """

    settings: Settings
    recipe: str
    sources: tuple[str, ...]
    jobs: Mapping[str, tuple[Job, ...]]
    configuration_words: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """How jobs call slipway."""
        return "slipway" if self.settings.installed else "./slipway"

    @property
    def everything(self) -> tuple[Job, ...]:
        """The jobs of all platforms."""
        return tuple(job for jobs in self.jobs.values() for job in jobs)

    @property
    def published(self) -> tuple[Job, ...]:
        """Those whose packages are published: of the tested platforms, and what is for all of them once."""
        tested = [job for job in self.everything if self.settings.platforms[job.platform].tested]
        return tuple({job.file: job for job in reversed(tested)}.values())[::-1]

    @property
    def on_gpu(self) -> tuple[Job, ...]:
        """Those whose package is installed and tested where there is a device."""
        gpu = self.settings.gpu
        return tuple(job for job in self.jobs.get(gpu.platform, ()) if job.output.name == gpu.package) if gpu else ()


def make_matrix(recipe: Path, checkout: Path, settings: Settings, configurations: Configurations) -> Matrix:
    """Render the recipe for every platform, the same wherever it is done: no environment variable counts.

    Raises:
        RecipeError: it cannot be rendered.
        UsageError: a configuration lies outside of the checkout, where CI does not have it.
    """
    uses_embedded = not settings.channels or EMBEDDED in settings.channels
    options = load_recipe_settings(recipe).options.values()
    pins = embedded_pins({option.key: option.default for option in options if option.default}) if uses_embedded else ()
    jobs = {
        subdir: make_jobs(
            configurations.render(
                recipe, replace(find_platform(subdir), built_on=platform.built_on), environ={}, pins=pins
            ).outputs,
            subdir,
        )
        for subdir, platform in settings.platforms.items()
    }
    folder = _relative(recipe, checkout)
    sources = {folder: None}
    for job in (job for found in jobs.values() for job in found):
        for source in job.output.sources:
            sources |= {_relative(recipe / path, checkout): None for path in (source.path, *source.patches) if path}
    words = configuration_words(configurations, checkout)
    named = [word for option, word in itertools.pairwise(words) if option in ("-m", "-e")]
    around = [CONFIG_NAME] if (checkout / CONFIG_NAME).is_file() and not configurations.exclusive else []
    return Matrix(settings, folder, tuple(dict.fromkeys([*sources, *around, *named])), jobs, words)


def configuration_words(configurations: Configurations, checkout: Path) -> tuple[str, ...]:
    """The options that name `configurations` to another command, which is run in the checkout.

    Raises:
        UsageError: a file lies outside of the checkout.
    """
    words = []
    for option, paths in (("-m", configurations.additional), ("-e", configurations.exclusive)):
        for path in paths:
            name = _relative(path, checkout)
            if name.startswith("../"):
                raise UsageError(
                    "the configuration is not in the checkout: CI would not have it", where=str(path),
                    hint=f"put it below {checkout}",
                )  # fmt: skip
            words += [option, name]
    if configurations.variants is not None:
        words += ["--variants", json.dumps(configurations.variants)]
    return tuple(words)


def _relative(path: Path, checkout: Path) -> str:
    return os.path.relpath(path.resolve(), checkout.resolve()).replace(os.sep, "/")


def job_id(job: Job) -> str:
    """The job's name as both systems take it."""
    return as_word(artifact_name(job))


def artifact_name(job: Job) -> str:
    """How GitHub knows what the job handed on."""
    return f"{job.platform}-{job.identifier}"


def gpu_job_id(job: Job) -> str:
    """The same for the test on a device."""
    return f"gpu-{job_id(job)}"


def channel_words(settings: Settings) -> str:
    """``--channel conda-forge``."""
    return shlex.join([word for channel in settings.channels for word in ("--channel", channel)])


def build_command(matrix: Matrix) -> str:
    """How slipway builds the job `$IDENTIFIER` of `$PLATFORM`, which may be another one than the machine's."""
    recipe = "" if matrix.recipe == "recipe" else f" {shlex.quote(matrix.recipe)}"
    words = "".join(f" {shlex.quote(word)}" for word in ("--no-home-config", *matrix.configuration_words))
    command = f'{matrix.program} ci job "$IDENTIFIER"{recipe} --platform "$PLATFORM"{words} --handed {HANDED}'
    return f"{command} {channel_words(matrix.settings)}".rstrip()


def conda_build_commands(matrix: Matrix) -> list[str]:
    """How real conda-build builds the job `$IDENTIFIER` of `$PLATFORM`, from a recipe of this output alone.

    They mean the same to bash and to PowerShell, which GitLab's runners on Windows have.
    """
    write = (
        f'python -m slipway ci recipe "$IDENTIFIER" {shlex.quote(matrix.recipe)} '
        f'--platform "$PLATFORM" --to {ONE_RECIPE}'
        + "".join(f" {shlex.quote(word)}" for word in matrix.configuration_words)
    )
    build = (
        f"conda build {ONE_RECIPE} --output-folder {HANDED} --package-format conda --no-anaconda-upload "
        f"--override-channels --channel ./{HANDED} {channel_words(matrix.settings)}"
    )
    folders = f"[os.makedirs('{HANDED}/' + name, exist_ok=True) for name in (os.environ['PLATFORM'], 'noarch')]"
    return [
        "conda install --yes --name base conda-build conda-index",
        *(["python -m pip install --no-deps slipway"] if matrix.settings.installed else []),
        f'python -c "import os; {folders}"',
        f"python -m slipway ci hand take {HANDED}",
        f"python -m conda_index {HANDED}",
        write,
        build,
        f"python -m slipway ci hand give {HANDED}",
    ]


ALLOW_NAMESPACES = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"


def emulation_command() -> str:
    """Lets tests of another platform run: hosted runners forbid the namespaces in which the kernel calls qemu."""
    return f"[ ! -e {ALLOW_NAMESPACES} ] || echo 0 | sudo tee {ALLOW_NAMESPACES} > /dev/null"


def conda_build_environment(matrix: Matrix) -> dict[str, str]:
    """Where those commands find slipway, if the checkout has it."""
    return {} if matrix.settings.installed else {"PYTHONPATH": "ci"}


def gpu_spec(job: Job) -> str:
    """The one package that pulls in the whole stack of its CUDA version."""
    string = job.output.build_string
    if job.output.requirements.build or job.output.requirements.host:
        string = HASH.sub("*", string)  # which the solver has a say in
    return f"{job.output.name} =={job.output.version} {string}"


def gpu_commands(matrix: Matrix) -> list[str]:
    """Install `$SPEC` with all that it needs and run the tests that need a device."""
    gpu = matrix.settings.gpu
    assert gpu is not None
    return [
        f"./slipway publish --to dist/channel {HANDED}/*/*.conda",
        f'./slipway install "$SPEC" {shlex.join(gpu.requires)} {channel_words(matrix.settings)}',
        *gpu.commands,
    ]


def publish_command(matrix: Matrix) -> str:
    """`$PACKAGES` into one channel, in one step, each judged once more; one that was not handed on is an error."""
    return f"{matrix.program} publish --to dist/release $PACKAGES"


def with_needs(jobs: Sequence[Job]) -> tuple[Job, ...]:
    """`jobs` and everything that is handed to them, each once."""
    return tuple(dict.fromkeys(other for job in jobs for other in (*job.needs, job)))
