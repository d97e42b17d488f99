"""A GitLab pipeline, as plain data: the same jobs, handed on as artifacts along ``needs``.

The file that is written from the matrix says which jobs there are, what each needs, and its variables; the file that it
includes holds what jobs have in common, once for each platform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.engines.compiler_cache.server import wants_cache
from slipway.workflows.matrix import (
    HANDED,
    HISTORY,
    Matrix,
    build_command,
    conda_build_commands,
    conda_build_environment,
    gpu_commands,
    gpu_job_id,
    gpu_spec,
    job_id,
    publish_command,
    with_needs,
)
from slipway.workflows.yaml_text import OneLine, OneLineMapping

if TYPE_CHECKING:
    from slipway.workflows.graph import Job
    from slipway.workflows.settings import JobPlatform

PATH = ".gitlab-ci.yml"

COMMON_PATH = ".gitlab/jobs.yml"

REPORT = ("dist/report.html", "dist/logs/*.log")
"""Kept of every job, of a failed one too."""

CACHE_ROOT = ".cache"
"""GitLab keeps only what lies in the checkout, so the cache moves there."""

STORE = f"{CACHE_ROOT}/sccache"
"""Compiled files, apart from the downloads because they change with each run."""

SYSTEM_PACKAGES = "ca-certificates git python3 python3-pip python3-venv strace"

INSTALL = "python3 -m venv /opt/slipway && /opt/slipway/bin/pip install slipway && PATH=/opt/slipway/bin:$PATH"
"""The shell of `before_script` is that of `script`."""

ON_MAIN_OR_TAG = "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH || $CI_COMMIT_TAG =~ /^v/"

PACKAGE = f"{HANDED}/$PACKAGE*"
"""The job's own package; its variable says which one that is, below its subdir."""


def make_files(matrix: Matrix) -> dict[str, dict[str, Any]]:
    """Every file for GitLab: its path in the checkout, and its content."""
    return {PATH: make_pipeline(matrix), COMMON_PATH: make_common(matrix)}


def make_pipeline(matrix: Matrix) -> dict[str, Any]:
    """The pipeline of the matrix: names, needs and variables."""
    content: dict[str, Any] = {
        "include": [OneLineMapping(local=COMMON_PATH)],
        "workflow": {
            "rules": [
                {"if": "$CI_PIPELINE_SOURCE == 'merge_request_event'"},
                {"if": ON_MAIN_OR_TAG},
            ]
        },
        "stages": OneLine([*_first(matrix), "build", *(["gpu"] if matrix.settings.gpu else []), "publish"]),
        **{name: {"extends": f".{name}"} for name in _first(matrix)},
    }
    content |= {job_id(job): _build(job, matrix) for job in matrix.everything}
    content |= {gpu_job_id(job): _on_gpu(job) for job in matrix.on_gpu}
    content["publish"] = {
        "extends": ".publish",
        "needs": [
            *map(_nothing_from, _first(matrix)),
            *map(_from, matrix.published),
            *(OneLineMapping(_nothing_from(gpu_job_id(job)), optional=True) for job in matrix.on_gpu),
        ],
        "variables": {"PACKAGES": "".join(f"{HANDED}/{job.file}\n" for job in matrix.published)},
    }
    return content


def make_common(matrix: Matrix) -> dict[str, Any]:
    """What jobs have in common: hidden jobs, which others extend."""
    settings = matrix.settings
    content: dict[str, Any] = {
        "variables": {"XDG_CACHE_HOME": f"$CI_PROJECT_DIR/{CACHE_ROOT}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        "default": {"interruptible": True},
    }
    if settings.checks:
        machine = _machine(settings.main_platform, matrix)
        content[".check"] = {"stage": "check", **machine, "script": [settings.checks.command]}
    for platform in settings.platforms.values():
        if platform.engine == "slipway":
            content[_common_name(platform, compiles=False)] = _slipway(platform, matrix, compiles=False)
            content[_common_name(platform, compiles=True)] = _slipway(platform, matrix, compiles=True)
        else:
            content[_common_name(platform, compiles=False)] = _conda_build(platform, matrix)
    if settings.gpu:
        content[".gpu"] = {
            "stage": "gpu",
            **_machine(settings.platforms[settings.gpu.platform], matrix),
            "tags": OneLine(settings.gpu.tags),
            # Without a machine that has a device, nobody would ever take the job: a project says so in a variable.
            "rules": [{"if": "$WITHOUT_GPU == 'true'", "when": "never"}, {"when": "on_success"}],
            "variables": {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
            "script": gpu_commands(matrix),
        }
    content[".publish"] = {
        "stage": "publish",
        **_machine(settings.main_platform, matrix),
        "rules": [{"if": ON_MAIN_OR_TAG}],
        "interruptible": False,
        "script": [publish_command(matrix)],
        "artifacts": {"name": "channel", "paths": ["dist/release"]},
    }
    return content


def _first(matrix: Matrix) -> list[str]:
    """The job that comes before all others, where there is one."""
    return ["check"] if matrix.settings.checks else []


def _build(job: Job, matrix: Matrix) -> dict[str, Any]:
    platform = matrix.settings.platforms[job.platform]
    compiles = platform.engine == "slipway" and wants_cache(job.output)
    variables = {"IDENTIFIER": job.identifier, "PACKAGE": job.file} | (
        {"COMPILES": job.output.name} if compiles else {}
    )
    return {
        "extends": _common_name(platform, compiles=compiles),
        "needs": [*map(_nothing_from, _first(matrix)), *map(_from, job.needs)],
        "variables": variables,
        "timeout": f"{matrix.settings.resources_of(job.output.name).minutes} minutes",
    }


def _on_gpu(job: Job) -> dict[str, Any]:
    return {
        "extends": ".gpu",
        "needs": [_from(other) for other in with_needs([job])],
        "variables": {"SPEC": gpu_spec(job)},
    }


def _common_name(platform: JobPlatform, *, compiles: bool) -> str:
    return f".{platform.subdir}{'-compiling' if compiles else ''}"


def _slipway(platform: JobPlatform, matrix: Matrix, *, compiles: bool) -> dict[str, Any]:
    content = {"stage": "build", **_machine(platform, matrix)}
    content["cache"].append({"key": "package-$CI_JOB_NAME", "paths": [PACKAGE, *HISTORY]})
    cache = matrix.settings.compiler_cache
    content["variables"] = {"PLATFORM": platform.subdir}
    if compiles:
        content["variables"] |= cache.variables  # what is secret there is a variable of the job anyway
        if cache.folder:
            content["cache"].append({"key": f"compiled-$COMPILES-{platform.subdir}", "paths": [STORE]})
            content["variables"]["SCCACHE_DIR"] = f"$CI_PROJECT_DIR/{STORE}"
    content["script"] = [build_command(matrix)]
    content["artifacts"] = {"when": "always", "paths": [PACKAGE, *REPORT], "expire_in": "1 week"}
    return content | _may_fail(platform)


def _conda_build(platform: JobPlatform, matrix: Matrix) -> dict[str, Any]:
    return {
        "stage": "build",
        **_tags(platform),
        **({"image": platform.image} if platform.image else {}),
        "variables": {**conda_build_environment(matrix), "PLATFORM": platform.subdir},
        "script": conda_build_commands(matrix),
        "artifacts": {"paths": [PACKAGE], "expire_in": "1 week"},
        **_may_fail(platform),
    }


def _may_fail(platform: JobPlatform) -> dict[str, Any]:
    return {} if platform.tested else {"allow_failure": True}


def _tags(platform: JobPlatform) -> dict[str, Any]:
    """Of the runner; none for any of them."""
    return {"tags": OneLine(platform.tags)} if platform.tags else {}


def _machine(platform: JobPlatform, matrix: Matrix) -> dict[str, Any]:
    """One that the launcher runs on."""
    content = _tags(platform)
    if platform.image:
        content["image"] = platform.image
        content["before_script"] = [
            "apt-get update -qq",
            f"apt-get install -y -qq --no-install-recommends {SYSTEM_PACKAGES}",
            *([INSTALL] if matrix.settings.installed else []),
        ]
    files = OneLine(matrix.settings.cache.key_files)
    key = {"files": files, "prefix": "slipway"} if files else "slipway"
    content["cache"] = [{"key": key, "paths": [f"{CACHE_ROOT}/slipway"]}]
    return content


def _from(job: Job) -> dict[str, Any]:
    return OneLineMapping(job=job_id(job), artifacts=True)


def _nothing_from(name: str) -> dict[str, Any]:
    return OneLineMapping(job=name, artifacts=False)
