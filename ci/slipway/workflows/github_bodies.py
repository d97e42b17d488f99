"""The reusable workflows that jobs on GitHub consist of: each job's body once, with inputs.

    check         lint and fast tests, before anything is built
    slipway       one package, by slipway
    conda-build   one package, by real conda-build, where slipway's own engine does not build yet
    gpu           what needs a device, for one version of CUDA
    publish       one channel of all packages
    release       a tag's packages become files of its release

Inputs reach scripts as environment variables, so that no text becomes part of a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.workflows.matrix import (
    HANDED,
    HISTORY,
    Matrix,
    build_command,
    conda_build_commands,
    conda_build_environment,
    emulation_command,
    gpu_commands,
    publish_command,
)
from slipway.workflows.yaml_text import OneLine, OneLineMapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.workflows.settings import Checks, Gpu, Settings

ACTION_FOLDER = ".github/actions/slipway"
"""Where other repositories keep a copy of the action that installs slipway."""

STORE = "sccache"
"""Below the folder of the cache; it is kept apart, because it changes with each run."""

JOB = "${{ inputs.platform }}-${{ inputs.identifier }}"
"""`slipway.workflows.matrix.artifact_name` of the job."""

PACKAGE = f"{HANDED}/*/${{{{ inputs.package }}}}*"
"""The job's own package. The star stands for its subdir, which the artifact keeps, as it keeps all behind a star."""

RUN = "${{ github.run_id }}-${{ github.run_attempt }}"

RELEASE = (
    'gh release view "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" > /dev/null 2>&1 ||',
    '  gh release create "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --verify-tag --generate-notes',
    'gh release upload "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --clobber dist/release/*/*.conda',
)
"""Runs again without harm."""

Step = dict[str, Any]


def body_path(name: str) -> str:
    """The file of a reusable workflow, in the checkout."""
    return f".github/workflows/job-{name}.yml"


def make_bodies(matrix: Matrix) -> dict[str, dict[str, Any]]:
    """The reusable workflows by name: those of the engines that the platforms use, and the others."""
    builders = {"slipway": _slipway, "conda-build": _conda_build}
    engines = dict.fromkeys(platform.engine for platform in matrix.settings.platforms.values())
    settings = matrix.settings
    return {
        **({"check": _check(matrix, settings.checks)} if settings.checks else {}),
        **{engine: builders[engine](matrix) for engine in engines},
        **({"gpu": _gpu(matrix, settings.gpu)} if settings.gpu else {}),
        "publish": _publish(matrix),
        "release": _release(matrix),
    }


def _body(
    name: str,
    machine: Mapping[str, Any],
    steps: Sequence[Step],
    inputs: Mapping[str, Mapping[str, Any]] = {},
    secrets: Sequence[str] = (),
) -> dict[str, Any]:
    """A workflow of one job."""
    call: dict[str, Any] = {"inputs": {key: OneLineMapping(value) for key, value in inputs.items()}} if inputs else {}
    if secrets:
        call["secrets"] = {key: OneLineMapping(required=False) for key in secrets}
    return {
        "name": f"job: {name}",
        "on": {"workflow_call": call},
        "defaults": {"run": {"shell": "bash"}},
        "jobs": {name: {**machine, "steps": list(steps)}},
    }


def _default_machine(matrix: Matrix) -> dict[str, Any]:
    return {
        "runs-on": matrix.settings.main_platform.runner,
        "timeout-minutes": matrix.settings.resources_of("default").minutes,
    }


def _check(matrix: Matrix, checks: Checks) -> dict[str, Any]:
    run = {"name": "lint and fast tests", "run": checks.command}
    return _body("check", _default_machine(matrix), [*_first_steps(matrix, "check"), run])


_BUILDING = {
    "name": JOB,
    "runs-on": "${{ inputs.runner }}",
    "timeout-minutes": "${{ inputs.minutes }}",
    "continue-on-error": "${{ !inputs.tested }}",
}
_TEXT = {"type": "string", "required": True}
_TEXT_OR_NONE = {"type": "string", "default": ""}
_BUILDING_INPUTS: Mapping[str, Mapping[str, Any]] = {
    "platform": _TEXT,
    "identifier": _TEXT,
    "package": _TEXT,
    "runner": _TEXT,
    "minutes": {"type": "number", "required": True},
    "handed": _TEXT_OR_NONE,
    "tested": {"type": "boolean", "default": True},
}


def _slipway(matrix: Matrix) -> dict[str, Any]:
    """The last package of this variant comes back from the cache; slipway's digest says whether it is still right.

    With it comes what its build taught: the longest steps go first on another runner, too.
    """
    cache = matrix.settings.compiler_cache
    prefix = f"package-{JOB}-"
    last = {
        "name": "the last package of this variant",
        "uses": matrix.settings.actions["cache"].pinned,
        "with": {"path": _script((PACKAGE, *HISTORY)), "key": f"{prefix}{RUN}", "restore-keys": prefix},
    }
    variables = dict(cache.variables) | {name: f"${{{{ secrets.{name} }}}}" for name in cache.secrets}
    build: Step = {
        "name": "build, unless nothing changed",
        "env": {"IDENTIFIER": "${{ inputs.identifier }}", "PLATFORM": "${{ inputs.platform }}", **variables},
        "run": build_command(matrix),
    }
    report = {
        "name": "keep the report and the logs",
        "if": "!cancelled()",
        "uses": matrix.settings.actions["upload"].pinned,
        "with": {
            "name": f"report-{JOB}",
            "path": "dist/report.html\ndist/logs\n",
            "if-no-files-found": "ignore",
            "retention-days": 30,
            "overwrite": True,
        },
    }
    compiled = [_compiler_cache_step(matrix)] if cache.folder else []
    steps = [
        *_first_steps(matrix, JOB),
        *([_emulation(matrix)] if matrix.settings.has_cross else []),
        last,
        *compiled,
        _take_packages(matrix),
        build,
        _hand_on_package(matrix),
        report,
    ]
    inputs = {**_BUILDING_INPUTS, **({"compiles": _TEXT_OR_NONE} if cache.folder else {})}
    return _body("slipway", _BUILDING, steps, inputs, cache.secrets)


def _emulation(matrix: Matrix) -> Step:
    cross = [subdir for subdir, platform in matrix.settings.platforms.items() if platform.built_on]
    return {
        "name": "let the kernel run programs of another processor",
        "if": " || ".join(f"inputs.platform == '{subdir}'" for subdir in cross),
        "run": emulation_command(),
    }


def _compiler_cache_step(matrix: Matrix) -> Step:
    """The store of compiled files: that of the variant's last job, else of any job of the output."""
    prefix = "compiled-${{ inputs.compiles }}-${{ inputs.platform }}-"
    own = f"{prefix}${{{{ inputs.identifier }}}}-"
    return {
        "name": "compiled files of earlier runs",
        "if": "inputs.compiles != ''",
        "uses": matrix.settings.actions["cache"].pinned,
        "with": {
            "path": f"{matrix.settings.cache.path}/{STORE}",
            "key": f"{own}{RUN}",
            "restore-keys": f"{own}\n{prefix}",
        },
    }


def _conda_build(matrix: Matrix) -> dict[str, Any]:
    """The package comes back from the cache if no file that it is made from changed; else conda-build builds it."""
    actions = matrix.settings.actions
    sources = ", ".join(f"'{source}/**', '{source}'" for source in matrix.sources)
    last = {
        "name": "the package, if nothing changed",
        "id": "last",
        "uses": actions["cache"].pinned,
        "with": {"path": PACKAGE, "key": f"package-{JOB}-${{{{ hashFiles({sources}) }}}}"},
    }
    missing = "steps.last.outputs.cache-hit != 'true'"
    conda = {
        "name": "conda",
        "if": missing,
        "uses": actions["setup-conda"].pinned,
        "with": {"miniforge-version": "latest", "conda-remove-defaults": "true", "auto-activate-base": "true",
                 "activate-environment": ""},
    }  # fmt: skip
    build = {
        "name": "build",
        "if": missing,
        "shell": "bash -el {0}",
        "env": {
            **conda_build_environment(matrix),
            "IDENTIFIER": "${{ inputs.identifier }}",
            "PLATFORM": "${{ inputs.platform }}",
        },
        "run": _script(conda_build_commands(matrix)),
    }
    handed = _take_packages(matrix)
    handed["if"] += f" && {missing}"
    steps = [_checkout(matrix), last, handed, conda, build, _hand_on_package(matrix)]
    return _body("conda-build", _BUILDING, steps, _BUILDING_INPUTS)


def _gpu(matrix: Matrix, gpu: Gpu) -> dict[str, Any]:
    machine = {
        "name": "${{ inputs.job }}",
        "runs-on": OneLine(gpu.labels),
        "timeout-minutes": matrix.settings.resources_of("default").minutes,
    }
    test = {
        "name": "install and test on a device",
        "env": {"SPEC": "${{ inputs.spec }}"},
        "run": _script(gpu_commands(matrix)),
    }
    steps = [*_first_steps(matrix, "${{ inputs.job }}"), _take_packages(matrix), test]
    return _body("gpu", machine, steps, {"job": _TEXT, "spec": _TEXT, "handed": _TEXT})


def _publish(matrix: Matrix) -> dict[str, Any]:
    channel = {
        "name": "one channel of all packages",
        "env": {"PACKAGES": "${{ inputs.packages }}"},
        "run": publish_command(matrix),
    }
    keep = {
        "name": "keep the channel",
        "uses": matrix.settings.actions["upload"].pinned,
        "with": {"name": "channel", "path": "dist/release", "if-no-files-found": "error",
                 "compression-level": 0, "overwrite": True},
    }  # fmt: skip
    steps = [*_first_steps(matrix, "publish"), _take_packages(matrix), channel, keep]
    return _body("publish", _default_machine(matrix), steps, {"handed": _TEXT, "packages": _TEXT})


def _release(matrix: Matrix) -> dict[str, Any]:
    steps = [
        {
            "name": "the channel",
            "uses": matrix.settings.actions["download"].pinned,
            "with": {"name": "channel", "path": "dist/release"},
        },
        {
            "name": "attach the packages to the tag's release",
            "env": {"GH_TOKEN": "${{ github.token }}"},
            "run": _script(RELEASE),
        },
    ]
    return _body("release", _default_machine(matrix), steps)


def _checkout(matrix: Matrix) -> Step:
    return {"uses": matrix.settings.actions["checkout"].pinned, "with": {"persist-credentials": False}}


def _first_steps(matrix: Matrix, job: str) -> list[Step]:
    """The checkout, Python, and what was downloaded before.

    A cache's key is written once and never again, so jobs that need different packages must not share one.
    """
    if matrix.settings.installed:
        return [_checkout(matrix), {"uses": f"./{ACTION_FOLDER}", "with": {"cache-key": job}}]
    settings = matrix.settings
    files = ", ".join(f"'{name}'" for name in settings.cache.key_files)
    return [
        _checkout(matrix),
        {"uses": settings.actions["setup-python"].pinned, "with": {"python-version": settings.python}},
        _downloads(settings, job, f"hashFiles({files})"),
    ]


def _downloads(settings: Settings, job: str, version: str) -> Step:
    prefix = f"downloads-${{{{ runner.os }}}}-${{{{ runner.arch }}}}-{job}-"
    return {
        "name": "downloads of earlier runs",
        "uses": settings.actions["cache"].pinned,
        "with": {
            # The star matters: of a folder that is named itself, the action leaves nothing out.
            "path": f"{settings.cache.path}/*\n!{settings.cache.path}/{STORE}",
            "key": f"{prefix}${{{{ {version} }}}}",
            "restore-keys": prefix,
        },
    }


INSTALL = (
    'if [ -z "$PACKAGE" ] && [ -f "$GITHUB_ACTION_PATH/pyproject.toml" ]; then PACKAGE="$GITHUB_ACTION_PATH"; fi',
    'python -m pip install "${PACKAGE:-slipway}"',
    "slipway --version",
)
"""An action that comes from slipway's repository installs that; a copy in another one has none beside it."""


def make_action(settings: Settings) -> dict[str, Any]:
    """The composite action that installs slipway, with what earlier runs downloaded."""
    return {
        "name": "slipway",
        "description": "Installs slipway, with what earlier runs downloaded",
        "inputs": {
            "package": {
                "description": "What pip installs: slipway==VERSION, a wheel or a folder. "
                "By default the slipway that this action is part of, or else the newest.",
                "default": "",
            },
            "python-version": {"description": "The Python that slipway runs in", "default": settings.python},
            "cache-key": {"description": "One for each job that needs packages of its own", "default": "all"},
        },
        "runs": {
            "using": "composite",
            "steps": [
                {
                    "uses": settings.actions["setup-python"].pinned,
                    "with": {"python-version": "${{ inputs.python-version }}"},
                },
                _downloads(settings, "${{ inputs.cache-key }}", "github.run_id"),
                {
                    "name": "install slipway",
                    "shell": "bash",
                    "env": {"PACKAGE": "${{ inputs.package }}"},
                    "run": _script(INSTALL),
                },
            ],
        },
    }


def _take_packages(matrix: Matrix) -> Step:
    return {
        "name": "take the packages of other jobs",
        "if": "inputs.handed != ''",
        "uses": matrix.settings.actions["download"].pinned,
        "with": {"pattern": "${{ inputs.handed }}", "path": HANDED, "merge-multiple": True},
    }


def _hand_on_package(matrix: Matrix) -> Step:
    return {
        "name": "hand the package on",
        "uses": matrix.settings.actions["upload"].pinned,
        "with": {
            "name": JOB,
            "path": PACKAGE,
            "if-no-files-found": "error",
            "compression-level": 0,
            "retention-days": 7,
            "overwrite": True,  # a job that is run again hands on again, and its first artifact is still there
        },
    }


def _script(commands: Sequence[str]) -> str:
    return "\n".join(commands) + "\n"
