"""A GitLab pipeline, as plain data: the same jobs, handed on as artifacts along ``needs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.engines.compiler_cache.server import wants_cache
from slipway.workflows.matrix import (
    HANDED,
    HISTORY,
    Matrix,
    build_command,
    conda_build_commands,
    gpu_commands,
    gpu_job_id,
    job_id,
    publish_command,
    with_needs,
)

if TYPE_CHECKING:
    from slipway.workflows.graph import Job
    from slipway.workflows.settings import Platform

PATH = ".gitlab-ci.yml"

REPORT = ("dist/report.html", "dist/logs/*.log")
"""Kept of every job, of a failed one too."""

CACHE_ROOT = ".cache"
"""GitLab keeps only what lies in the checkout, so the cache moves there."""

STORE = f"{CACHE_ROOT}/sccache"
"""Compiled files, apart from the downloads because they change with each run."""

SYSTEM_PACKAGES = "ca-certificates git python3 python3-pip python3-venv strace"

ON_MAIN_OR_TAG = "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH || $CI_COMMIT_TAG =~ /^v/"


def pipeline(matrix: Matrix) -> dict[str, Any]:
    """The whole file."""
    content: dict[str, Any] = {
        "workflow": {
            "rules": [
                {"if": "$CI_PIPELINE_SOURCE == 'merge_request_event'"},
                {"if": ON_MAIN_OR_TAG},
            ]
        },
        "stages": ["check", "build", "gpu", "publish"],
        "variables": {"XDG_CACHE_HOME": f"$CI_PROJECT_DIR/{CACHE_ROOT}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        "default": {"interruptible": True},
        "check": {
            "stage": "check",
            **_slipway(matrix.settings.platforms[matrix.settings.check_platform], matrix),
            "script": [matrix.settings.check_command],
        },
    }
    content |= {job_id(job): _build(job, matrix) for job in matrix.everything}
    content |= {gpu_job_id(job): _on_gpu(job, matrix) for job in matrix.on_gpu}
    content["publish"] = _publish(matrix)
    return content


def _build(job: Job, matrix: Matrix) -> dict[str, Any]:
    platform = matrix.settings.platforms[job.platform]
    content: dict[str, Any] = {"stage": "build", "needs": [_nothing_from("check"), *map(_from, job.needs)]}
    package = f"{HANDED}/{job.file}"
    if platform.engine == "slipway":
        content |= _slipway(platform, matrix)
        content["cache"].append({"key": f"package-{job_id(job)}", "paths": [package, *HISTORY]})
        cache = matrix.settings.compiler_cache
        if wants_cache(job.output):
            variables = dict(cache.variables)  # what is secret there is a variable of the job anyway
            if cache.folder:
                content["cache"].append({"key": f"compiled-{job.output.name}-{job.platform}", "paths": [STORE]})
                variables["SCCACHE_DIR"] = f"$CI_PROJECT_DIR/{STORE}"
            if variables:
                content["variables"] = variables
        content["script"] = [build_command(job, matrix)]
        content["artifacts"] = {"when": "always", "paths": [package, *REPORT], "expire_in": "1 week"}
    else:
        content |= {"tags": list(platform.tags)} | ({"image": platform.image} if platform.image else {})
        content["variables"] = {"PYTHONPATH": "ci"}
        content["script"] = conda_build_commands(job, matrix)
        content["artifacts"] = {"paths": [package], "expire_in": "1 week"}
    content["timeout"] = f"{matrix.settings.resources_of(job.output.name).minutes} minutes"
    if not platform.tested:
        content["allow_failure"] = True
    return content


def _on_gpu(job: Job, matrix: Matrix) -> dict[str, Any]:
    gpu = matrix.settings.gpu
    content = _slipway(matrix.settings.platforms[gpu.platform], matrix)
    return {
        "stage": "gpu",
        **content,
        "tags": list(gpu.tags),
        # Without a machine that has a device, nobody would ever take the job: a project says so in a variable.
        "rules": [{"if": "$WITHOUT_GPU == 'true'", "when": "never"}, {"when": "on_success"}],
        "variables": {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
        "needs": [_from(other) for other in with_needs([job])],
        "script": gpu_commands(job, matrix),
    }


def _publish(matrix: Matrix) -> dict[str, Any]:
    platform = matrix.settings.platforms[matrix.settings.check_platform]
    return {
        "stage": "publish",
        **_slipway(platform, matrix),
        "rules": [{"if": ON_MAIN_OR_TAG}],
        "interruptible": False,
        "needs": [
            _nothing_from("check"),
            *map(_from, matrix.published),
            *({**_nothing_from(gpu_job_id(job)), "optional": True} for job in matrix.on_gpu),
        ],
        "script": [publish_command()],
        "artifacts": {"name": "channel", "paths": ["dist/release"]},
    }


def _slipway(platform: Platform, matrix: Matrix) -> dict[str, Any]:
    """A machine that the launcher runs on."""
    content: dict[str, Any] = {"tags": list(platform.tags)}
    if platform.image:
        content["image"] = platform.image
        content["before_script"] = [
            "apt-get update -qq",
            f"apt-get install -y -qq --no-install-recommends {SYSTEM_PACKAGES}",
        ]
    files = list(matrix.settings.cache_key_files)
    content["cache"] = [{"key": {"files": files, "prefix": "slipway"}, "paths": [f"{CACHE_ROOT}/slipway"]}]
    return content


def _from(job: Job) -> dict[str, Any]:
    return {"job": job_id(job), "artifacts": True}


def _nothing_from(name: str) -> dict[str, Any]:
    return {"job": name, "artifacts": False}
